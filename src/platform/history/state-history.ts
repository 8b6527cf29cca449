import { firstRow, insertRow, type Tx } from '../persistence/sql';

/** One table of state history: which table, and the column of the subject whose row lock orders the entries. */
export interface HistoryTable {
  table: string;
  idColumn: string;
  subjectColumn: string;
}

export interface StateEntry {
  from: string | null;
  to: string;
  reason: string | null;
  /** Null for the platform itself. */
  userId: number | null;
  /** Further columns of the table. */
  extra?: Readonly<Record<string, unknown>>;
}

/**
 * Closes the subject's current entry and appends the next one; the caller holds the subject's row lock, so that
 * sequence numbers have no holes and intervals no gaps. Answers the id of the entry.
 */
export async function appendState(
  tx: Tx,
  history: HistoryTable,
  subjectId: number,
  entry: StateEntry,
): Promise<number> {
  const closed = await firstRow<{ sequence: number; at: Date }>(
    tx,
    // To the millisecond, which is what the driver hands back: the next entry begins when this one ends.
    `WITH moment AS (SELECT date_trunc('milliseconds', platform_clock()) AS at), closed AS (
       UPDATE ${history.table} SET end_time = moment.at FROM moment
       WHERE ${history.subjectColumn} = $1 AND end_time = 'infinity' RETURNING sequence)
     SELECT moment.at, (SELECT sequence FROM closed) AS sequence FROM moment`,
    [subjectId],
  );
  const row = await insertRow<Record<string, unknown>>(tx, history.table, {
    ...entry.extra,
    [history.subjectColumn]: subjectId,
    sequence: (closed?.sequence ?? 0) + 1,
    from_status: entry.from,
    status: entry.to,
    reason: entry.reason,
    actor_user_id: entry.userId,
    start_time: closed?.at ?? new Date(),
  });
  return Number(row[history.idColumn]);
}
