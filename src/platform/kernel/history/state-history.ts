import { notifyAfterCommit } from '../notifications/after-commit';
import { type EntityClass, tableOf } from '../persistence/entity-table';
import { rows, type Tx } from '../persistence/sql';
import type { StateHistoryColumns } from './state-history.columns';

/** A table of state history: its key, and the column of the subject, whose row lock orders the entries. */
export interface History<E extends StateHistoryColumns> {
  entity: EntityClass<E>;
  idColumn: keyof E & string;
  subjectColumn: keyof E & string;
}

export interface StateEntry<E> {
  from: string | null;
  to: string;
  reason: string | null;
  /** Null for the platform itself. */
  userId: number | null;
  /** Values of further columns of the table. */
  extra?: Partial<Omit<E, keyof StateHistoryColumns>>;
}

/**
 * Closes the subject's current entry, appends the next one and returns its id. The caller holds the subject's row lock, so
 * that sequence numbers have no holes and intervals no gaps.
 */
export async function appendState<E extends StateHistoryColumns>(
  tx: Tx,
  history: History<E>,
  subjectId: number,
  entry: StateEntry<E>,
): Promise<number> {
  const [id] = await appendStates(tx, history, [subjectId], entry);
  if (id === undefined) throw new Error(`The insert into ${tableOf(history.entity)} returned no row`);
  return id;
}

/** As {@link appendState}, for several locked subjects with the same transition. */
export async function appendStates<E extends StateHistoryColumns>(
  tx: Tx,
  { entity, idColumn, subjectColumn }: History<E>,
  subjectIds: readonly number[],
  { from, to, reason, userId, extra = {} }: StateEntry<E>,
): Promise<number[]> {
  const table = tableOf(entity);
  const further = Object.entries(extra);
  const columns = ['from_status', 'status', 'reason', 'actor_user_id', ...further.map(([column]) => column)];
  const values = [from, to, reason, userId, ...further.map(([, value]) => value)];
  const entries = await rows<{ id: number }>(
    tx,
    // The driver reads times in milliseconds, so they are stored with this precision: the next entry begins when this one ends.
    `WITH moment AS (SELECT date_trunc('milliseconds', platform_clock()) AS at), closed AS (
       UPDATE ${table} SET end_time = moment.at FROM moment
       WHERE ${subjectColumn} = ANY($1) AND end_time = 'infinity' RETURNING ${subjectColumn} AS id, sequence)
     INSERT INTO ${table} (${columns.join(', ')}, ${subjectColumn}, sequence, start_time)
     SELECT ${values.map((_, index) => `$${index + 2}`).join(', ')}, subject.id, coalesce(closed.sequence, 0) + 1, moment.at
     FROM moment, unnest($1::bigint[]) AS subject(id) LEFT JOIN closed USING (id)
     RETURNING ${idColumn} AS id`,
    [subjectIds, ...values],
  );
  await notifyAfterCommit(tx, 'changes');
  return entries.map(({ id }) => id);
}
