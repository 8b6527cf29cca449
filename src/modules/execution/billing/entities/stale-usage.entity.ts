import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/**
 * A mark that `usage_days` of the cluster are stale from this day on. It is written in the transaction that causes it,
 * always as a new row, so that writers never wait for each other.
 */
@Entity('stale_usage')
@Index('ix_stale_usage_cluster', ['cluster_id', 'from_date'])
export class StaleUsage {
  @Col.identity('pk_stale_usage') stale_usage_id: number;
  @Col.bigint() cluster_id: number;
  @Col.day() from_date: string;
}
