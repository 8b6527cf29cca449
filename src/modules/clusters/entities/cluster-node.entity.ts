import { Check, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { Col, ValidityColumns } from '../../../platform/persistence/columns';
import { NODE_STATUSES } from '../cluster-state';

/** One machine of a cluster, from its plan to its destruction (`to_date`). */
@Entity('cluster_nodes')
@Unique('uq_cluster_nodes_tenant_id', ['tenantId', 'nodeId'])
@Unique('uq_cluster_nodes_token', ['token'])
@Index('uq_cluster_nodes_number', ['clusterId', 'nodeNumber'], { unique: true, where: `to_date = 'infinity'` })
@Index('uq_cluster_nodes_bootstrap', ['bootstrapTokenHash'], {
  unique: true,
  where: 'bootstrap_token_hash IS NOT NULL',
})
@Index('ix_cluster_nodes_seen', ['lastSeenAt'], { where: `to_date = 'infinity'` })
@Index('ix_cluster_nodes_logs', ['toDate'], { where: 'logs_kept' })
@Check('ck_cluster_nodes_status', `status IN (${NODE_STATUSES.map((s) => `'${s}'`).join(', ')})`)
export class ClusterNode extends ValidityColumns {
  @Col.identity('node_id') nodeId: string;
  @Col.uuid('tenant_id') tenantId: string;
  @Col.bigint('cluster_id') clusterId: string;
  @ManyToOne('Cluster')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_cluster_nodes_cluster' },
    { name: 'cluster_id', referencedColumnName: 'clusterId', foreignKeyConstraintName: 'fk_cluster_nodes_cluster' },
  ])
  cluster: unknown;
  @Col.int('node_number') nodeNumber: number;
  @Col.text('role') role: string;
  @Col.text('status') status: string;
  /** Idempotency token of the provisioning and label of the provider's resources. */
  @Col.uuid('token') token: string;
  @Col.text('provider_ref', { nullable: true }) providerRef: string | null;
  @Col.text('ip_address', { nullable: true }) ipAddress: string | null;
  @Col.int('cores') cores: number;
  @Col.int('memory_mb') memoryMb: number;
  /** Kept only until the agent has registered with it. */
  @Col.text('bootstrap_token', { nullable: true }) bootstrapToken: string | null;
  /** Null once it is spent. */
  @Col.text('bootstrap_token_hash', { nullable: true }) bootstrapTokenHash: string | null;
  @Col.text('node_token_hash', { nullable: true }) nodeTokenHash: string | null;
  @Col.text('agent_id', { nullable: true }) agentId: string | null;
  /** Grows with every change of what the node should do; agents wait for it to pass what they know. */
  @Col.bigint('desired_version', { default: 1 }) desiredVersion: string;
  @Col.text('daemons_state', { default: 'starting' }) daemonsState: string;
  @Col.text('master_url', { nullable: true }) masterUrl: string | null;
  @Col.text('error', { nullable: true }) error: string | null;
  @Col.time('last_seen_at', { nullable: true }) lastSeenAt: Date | null;
  /** False once its logs were removed. */
  @Col.bool('logs_kept', { default: true }) logsKept: boolean;
  /** Its logs, which are complete, are in as few pieces as the store takes; only of stores that keep pieces. */
  @Col.bool('logs_settled', { default: false }) logsSettled: boolean;
}
