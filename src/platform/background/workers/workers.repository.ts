import { firstRow, type Tx } from '../../kernel/persistence/sql';
import type { RegisteredWorker } from './registered-worker.entity';

/** What runs statements on one certain connection. */
export interface Session {
  query<T>(sql: string, params?: readonly unknown[]): Promise<{ rows: T[] }>;
}

/** When a watcher may take a worker for dead. */
export interface Grace {
  /** How long a worker has to come back, milliseconds. */
  ms: number;
  /**
   * Since when the watcher itself has its session. While it had none, such as during a restart of PostgreSQL, nobody
   * could come back: that time does not count.
   */
  watchedSince: Date;
}

export type WatchedWorker = Pick<RegisteredWorker, 'worker_id'> & { is_suspected: boolean; is_dead: boolean };

/** First key of the workers' advisory locks, the second is the worker's id. All other locks have one key. */
const LOCK_CLASS = 1;
/** Workers without a session that one look finds; the next one finds the others. */
const LOOKED_AT = 100;

const WITH_SESSION = `SELECT l.objid::bigint FROM pg_locks l
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

/** Adds a worker whose lock the session holds from then on; answers its id. */
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
 * Takes the lock of a worker's id for its new session: `gone` if the worker was taken for dead meanwhile, `busy` if
 * its former session has not ended, or another process is taking it over.
 */
export async function reclaimWorker(session: Session, workerId: number): Promise<'back' | 'gone' | 'busy'> {
  const { rows } = await session.query<{ is_held: boolean }>(
    `SELECT pg_try_advisory_lock(${LOCK_CLASS}, $1::int) AS is_held`,
    [workerId],
  );
  if (!rows[0]?.is_held) return 'busy';
  return (await clearSuspicion(session, workerId)) ? 'back' : 'gone';
}

/** Called by the worker itself, whose session holds its lock; false when it was taken for dead. */
export async function clearSuspicion(session: Session, workerId: number): Promise<boolean> {
  const { rows } = await session.query(
    'UPDATE workers SET suspected_at = NULL WHERE worker_id = $1 RETURNING worker_id',
    [workerId],
  );
  return rows.length > 0;
}

/** The worker itself, if the watcher is one and is still registered, and those that have no session. */
export async function findWatchedWorkers(
  session: Session,
  ownId: number | null,
  grace: Grace,
): Promise<WatchedWorker[]> {
  const { rows } = await session.query<WatchedWorker>(
    `SELECT worker_id, suspected_at IS NOT NULL AS is_suspected, ${isDead('$2', '$3')} AS is_dead FROM workers
     WHERE worker_id = $1 OR worker_id NOT IN (${WITH_SESSION})
     ORDER BY worker_id IS DISTINCT FROM $1, worker_id LIMIT ${LOOKED_AT}`,
    [ownId, grace.watchedSince, grace.ms],
  );
  return rows;
}

export async function suspect(session: Session, workerIds: readonly number[]): Promise<void> {
  await session.query(
    'UPDATE workers SET suspected_at = platform_now() WHERE suspected_at IS NULL AND worker_id = ANY($1)',
    [workerIds],
  );
}

/**
 * Whether the worker is dead, which then cannot come back, and nobody else can take it over, before the transaction
 * ends.
 */
export async function lockIfDead(tx: Tx, workerId: number, grace: Grace): Promise<boolean> {
  const lock = await firstRow<{ is_held: boolean }>(
    tx,
    `SELECT pg_try_advisory_xact_lock(${LOCK_CLASS}, $1::int) AS is_held`,
    [workerId],
  );
  if (!lock?.is_held) return false;
  // After the lock, for what the one who had it before has changed.
  const sql = `SELECT ${isDead('$2', '$3')} AS is_dead FROM workers WHERE worker_id = $1 FOR UPDATE`;
  const worker = await firstRow<Pick<WatchedWorker, 'is_dead'>>(tx, sql, [workerId, grace.watchedSince, grace.ms]);
  return worker?.is_dead ?? false;
}

/** Removes a worker that holds no leases any more. */
export async function removeWorker(tx: Tx, workerId: number): Promise<void> {
  await tx.query('DELETE FROM workers WHERE worker_id = $1', [workerId]);
}
