import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_run_cost_days' };

/** The share of an ended run in the time of nodes on one day (UTC). Like the ledger, it refers to no other table. */
@Entity('run_cost_days')
@Index('ix_run_cost_days_tenant', ['tenant_id', 'usage_date', 'ycu_ms', 'run_id'], { where: 'is_only_day' })
@Index('ix_run_cost_days_workspace', ['workspace_id', 'usage_date', 'ycu_ms', 'run_id'], { where: 'is_only_day' })
@Index('ix_run_cost_days_long', ['tenant_id', 'usage_date'], { where: 'NOT is_only_day' })
export class RunCostDay {
  @Col.bigint(PRIMARY) run_id: number;
  @Col.day(PRIMARY) usage_date: string;
  @Col.uuid() tenant_id: string;
  @Col.bigint() workspace_id: number;
  @Col.bigint() cluster_id: number;
  /** Null for a run of the platform itself. */
  @Col.bigint({ nullable: true }) user_id: number | null;
  /** True if the run has no share on another day. */
  @Col.bool() is_only_day: boolean;
  @Col.bigint() share_ms: number;
  /** Milliseconds times compute units per hour, as in the ledger. */
  @Col.decimal() ycu_ms: string;
  /** The part of `share_ms` whose runs were measured, on the nodes of their drivers. */
  @Col.bigint({ default: 0 }) measured_ms: number;
  /** Memory that these runs requested and did not use: MiB times milliseconds, and the part of `ycu_ms` that it is (ADR 0079). */
  @Col.decimal({ default: 0 }) unused_mb_ms: string;
  @Col.decimal({ default: 0 }) unused_ycu_ms: string;
}
