import { setTimeout as delay } from 'node:timers/promises';
import { type Migration, type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { Logger } from '../platform/kernel/logging/logger';
import { StartError } from '../platform/kernel/process/start-error';
import { codeOf } from './database-start-errors';

/**
 * A statement that waits for an exclusive lock blocks all others on the table, so it gives up early and is tried again after
 * these have run.
 */
const LOCK_TIMEOUT_MS = 5_000;
const RETRY_DELAY_MS = 2_000;
const LOCK_DEADLINE_MS = 5 * 60_000;

const LOCK_NOT_AVAILABLE = '55P03';
const CANCELED = '57014';

interface Limits {
  migrationTimeoutMs: number;
  lockTimeoutMs?: number;
  retryDelayMs?: number;
  lockDeadlineMs?: number;
}

/** Applies the pending migrations on the connection, one after the other. */
export async function applyMigrations(
  dataSource: DataSource,
  connection: QueryRunner,
  limits: Limits,
  logger: Logger,
): Promise<void> {
  const executor = new MigrationExecutor(dataSource, connection);
  const pending = await executor.getPendingMigrations();
  if (pending.length === 0) return;
  await setLimits(connection, limits);
  try {
    for (const migration of pending) {
      const begin = Date.now();
      await applyWithRetries(executor, connection, migration, limits, logger);
      logger.info({ migration: migration.name, duration_ms: Date.now() - begin }, 'Applied a migration');
    }
  } finally {
    for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await connection.query(`RESET ${name}`).catch(() => undefined);
  }
}

async function setLimits(connection: QueryRunner, limits: Limits): Promise<void> {
  const { migrationTimeoutMs, lockTimeoutMs = LOCK_TIMEOUT_MS } = limits;
  await connection.query(
    `SELECT set_config('statement_timeout', $1, FALSE), set_config('idle_in_transaction_session_timeout', $1, FALSE),
       set_config('lock_timeout', $2, FALSE)`,
    [String(migrationTimeoutMs), String(lockTimeoutMs)],
  );
}

async function applyWithRetries(
  executor: MigrationExecutor,
  connection: QueryRunner,
  migration: Migration,
  { retryDelayMs = RETRY_DELAY_MS, lockDeadlineMs = LOCK_DEADLINE_MS }: Limits,
  logger: Logger,
): Promise<void> {
  const deadline = Date.now() + lockDeadlineMs;
  for (;;) {
    try {
      return await apply(executor, connection, migration);
    } catch (cause) {
      const code = codeOf(cause);
      if (code === CANCELED) throw cancelled(migration, cause);
      if (code !== LOCK_NOT_AVAILABLE) throw cause;
      if (Date.now() > deadline) throw blocked(migration, cause);
      logger.warn({ migration: migration.name }, 'A migration did not get the lock of a table; it is tried again');
      await delay(retryDelayMs);
    }
  }
}

/** Applies a migration in a transaction, unless it has none (`transaction = false`): its steps may then be repeated after a failure. */
async function apply(executor: MigrationExecutor, connection: QueryRunner, migration: Migration): Promise<void> {
  if (migration.instance?.transaction === false) {
    await executor.executeMigration(migration);
    return;
  }
  await connection.startTransaction();
  try {
    await executor.executeMigration(migration);
    await connection.commitTransaction();
  } catch (error) {
    await connection.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

function blocked({ name }: Migration, cause: unknown): StartError {
  const message = `The migration ${name} did not get the lock of a table within five minutes.`;
  const remedy =
    'End the long transaction that holds the lock (pg_stat_activity, pg_locks), and run the migration again.';
  return new StartError('DATABASE.MIGRATION_BLOCKED', message, { remedy }, { cause });
}

function cancelled({ name }: Migration, cause: unknown): StartError {
  const variable = 'DATABASE_MIGRATION_TIMEOUT_MS';
  const message = `A statement of the migration ${name} was cancelled: it exceeded ${variable}, or an administrator cancelled it.`;
  return new StartError(
    'DATABASE.MIGRATION_CANCELLED',
    message,
    { variable, remedy: `Raise ${variable}, and run the migration again.` },
    { cause },
  );
}
