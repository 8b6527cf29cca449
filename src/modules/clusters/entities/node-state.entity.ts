import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { StateHistoryColumns } from '../../../platform/history/state-history.columns';
import { Col } from '../../../platform/persistence/columns';
import { ClusterNode } from './cluster-node.entity';

@Entity('node_states')
@Index('uq_node_states_sequence', ['nodeId', 'sequence'], { unique: true })
@Index('ix_node_states_cluster', ['clusterId', 'nodeStateId'])
export class NodeStateEntry extends StateHistoryColumns {
  @Col.identity('node_state_id') nodeStateId: string;
  @Col.bigint('node_id') nodeId: string;
  @ManyToOne(() => ClusterNode)
  @JoinColumn({ name: 'node_id', foreignKeyConstraintName: 'fk_node_states_node' })
  node: ClusterNode;
  @Col.bigint('cluster_id') clusterId: string;
  /** The cluster state during which the node changed. */
  @Col.bigint('cluster_state_id', { nullable: true }) clusterStateId: string | null;
  @Col.bigint('workflow_job_instance_id', { nullable: true }) workflowJobInstanceId: string | null;
}
