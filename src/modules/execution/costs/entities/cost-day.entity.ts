import { Entity } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_cost_days' };

/** Sums of `run_cost_days` of one day (UTC), workspace, cluster and user, so that reports do not read runs. */
@Entity('cost_days')
export class CostDay {
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.day(PRIMARY) usage_date: string;
  @Col.bigint(PRIMARY) workspace_id: number;
  @Col.bigint(PRIMARY) cluster_id: number;
  /** Zero for runs of the platform itself. */
  @Col.bigint(PRIMARY) user_id: number;
  @Col.bigint() share_ms: number;
  @Col.decimal() ycu_ms: string;
  /** The part of `share_ms` whose runs were measured, on the nodes of their drivers. */
  @Col.bigint({ default: 0 }) measured_ms: number;
  /** Memory that these runs requested and did not use: MiB times milliseconds, and the part of `ycu_ms` that it is (ADR 0079). */
  @Col.decimal({ default: 0 }) unused_mb_ms: string;
  @Col.decimal({ default: 0 }) unused_ycu_ms: string;
}
