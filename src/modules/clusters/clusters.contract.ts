/** What other modules may know of clusters without their services. */
export { CLUSTER_STATUSES, CLUSTER_TYPES, type ClusterStatus, type ClusterType } from './cluster-state';
export { SparkConfig } from './dto/cluster-fields.dto';
export type { NodeRow } from './cluster-nodes.repository';
export { ClusterWorkflowDetails, WorkflowInstanceStatus } from './dto/cluster-answers.dto';
export { parseEnvironment } from './environment';
