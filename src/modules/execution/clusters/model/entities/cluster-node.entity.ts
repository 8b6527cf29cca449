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
  /** Idempotency token of the provisioning and label of the provider's resources. */
  @Col.uuid() token: string;
  /** Which of its machines this is, from 1: the same request is repeated for one attempt, never for another. */
  @Col.int({ default: 1 }) attempt: number;
  /** Where its machine is to be; null for that of an earlier release, which is where its environment says. */
  @Col.json({ nullable: true }) place: Place | null;
  /** When the machine of this attempt was first to be asked for; null means that the provider was certainly not asked. */
  @Col.time({ nullable: true }) asked_at: Date | null;
  /** Why there is no machine of this attempt where it was to be: the attempt is over, and nothing is asked for it any more. */
  @Col.text({ nullable: true }) no_room: string | null;
  /** What the provider said in each zone, or the region, that had no room for it since it was planned or last resumed. */
  @Col.json({ default: () => `'{}'` }) tries: Record<string, string>;
  /** Where its machine is looked for if nobody knows of it any more; null where no credentials are needed for that. */
  @Col.bigint({ nullable: true }) machine_place_id: number | null;
  /** When the provider accepted the request for its machine. */
  @Col.time({ nullable: true }) accepted_at: Date | null;
  /** When the provider first showed it. */
  @Col.time({ nullable: true }) seen_at: Date | null;
  @Col.text({ nullable: true }) provider_ref: string | null;
  @Col.text({ nullable: true }) ip_address: string | null;
  @Col.int() cores: number;
  @Col.int() memory_mb: number;
  /**
   * What the machine is billed by, as it was when the node was planned: its type, its price, whether it is a spot
   * instance.
   */
  @ForeignKey('MachineType', { name: 'fk_cluster_nodes_machine_type' })
  @Col.int()
  machine_type_id: number;
  /** Platform compute units per hour, of the type of the lookup. */
  @Col.float() machine_price_ycu: number;
  @Col.bool() is_spot: boolean;
  /** Labels of the cluster at that moment. */
  @Col.json() labels: Record<string, string>;
  /** That of a node which an earlier release planned, until its agent has registered; others are derived. */
  @Col.text({ nullable: true }) bootstrap_token: string | null;
  /** Null once it is spent. */
  @Col.text({ nullable: true }) bootstrap_token_hash: string | null;
  /** Null for no end, as an earlier release plans them. */
  @Col.time({ nullable: true }) bootstrap_expires_at: Date | null;
  @Col.text({ nullable: true }) node_token_hash: string | null;
  @Col.text({ nullable: true }) agent_id: string | null;
  /** The version of the protocol that its agent says; null for one that says none, or was not heard yet. */
  @Col.int({ nullable: true }) protocol_version: number | null;
  /** Grows with every change of what the node should do; agents wait for it to pass what they know. */
  @Col.bigint({ default: 1 }) desired_version: number;
  @Col.text({ default: 'starting' }) daemons_state: string;
  /** How many unfinished runs it has. */
  @Col.int({ default: 0 }) busy_slots: number;
  /** Whether it was planned in the place of one that was lost. */
  @Col.bool({ default: false }) replacement: boolean;
  /** A worker that is to go has until then to hand over what it keeps; then it goes all the same. */
  @Col.time({ nullable: true }) drain_until: Date | null;
  @Col.text({ nullable: true }) master_url: string | null;
  @Col.text({ nullable: true }) error: string | null;
  /** Of a worker: cores that executors have; null while it is unknown. */
  @Col.int({ nullable: true }) used_cores: number | null;
  /** Of a master: cores that its applications ask for and have not been given; null while it is unknown. */
  @Col.int({ nullable: true }) pending_cores: number | null;
  /** Of a worker; null while it is unknown. */
  @Col.int({ nullable: true }) executors: number | null;
  /** When one of the three last changed. */
  @Col.time({ nullable: true }) load_at: Date | null;
  /** Since when nothing runs on it, no run or, of a worker, no executor; null while something does. */
  @Col.time({ nullable: true }) idle_since: Date | null;
  /** Whether the node is to go: it is given no more runs, and its worker moves what it holds to others. */
  @Col.bool({ default: false }) draining: boolean;
  /** When its agent said that nothing is left on it. */
  @Col.time({ nullable: true }) drained_at: Date | null;
  /** When its agent first heard that the provider takes the machine back. */
  @Col.time({ nullable: true }) interrupted_at: Date | null;
  /** What the provider said of that. */
  @Col.text({ nullable: true }) interruption: string | null;
  /** In no index: it changes every few seconds, in place. */
  @Col.time({ nullable: true }) last_seen_at: Date | null;
  /** False once its logs were removed. */
  @Col.bool({ default: true }) logs_kept: boolean;
  /** Whether its complete logs have been merged into as few pieces as possible; only for stores that keep pieces. */
  @Col.bool({ default: false }) logs_settled: boolean;
}

/** Whether an agent of the node has ever been heard, so that there may be something on its disk. */
export function hasReported({ agent_id, last_seen_at }: Pick<ClusterNode, 'agent_id' | 'last_seen_at'>): boolean {
  return agent_id !== null || last_seen_at !== null;
}
