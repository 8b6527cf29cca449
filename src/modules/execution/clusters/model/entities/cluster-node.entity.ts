import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import { Col, oneOf, ValidityColumns } from '../../../../../platform/kernel/persistence/columns';
import { HasLogs } from '../../../../infrastructure/storage';
import type { NodeRole } from '../../../../../../libs/contracts/agent-protocol';
import type { Place } from '../../../../../../libs/compute-drivers/place';
import { NODE_STATUSES, type NodeStatus } from '../cluster-state';
import { IS_DEAD, TAKES_RUNS } from '../clusters.joins';

/** One machine of a cluster, from its plan to its destruction (`to_date`). */
@Entity('cluster_nodes')
@Unique('uq_cluster_nodes_tenant_id', ['tenant_id', 'node_id'])
@Unique('uq_cluster_nodes_token', ['token'])
@Index('uq_cluster_nodes_number', ['cluster_id', 'node_number'], { unique: true, where: `to_date = 'infinity'` })
@Index('uq_cluster_nodes_bootstrap', ['bootstrap_token_hash'], {
  unique: true,
  where: 'bootstrap_token_hash IS NOT NULL',
})
@Index('ix_cluster_nodes_free', ['cluster_id', 'busy_slots', 'node_number'], { where: TAKES_RUNS })
@Index('ix_cluster_nodes_replacements', ['cluster_id', 'from_date'], { where: 'replacement' })
@Index('ix_cluster_nodes_cluster', ['cluster_id', 'to_date'])
@Index('ix_cluster_nodes_dead', ['node_id'], { where: `busy_slots > 0 AND ${IS_DEAD}` })
@Index('ix_cluster_nodes_logs', ['to_date'], { where: 'logs_kept' })
@Index('ix_cluster_nodes_place', ['machine_place_id'], { where: `to_date = 'infinity'` })
@Check('ck_cluster_nodes_slots', 'busy_slots >= 0')
@Check('ck_cluster_nodes_status', oneOf('status', NODE_STATUSES))
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], { name: 'fk_cluster_nodes_cluster' })
@ForeignKey('MachinePlace', ['tenant_id', 'machine_place_id'], ['tenant_id', 'machine_place_id'], {
  name: 'fk_cluster_nodes_machine_place',
})
@HasLogs('node', 'to_date')
export class ClusterNode extends ValidityColumns {
  @Col.identity() node_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint() cluster_id: number;
  @Col.int() node_number: number;
  @Col.text() role: NodeRole;
  @Col.text() status: NodeStatus;
  /** Idempotency token of the provisioning, and label of the provider's resources. */
  @Col.uuid() token: string;
  /** The number of the node's machine, from 1. The same request is repeated within an attempt, never for another. */
  @Col.int({ default: 1 }) attempt: number;
  /** The place of its machine; null for a node of an earlier release, whose place is that of its environment. */
  @Col.json({ nullable: true }) place: Place | null;
  /** Time of the first request for the machine of this attempt; null means that the provider was certainly not called. */
  @Col.time({ nullable: true }) asked_at: Date | null;
  /**
   * Message of the provider that it has no machine for this attempt in its place. The attempt is over, and nothing is
   * requested for it any more.
   */
  @Col.text({ nullable: true }) no_room: string | null;
  /** The provider's messages by zone, or region, without capacity, since the node was planned or last resumed. */
  @Col.json({ default: () => `'{}'` }) tries: Record<string, string>;
  /** The place where an orphaned machine of the node is searched; null if the search needs no credentials. */
  @Col.bigint({ nullable: true }) machine_place_id: number | null;
  @Col.time({ nullable: true }) accepted_at: Date | null;
  @Col.time({ nullable: true }) seen_at: Date | null;
  @Col.text({ nullable: true }) provider_ref: string | null;
  @Col.text({ nullable: true }) ip_address: string | null;
  @Col.int() cores: number;
  @Col.int() memory_mb: number;
  /** Billing facts of the machine as of the plan of the node: its type, its price, and whether it is a spot machine. */
  @ForeignKey('MachineType', { name: 'fk_cluster_nodes_machine_type' })
  @Col.int()
  machine_type_id: number;
  /** Platform compute units per hour, from the lookup of machine types. */
  @Col.float() machine_price_ycu: number;
  @Col.bool() is_spot: boolean;
  /** Labels of the cluster when the node was planned. */
  @Col.json() labels: Record<string, string>;
  /** The token of a node that an earlier release planned, until its agent has registered. Other tokens are derived. */
  @Col.text({ nullable: true }) bootstrap_token: string | null;
  /** Null once the token is spent. */
  @Col.text({ nullable: true }) bootstrap_token_hash: string | null;
  /** Null if the token does not expire, as earlier releases planned them. */
  @Col.time({ nullable: true }) bootstrap_expires_at: Date | null;
  @Col.text({ nullable: true }) node_token_hash: string | null;
  @Col.text({ nullable: true }) agent_id: string | null;
  /** The protocol version that its agent reports; null if it reports none or has not reported yet. */
  @Col.int({ nullable: true }) protocol_version: number | null;
  /** Grows with every change of the node's desired state. Agents wait until it passes the version that they know. */
  @Col.bigint({ default: 1 }) desired_version: number;
  @Col.text({ default: 'starting' }) daemons_state: string;
  @Col.int({ default: 0 }) busy_slots: number;
  /** Time at which a slot was last freed; null until then. No run takes a slot before that, even if its transaction began earlier. */
  @Col.time({ nullable: true }) slot_freed_at: Date | null;
  @Col.bool({ default: false }) replacement: boolean;
  /** Deadline for a draining worker to hand over its blocks. After that, it is removed in any case. */
  @Col.time({ nullable: true }) drain_until: Date | null;
  @Col.text({ nullable: true }) master_url: string | null;
  @Col.text({ nullable: true }) error: string | null;
  /** Cores that a worker's executors have; null while it is unknown. */
  @Col.int({ nullable: true }) used_cores: number | null;
  /** Cores that a master's applications request and have not received; null while it is unknown. */
  @Col.int({ nullable: true }) pending_cores: number | null;
  /** Executors of a worker; null while it is unknown. */
  @Col.int({ nullable: true }) executors: number | null;
  /** Time of the last change of one of these three. */
  @Col.time({ nullable: true }) load_at: Date | null;
  /** Drivers that wait for runs; null if the node keeps none, or while it is unknown. */
  @Col.int({ nullable: true }) warm_drivers: number | null;
  /** Number of its runs that a warm driver took. */
  @Col.int({ default: 0 }) warm_starts: number;
  /** Number of its runs for which a driver was started although it keeps warm ones. */
  @Col.int({ default: 0 }) cold_starts: number;
  /** Time at which the node became idle, without runs and, for a worker, without executors; null while it is busy. */
  @Col.time({ nullable: true }) idle_since: Date | null;
  /** True if the node is being removed: it takes no more runs, and its worker moves its blocks to others. */
  @Col.bool({ default: false }) draining: boolean;
  /** Time at which its agent reported that nothing is left on it. */
  @Col.time({ nullable: true }) drained_at: Date | null;
  /** Time at which its agent first reported that the provider takes the machine back. */
  @Col.time({ nullable: true }) interrupted_at: Date | null;
  /** The provider's message about that. */
  @Col.text({ nullable: true }) interruption: string | null;
  /** No index contains it, because it changes every few seconds, in place. */
  @Col.time({ nullable: true }) last_seen_at: Date | null;
  @Col.bool({ default: true }) logs_kept: boolean;
  /** True once its complete logs have been merged into as few pieces as possible. Only some stores keep pieces. */
  @Col.bool({ default: false }) logs_settled: boolean;
}

/** True if an agent of the node has ever reported, so that its disk may hold data. */
export function hasReported({ agent_id, last_seen_at }: Pick<ClusterNode, 'agent_id' | 'last_seen_at'>): boolean {
  return agent_id !== null || last_seen_at !== null;
}
