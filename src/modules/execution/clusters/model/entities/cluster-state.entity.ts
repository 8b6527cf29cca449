import { ForeignKey, Entity, Index } from 'typeorm';
import { StateHistoryColumns } from '../../../../../platform/kernel/history/state-history.columns';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { Cluster } from './cluster.entity';

@Entity('cluster_states')
@Index('uq_cluster_states_sequence', ['cluster_id', 'sequence'], { unique: true })
@Index('ix_cluster_states_time', ['cluster_id', 'start_time'])
@Index('ix_cluster_states_xact', ['xact_id'])
export class ClusterStateEntry extends StateHistoryColumns {
  @Col.identity() cluster_state_id: number;
  @ForeignKey(() => Cluster, { name: 'fk_cluster_states_cluster' })
  @Col.bigint()
  cluster_id: number;
  @Col.int() node_count: number;
  @Col.bigint({ nullable: true }) workflow_job_instance_id: number | null;
  /**
   * The workflow step during which the state was entered; null before the first step, and in entries of earlier
   * releases.
   */
  @Col.text({ nullable: true }) step: string | null;
}
