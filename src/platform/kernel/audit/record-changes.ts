import { currentContext } from '../context/request-context';
import type { Db, Tx } from '../persistence/sql';
import { changedFields, type FieldChange, hiddenChange } from './field-changes';

/** The fields of a record that a request changed, as the audit log keeps them. */
export interface RecordChange {
  /** Kind and id of the record: `mount 5`. */
  record: string;
  /** Tenant of the record; null if it belongs to the platform. Only this tenant and the platform see the fields. */
  tenant_id: string | null;
  fields: FieldChange[];
  /** Number of changed fields that were left out here and, for the last record of a row, of further records: a row has a limit of fields. */
  omitted: number;
}

/** The changes of a request, as the column of its audit row. */
export interface RecordedChanges {
  records: readonly RecordChange[];
}

/** A record that a transaction writes, and its columns before and after. */
export interface WrittenRecord {
  /** Name of its kind in messages. */
  label: string;
  id: number | string;
  tenantId: string | null;
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
  /** Columns that were written and must not be read. */
  hidden: readonly string[];
}

/** Maximum number of fields in an audit row, of all its records together. */
const MAX_FIELDS = 32;

/** Hidden columns have the name of what they keep, not of how they keep it. */
const KEPT: Readonly<Record<string, string>> = { sealed: 'secret', password_hash: 'password' };

interface Changes {
  inserted: Set<string>;
  records: RecordChange[];
}

/** The changes of open transactions. A transaction that is rolled back takes its changes along. */
const ofTransactions = new WeakMap<Db, Changes>();

/** True if the current request has an audit row that this transaction will write. */
export function isChangeAudited(): boolean {
  const draft = currentContext()?.audit;
  return draft !== undefined && !draft.isRecorded;
}

/** Keeps in mind that the transaction created the record: its later values in the transaction are no changes. */
export function noteInsert(tx: Tx, label: string, id: number | string): void {
  if (isChangeAudited()) changesIn(tx).inserted.add(nameOf({ label, id }));
}

/** True if the same transaction created the record. */
export function isInserted(tx: Tx, record: Pick<WrittenRecord, 'label' | 'id'>): boolean {
  return ofTransactions.get(tx)?.inserted.has(nameOf(record)) ?? false;
}

/** Adds the fields that a write has changed to the audit row that the transaction will write. */
export function noteChange(tx: Tx, written: WrittenRecord): void {
  const { records } = changesIn(tx);
  const fields = [
    ...changedFields(written.before, written.after),
    ...written.hidden.map((column) => hiddenChange(KEPT[column] ?? column)),
  ];
  if (fields.length === 0) return;
  const room = MAX_FIELDS - records.reduce((count, { fields: kept }) => count + kept.length, 0);
  const last = records.at(-1);
  // A request may change any number of records: those that come too late are only counted.
  if (room === 0 && last) {
    last.omitted += fields.length;
    return;
  }
  records.push({
    record: nameOf(written),
    tenant_id: written.tenantId,
    fields: fields.slice(0, room),
    omitted: Math.max(0, fields.length - room),
  });
}

/** Returns what the transaction has changed; null if that is nothing. */
export function changesOf(db: Db): RecordedChanges | null {
  const records = ofTransactions.get(db)?.records ?? [];
  return records.length === 0 ? null : { records };
}

function changesIn(tx: Tx): Changes {
  const changes = ofTransactions.get(tx) ?? { inserted: new Set(), records: [] };
  ofTransactions.set(tx, changes);
  return changes;
}

function nameOf({ label, id }: Pick<WrittenRecord, 'label' | 'id'>): string {
  return `${label} ${id}`;
}
