import { firstRow, type Db, type Tx } from '../../kernel/persistence/sql';
import type { RegisteredWorker } from './registered-worker.entity';

/** Runs statements on one particular connection. */
export interface Session {
  query<T>(sql: string, params?: readonly unknown[]): Promise<{ rows: T[] }>;
}

/** Grace period after which a watcher declares a worker dead. */
export interface Grace {
  /** Time in which a worker may open a new session, milliseconds. */
  ms: number;
  /**
   * Start of the watcher's own session. The time before does not count: while the watcher had no session, such as during a
   * restart of PostgreSQL, the worker could not open one either.
   */
  watchedSince: Date;
}

export type WatchedWorker = Pick<RegisteredWorker, 'worker_id'> & { is_suspected: boolean; is_dead: boolean };

/** First key of the workers' advisory locks; the second is the worker's id. */
const LOCK_CLASS = 1;
/** Second key of the lock of the process that leads the watch. No worker has this id. */
const LEADER = 0;
/** Workers that one check finds at most; the next one finds the others. */
const MAX_FOUND = 100;

/** The second keys of the locks that sessions hold. */
const HELD = `SELECT l.objid::bigint AS id FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = ${LOCK_CLASS} AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const isDead = (since: string, ms: string) =>
  `(suspected_at IS NOT NULL
    AND greatest(suspected_at, ${since}::timestamptz) < platform_now() - ${ms} * interval '1 millisecond')`;

export async function sessionStart(session: Session): Promise<Date> {
  const { rows } = await session.query<{ at: Date }>('SELECT platform_now() AS at');
  const [row] = rows;
  if (!row) throw new Error('SELECT platform_now() returned no row');
  return row.at;
}

/** Adds a worker, takes its lock for the session, and returns its id. */
export async function registerWorker(
  session: Session,
  { hostname, pid }: Pick<RegisteredWorker, 'hostname' | 'pid'>,
): Promise<number> {
  const { rows } = await session.query<Pick<RegisteredWorker, 'worker_id'>>(
    `WITH added AS (INSERT INTO workers (hostname, pid) VALUES ($1, $2) RETURNING worker_id)
     SELECT worker_id, pg_advisory_lock(${LOCK_CLASS}, worker_id::int) FROM added`,
    [hostname, pid],
  );
  const [row] = rows;
  if (!row) throw new Error('INSERT INTO workers returned no row');
  return row.worker_id;
}

/**
 * Takes the lock of a worker for its new session. Returns `gone` if the worker was declared dead meanwhile, and `busy` if its
 * former session has not ended, or another process is taking it over.
 */
export async function reclaimWorker(session: Session, workerId: number): Promise<'back' | 'gone' | 'busy'> {
  const { rows } = await session.query<{ is_held: boolean }>(
    `SELECT pg_try_advisory_lock(${LOCK_CLASS}, $1::int) AS is_held`,
    [workerId],
  );
  if (!rows[0]?.is_held) return 'busy';
  return (await clearSuspicion(session, workerId)) ? 'back' : 'gone';
}

/** Clears the suspicion. Only the worker itself calls this, with the session that holds its lock. Returns false if it was declared dead. */
export async function clearSuspicion(session: Session, workerId: number): Promise<boolean> {
  const { rows } = await session.query(
    'UPDATE workers SET suspected_at = NULL WHERE worker_id = $1 RETURNING worker_id',
    [workerId],
  );
  return rows.length > 0;
}

/** Result of a look at the workers. */
export interface Look {
  /** True if a process leads the watch, which looks often on behalf of the others; for a candidate, if it is itself that process. */
  isLed: boolean;
  /** The workers without a session, and the watcher's own worker if it is still registered. */
  found: WatchedWorker[];
}

/** The part of a process in the watch. Workers do not lead it: the leader would end with a worker that it has to watch. */
export type Part = 'worker' | 'candidate' | 'leader';

const IS_LED: Record<Part, string> = {
  worker: `${LEADER} IN (${HELD})`,
  candidate: `pg_try_advisory_lock(${LOCK_CLASS}, ${LEADER})`,
  leader: 'true',
};

/** Looks for workers without a session. A candidate becomes the leader of the watch if there is none. */
export async function look(session: Session, part: Part, ownId: number | null, grace: Grace): Promise<Look> {
  const { rows } = await session.query<{ is_led: boolean } & (WatchedWorker | { worker_id: null })>(
    `WITH watch AS MATERIALIZED (SELECT ${IS_LED[part]} AS is_led)
     SELECT watch.is_led, found.* FROM watch LEFT JOIN (
       SELECT worker_id, suspected_at IS NOT NULL AS is_suspected, ${isDead('$2', '$3')} AS is_dead FROM workers
       WHERE worker_id = $1 OR worker_id NOT IN (${HELD})
       ORDER BY worker_id IS DISTINCT FROM $1, worker_id LIMIT ${MAX_FOUND}) found ON true`,
    [ownId, grace.watchedSince, grace.ms],
  );
  return { isLed: rows[0]?.is_led ?? false, found: rows.filter((row) => row.worker_id !== null) };
}

/** Records since when these workers have no session. One that has returned since they were found is left out. */
export async function suspect(session: Session, workerIds: readonly number[]): Promise<void> {
  await session.query(
    `UPDATE workers SET suspected_at = platform_now()
     WHERE suspected_at IS NULL AND worker_id = ANY($1) AND worker_id NOT IN (${HELD})`,
    [workerIds],
  );
}

/**
 * Returns true if the worker is dead. Until the transaction ends, it then cannot take its lock again, and no other process can
 * take over its work.
 */
export async function lockIfDead(tx: Tx, workerId: number, grace: Grace): Promise<boolean> {
  const lock = await firstRow<{ is_held: boolean }>(
    tx,
    `SELECT pg_try_advisory_xact_lock(${LOCK_CLASS}, $1::int) AS is_held`,
    [workerId],
  );
  if (!lock?.is_held) return false;
  // The row is read after taking the lock, to see changes of the process that held it before.
  const sql = `SELECT ${isDead('$2', '$3')} AS is_dead FROM workers WHERE worker_id = $1 FOR UPDATE`;
  const worker = await firstRow<Pick<WatchedWorker, 'is_dead'>>(tx, sql, [workerId, grace.watchedSince, grace.ms]);
  return worker?.is_dead ?? false;
}

/** Deletes a worker that holds no more leases. */
export async function removeWorker(db: Db, workerId: number): Promise<void> {
  await db.query('DELETE FROM workers WHERE worker_id = $1', [workerId]);
}
