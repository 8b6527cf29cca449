import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Logger } from '../platform/kernel/logging/logger';
import { rows } from '../platform/kernel/persistence/sql';
import { StartError } from '../platform/kernel/process/start-error';
import { connectionError } from './database-start-errors';
import { assertSchemaUsable } from './schema-compatibility';

const DEADLINE_MS = 120_000;
const EVERY_MS = 250;
const SAY_EVERY_MS = 10_000;

/** Connects to a database that may still be starting, and waits at most two minutes for it. */
export async function waitForConnection(dataSource: DataSource, url: string, logger: Logger): Promise<void> {
  await waitUntil(() => obstacleOfConnection(dataSource, url), logger, 'Waiting for PostgreSQL');
}

/**
 * Waits, at most two minutes, until another process has brought the schema to this build's version. Throws at once if the
 * schema is not for this release any more.
 */
export async function waitForSchema(dataSource: DataSource, url: string, logger: Logger): Promise<void> {
  await waitUntil(() => obstacleOfSchema(dataSource, url), logger, 'Waiting for the schema');
}

async function waitUntil(
  obstacleNow: () => Promise<StartError | null>,
  logger: Logger,
  waiting: string,
): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  let saidAt = -Infinity;
  for (;;) {
    const obstacle = await obstacleNow();
    if (!obstacle) return;
    if (Date.now() > deadline) throw obstacle;
    if (Date.now() - saidAt >= SAY_EVERY_MS) {
      saidAt = Date.now();
      logger.warn({ code: obstacle.code, reason: obstacle.message, ...obstacle.help }, waiting);
    }
    await delay(EVERY_MS);
  }
}

async function obstacleOfConnection(dataSource: DataSource, url: string): Promise<StartError | null> {
  try {
    await dataSource.initialize();
    return null;
  } catch (cause) {
    const { passes, error } = connectionError(url, cause);
    if (!passes) throw error;
    return error;
  }
}

async function obstacleOfSchema(dataSource: DataSource, url: string): Promise<StartError | null> {
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
 * Reads only. TypeORM's own question creates the table of migrations, and of several processes that wait for the schema of a
 * new database, one would fail because another has created it meanwhile.
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
