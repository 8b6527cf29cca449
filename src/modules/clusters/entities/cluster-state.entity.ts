import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { StateHistoryColumns } from '../../../platform/history/state-history.columns';
import { Col } from '../../../platform/persistence/columns';
import { Cluster } from './cluster.entity';

@Entity('cluster_states')
@Index('uq_cluster_states_sequence', ['clusterId', 'sequence'], { unique: true })
export class ClusterStateEntry extends StateHistoryColumns {
  @Col.identity('cluster_state_id') clusterStateId: string;
  @Col.bigint('cluster_id') clusterId: string;
  @ManyToOne(() => Cluster)
  @JoinColumn({ name: 'cluster_id', foreignKeyConstraintName: 'fk_cluster_states_cluster' })
  cluster: Cluster;
  @Col.int('node_count') nodeCount: number;
  @Col.bigint('workflow_job_instance_id', { nullable: true }) workflowJobInstanceId: string | null;
}
