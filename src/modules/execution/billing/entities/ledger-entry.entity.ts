import { Check, Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, oneOf } from '../../../../platform/kernel/persistence/columns';
import { IntervalColumns } from './billed.columns';

/**
 * `interval`: a node left RUNNING; `correction`: an operator corrected the ledger; `reversal`: the referenced entry
 * does not count.
 */
export const LEDGER_ENTRY_KINDS = ['interval', 'correction', 'reversal'] as const;
export type LedgerEntryKind = (typeof LEDGER_ENTRY_KINDS)[number];

/** One stay of a node in RUNNING. A trigger refuses everything but inserts (ADR 0040). */
@Entity('ledger_entries')
@Unique('uq_ledger_entries_tenant_id', ['tenant_id', 'ledger_entry_id'])
@Index('uq_ledger_entries_node_state', ['node_state_id'], { unique: true, where: `kind = 'interval'` })
@Index('uq_ledger_entries_reversal', ['reverses_id'], { unique: true, where: 'reverses_id IS NOT NULL' })
@Index('ix_ledger_entries_cluster', ['cluster_id', 'ended_at'])
@Index('ix_ledger_entries_node', ['node_id', 'ended_at'])
@Index('ix_ledger_entries_tenant_began', ['tenant_id', 'began_at', 'node_state_id'])
@Index('ix_ledger_entries_cluster_began', ['cluster_id', 'began_at', 'node_state_id'])
// An index on an expression (the time from beginning to end), which only the migration can declare.
@Index('ix_ledger_entries_time', { synchronize: false })
@Check('ck_ledger_entries_kind', oneOf('kind', LEDGER_ENTRY_KINDS))
@Check('ck_ledger_entries_reversal', `(kind = 'reversal') = (reverses_id IS NOT NULL)`)
@ForeignKey('LedgerEntry', ['tenant_id', 'reverses_id'], ['tenant_id', 'ledger_entry_id'], {
  name: 'fk_ledger_entries_reversed',
})
export class LedgerEntry extends IntervalColumns {
  @Col.identity('pk_ledger_entries') ledger_entry_id: number;
  @Col.text() kind: LedgerEntryKind;
  @Col.bigint() node_state_id: number;
  /** Earlier than `began_at` if the clock was set back in between. The stay then counts nothing. */
  @Col.time() ended_at: Date;
  @Col.bigint({ nullable: true }) reverses_id: number | null;
  @Col.text({ nullable: true }) reason: string | null;
  @Col.time({ default: () => 'platform_now()' }) written_at: Date;
}
