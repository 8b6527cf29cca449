import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';
import { SummedColumns } from './billed.columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_usage_days' };

/**
 * Ended stays of one day (UTC), tenant, cluster, machine type and labels, summed up from the ledger. Names are those of
 * the last of them. Of stays that have not ended only the number of nodes takes account.
 */
@Entity('usage_days')
@Index('ix_usage_days_cluster', ['cluster_id', 'usage_date'])
export class UsageDay extends SummedColumns {
  @Col.day(PRIMARY) usage_date: string;
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.bigint(PRIMARY) cluster_id: number;
  @Col.int(PRIMARY) machine_type_id: number;
  @Col.uuid(PRIMARY) labels_key: string;
  /** Most nodes at once, those that are running still included. */
  @Col.int() node_count: number;
  @Col.bigint() running_ms: number;
  /** Milliseconds times compute units per hour: exact, as the quotient would not be. */
  @Col.decimal() ycu_ms: string;
}
