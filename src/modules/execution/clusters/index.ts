export { acceleratorOf } from './accelerators';
export { ClusterDefinitionsService } from './cluster-definitions.service';
export {
  ClusterSubscriber,
  type ClusterTransitioned,
  type NodeBecameReady,
  type NodeTransitioned,
} from './cluster-events';
export { ClusterMetricsService } from './cluster-metrics.service';
export { ClusterNodesService, type DesiredNode } from './cluster-nodes.service';
export { hasFreeSlot, leavesNoneWaiting, type LockedCluster, type RunSettings } from './cluster-rows.repository';
export { ClusterSlotsService } from './cluster-slots.service';
export { CLUSTER_STATUSES, CLUSTER_TYPES, GIVES_SLOTS } from './cluster-state';
export { driverMemoryMb, LEAST_DRIVER_MB } from './driver-memory';
export { ClusterSummary } from './dto/cluster-answers.dto';
export type { SparkConfig } from './dto/cluster-fields.dto';
export { type ClusterNode, IS_DEAD } from './entities/cluster-node.entity';
export { parseEnvironment } from './environment';
export { sparkVersionsFor } from './job-support';
export { secretNames } from './secret-names';
export { checkConf, type Configures, parseConfEntry } from './spark-conf';
export { IS_WAITING } from './waiting-runs.joins';
