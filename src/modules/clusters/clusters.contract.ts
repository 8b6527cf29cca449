/** What other modules may know of clusters without their services. */
export { CLUSTER_STATUSES, CLUSTER_TYPES } from './cluster-state';
export { SparkConfig } from './dto/cluster-fields.dto';
export type { NodeRow } from './cluster-nodes.repository';
export { parseEnvironment } from './environment';
