import { ForeignKey, Entity, Index } from 'typeorm';
import { StateHistoryColumns } from '../../../../../platform/kernel/history/state-history.columns';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { ClusterNode } from './cluster-node.entity';

@Entity('node_states')
@Index('uq_node_states_sequence', ['node_id', 'sequence'], { unique: true })
@Index('ix_node_states_cluster', ['cluster_id', 'node_state_id'])
@Index('ix_node_states_time', ['cluster_id', 'start_time'])
@Index('ix_node_states_xact', ['xact_id'])
export class NodeStateEntry extends StateHistoryColumns {
  @Col.identity() node_state_id: number;
  @ForeignKey(() => ClusterNode, { name: 'fk_node_states_node' })
  @Col.bigint()
  node_id: number;
  @Col.bigint() cluster_id: number;
  /** The cluster state during which the node changed. */
  @Col.bigint({ nullable: true }) cluster_state_id: number | null;
  @Col.bigint({ nullable: true }) workflow_job_instance_id: number | null;
  /**
   * The workflow step during which the state was entered; null before the first step, and in entries of earlier
   * releases.
   */
  @Col.text({ nullable: true }) step: string | null;
}
