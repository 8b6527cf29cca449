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
}
