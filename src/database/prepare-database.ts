import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Config } from '../config/config';
import { bootstrapIdentity } from '../modules/foundation/iam/bootstrap-identity';
import { seedReferenceData } from '../modules/foundation/reference-data/seed-reference-data';
import type { Logger } from '../platform/kernel/logging/logger';
import { applyMigrations } from './apply-migrations';
import { assertSchemaUsable } from './schema-compatibility';

/** Any number that no other advisory lock of the application uses. */
const PREPARE_LOCK = 7_203_100;
const LOCK_DEADLINE_MS = 10 * 60_000;
const LOCK_POLL_MS = 200;

/**
 * Brings schema, reference data and the first administrator up to date. Safe on any number of pods at once: one
 * works, the others wait for it and then find everything done.
 */
export async function prepareDatabase(dataSource: DataSource, config: Config, logger: Logger): Promise<void> {
  const connection = dataSource.createQueryRunner();
  try {
    await lock(connection);
    await assertSchemaUsable(connection.manager);
    await applyMigrations(dataSource, connection, config.database, logger);
    if (await seedReferenceData(dataSource)) logger.info('The reference data is written');
    await bootstrapIdentity(dataSource, config.auth, logger);
  } finally {
    await connection.query('SELECT pg_advisory_unlock($1)', [PREPARE_LOCK]).catch(() => undefined);
    await connection.release();
  }
}

/** Polls instead of waiting in the database, where statements have a time limit. */
async function lock(connection: QueryRunner): Promise<void> {
  const deadline = Date.now() + LOCK_DEADLINE_MS;
  for (;;) {
    const [row] = (await connection.query('SELECT pg_try_advisory_lock($1) AS locked', [PREPARE_LOCK])) as {
      locked: boolean;
    }[];
    if (row?.locked) return;
    if (Date.now() > deadline) {
      throw new Error('Another process has been preparing the database for ten minutes. Look for one that hangs.');
    }
    await delay(LOCK_POLL_MS);
  }
}
