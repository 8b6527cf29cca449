import type { EnvReader } from './env-reader';

export interface DatabaseConfig {
  url: string;
  poolSize: number;
  /** A statement that runs longer is cancelled, milliseconds. */
  statementTimeoutMs: number;
  /** A statement of the API gives up when it has waited this long for a lock, milliseconds. */
  lockTimeoutMs: number;
  /** A statement of a migration that runs longer is cancelled, milliseconds; 0 for none. */
  migrationTimeoutMs: number;
  /** Whether the API brings the schema and reference data up to date when it starts. */
  migrateOnStart: boolean;
}

export function readDatabaseConfig(env: EnvReader): DatabaseConfig {
  return {
    url: env.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    poolSize: env.integer('DATABASE_POOL_SIZE', { default: 20, min: 2, max: 500 }),
    statementTimeoutMs: env.integer('DATABASE_STATEMENT_TIMEOUT_MS', { default: 30_000, min: 100 }),
    // Below a second, PostgreSQL would not yet have looked for a deadlock.
    lockTimeoutMs: env.integer('DATABASE_LOCK_TIMEOUT_MS', { default: 2_000, min: 1_500 }),
    migrationTimeoutMs: env.integer('DATABASE_MIGRATION_TIMEOUT_MS', { default: 0, min: 0 }),
    migrateOnStart: env.boolean('DATABASE_MIGRATE_ON_START', true),
  };
}
