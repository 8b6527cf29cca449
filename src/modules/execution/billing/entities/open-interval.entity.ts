import { Entity, Index } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';
import { IntervalColumns } from './billed.columns';

/** The future ledger entry of a node that is in RUNNING now. */
@Entity('ledger_open_intervals')
@Index('uq_ledger_open_intervals_node', ['node_id'], { unique: true })
@Index('ix_ledger_open_intervals_cluster', ['cluster_id'])
export class OpenInterval extends IntervalColumns {
  @Col.bigint({ primary: true, primaryKeyConstraintName: 'pk_ledger_open_intervals' }) node_state_id: number;
}
