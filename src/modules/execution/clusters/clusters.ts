/** What other modules may know about clusters without their services. */
export { CLUSTER_STATUSES, CLUSTER_TYPES, GIVES_SLOTS } from './cluster-state';
export {
  ClusterSubscriber,
  type ClusterTransitioned,
  type NodeBecameReady,
  type NodeTransitioned,
} from './cluster-events';
export { hasFreeSlot, leavesNoneWaiting, type LockedCluster, type RunSettings } from './cluster-rows.repository';
export { ClusterSummary } from './dto/cluster-answers.dto';
export { SparkConfig } from './dto/cluster-fields.dto';
export type { DesiredNode } from './cluster-nodes.service';
export { type ClusterNode, IS_DEAD } from './entities/cluster-node.entity';
export { parseEnvironment } from './environment';
export { sparkVersionsFor } from './job-support';
