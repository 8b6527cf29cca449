export { acceleratorOf } from './model/accelerators';
export { ClusterDefinitionsService } from './definition/cluster-definitions.service';
export {
  ClusterSubscriber,
  type ClusterTransitioned,
  type NodeBecameReady,
  type NodeTransitioned,
} from './lifecycle/cluster-events';
export { ClusterHistoriesService } from './lifecycle/cluster-histories.service';
export type { EnteredState } from './lifecycle/cluster-histories.repository';
export { ClusterMetricsService } from './nodes/cluster-metrics.service';
export { ClusterNodesService, type DesiredNode } from './nodes/cluster-nodes.service';
export type { RunStarts } from './nodes/node-load';
export type { LockedCluster, RunSettings } from './model/cluster-rows.repository';
export { hasFreeSlot, IS_DEAD, mayLeaveNoRunWaiting } from './model/clusters.joins';
export { ClusterSlotsService } from './nodes/cluster-slots.service';
export { CLUSTER_STATUSES, CLUSTER_TYPES, type ClusterStatus, GIVES_SLOTS } from './model/cluster-state';
export { configuredDriverMemory, defaultDriverHeap, MIN_DRIVER_MB } from './definition/driver-memory';
export { ClusterSummary } from './definition/dto/cluster-responses.dto';
export { SparkConfig } from './model/dto/spark-config.dto';
export type { ClusterNode } from './model/entities/cluster-node.entity';
export { parseEnvironment } from './definition/environment';
export { sparkVersionsFor } from './definition/job-support';
export { secretNames } from './definition/secret-names';
export { checkConf, parseConfEntry } from './definition/spark-conf';
export { ClusterUse } from './model/cluster-use';
export { ClusterMountsService } from './definition/cluster-mounts.service';
