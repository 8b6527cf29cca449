import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Config } from '../config/config';
import { bootstrapIdentity } from '../modules/foundation/iam/bootstrap-identity';
import { seedReferenceData } from '../modules/foundation/reference-data/seed-reference-data';
import type { Logger } from '../platform/kernel/logging/logger';
import { applyMigrations } from './apply-migrations';
import { assertSchemaUsable } from './schema-compatibility';

/** Number of the advisory lock, which no other lock of the application uses. */
const PREPARE_LOCK = 7_203_100;
const LOCK_DEADLINE_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/**
 * Migrates the schema, updates the reference data and creates the first administrator. Any number of pods may call this at
 * once: one works, the others wait for it and then find nothing to do.
 */
export async function prepareDatabase(dataSource: DataSource, config: Config, logger: Logger): Promise<void> {
  const connection = dataSource.createQueryRunner();
  try {
    await lock(connection);
    await assertSchemaUsable(connection.manager);
    await applyMigrations(dataSource, connection, config.database, logger);
    if (await seedReferenceData(dataSource)) logger.info('Updated the reference data');
    await bootstrapIdentity(dataSource, config.auth, logger);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [PREPARE_LOCK]).catch(() => undefined);
    await connection.release();
  }
}

/** Polls for the lock, because a statement that waits for it would run into the statement timeout. */
async function lock(connection: QueryRunner): Promise<void> {
  const deadline = Date.now() + LOCK_DEADLINE_MS;
  for (;;) {
    const [row] = (await connection.query('SELECT pg_try_advisory_lock($1) AS locked', [PREPARE_LOCK])) as {
      locked: boolean;
    }[];
    if (row?.locked) return;
    if (Date.now() > deadline) {
      throw new Error(
        'Another process has been preparing the database for ten minutes. Find the process that hangs, and end it.',
      );
    }
    await delay(LOCK_POLL_MS);
  }
}
