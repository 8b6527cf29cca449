import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/**
 * `usage_days` of the cluster are out of date from this day on. Written in the transaction of what made them so, each
 * time a row of its own: writers never wait for each other.
 */
@Entity('stale_usage')
@Index('ix_stale_usage_cluster', ['cluster_id', 'from_date'])
export class StaleUsage {
  @Col.identity('pk_stale_usage') stale_usage_id: number;
  @Col.bigint() cluster_id: number;
  @Col.day() from_date: string;
}
