import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Logger } from '../platform/kernel/logging/logger';
import { rows } from '../platform/kernel/persistence/sql';
import { StartError } from '../platform/kernel/process/start-error';
import { connectionError } from './database-start-errors';
import { assertSchemaUsable } from './schema-compatibility';

const TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 250;
const LOG_INTERVAL_MS = 10_000;

/** Connects to the database, and waits at most two minutes for it to start. */
export async function waitForConnection(dataSource: DataSource, url: string, logger: Logger): Promise<void> {
  await waitUntil(() => connect(dataSource, url), logger, 'Waiting for PostgreSQL');
}

/**
 * Waits at most two minutes until another process has migrated the schema to this build's version. Throws at once if the
 * schema belongs to a newer release.
 */
export async function waitForSchema(dataSource: DataSource, url: string, logger: Logger): Promise<void> {
  await waitUntil(() => checkSchema(dataSource, url), logger, 'Waiting for the schema');
}

async function waitUntil(check: () => Promise<StartError | null>, logger: Logger, waiting: string): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  let loggedAt = -Infinity;
  for (;;) {
    const error = await check();
    if (!error) return;
    if (Date.now() > deadline) throw error;
    if (Date.now() - loggedAt >= LOG_INTERVAL_MS) {
      loggedAt = Date.now();
      logger.warn({ code: error.code, reason: error.message, ...error.help }, waiting);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

async function connect(dataSource: DataSource, url: string): Promise<StartError | null> {
  try {
    await dataSource.initialize();
    return null;
  } catch (cause) {
    const { isTransient, error } = connectionError(url, cause);
    if (!isTransient) throw error;
    return error;
  }
}

async function checkSchema(dataSource: DataSource, url: string): Promise<StartError | null> {
  try {
    await assertSchemaUsable(dataSource.manager);
    if (await hasAllMigrations(dataSource)) return null;
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    return connectionError(url, cause).error;
  }
  const message = 'The database schema is older than this build.';
  const remedy =
    'Run "node dist/migrate.js" of this build, or start an API that serves clients with DATABASE_MIGRATE_ON_START=true.';
  return new StartError('DATABASE.SCHEMA_OLDER', message, { variable: 'DATABASE_MIGRATE_ON_START', remedy });
}

/**
 * Only reads. TypeORM's own check creates the table of migrations, so that of several processes that wait for the schema of
 * a new database, one would fail because another has created the table meanwhile.
 */
async function hasAllMigrations(dataSource: DataSource): Promise<boolean> {
  const [found] = await rows<{ exists: boolean }>(
    dataSource.manager,
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  if (!found?.exists) return false;
  const names = dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name);
  const applied = await rows(dataSource.manager, 'SELECT 1 FROM schema_migrations WHERE name = ANY($1)', [names]);
  return applied.length === names.length;
}
