import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';
import { SummedColumns } from './billed.columns';

const PRIMARY = { primary: true, primaryKeyConstraintName: 'pk_usage_days' };

/**
 * Ended stays of one day (UTC), tenant, cluster, machine type and labels, summed up from the ledger. The names are
 * those of the latest stay. Stays that have not ended only count in the number of nodes.
 */
@Entity('usage_days')
@Index('ix_usage_days_cluster', ['cluster_id', 'usage_date'])
export class UsageDay extends SummedColumns {
  @Col.day(PRIMARY) usage_date: string;
  @Col.uuid(PRIMARY) tenant_id: string;
  @Col.bigint(PRIMARY) cluster_id: number;
  @Col.int(PRIMARY) machine_type_id: number;
  @Col.uuid(PRIMARY) labels_key: string;
  /** Maximum number of concurrent nodes, including those still running. */
  @Col.int() node_count: number;
  @Col.bigint() running_ms: number;
  /** Milliseconds times compute units per hour. Unlike the quotient, the product is exact. */
  @Col.decimal() ycu_ms: string;
}
