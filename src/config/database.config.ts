import type { EnvReader } from './env-reader';

export type DatabaseConfig = ReturnType<typeof readDatabaseConfig>;

export function readDatabaseConfig(reader: EnvReader) {
  const env = reader.section('PostgreSQL');
  return {
    url: env.url('DATABASE_URL', ['postgres:', 'postgresql:'], {
      example: 'postgres://platform:platform@127.0.0.1:5432/platform',
      readBy: ['API', 'worker'],
      description: 'URL of the database.',
    }),
    poolSize: env.integer('DATABASE_POOL_SIZE', {
      default: 20,
      min: 2,
      max: 500,
      readBy: ['API', 'worker'],
      description: 'Number of connections that each process may open. One more waits for notifications.',
    }),
    statementTimeoutMs: env.integer('DATABASE_STATEMENT_TIMEOUT_MS', {
      default: 30_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['API', 'worker'],
      description: 'Time after which PostgreSQL cancels a statement or an idle transaction.',
    }),
    lockTimeoutMs: env.integer('DATABASE_LOCK_TIMEOUT_MS', {
      default: 2_000,
      // Below a second, PostgreSQL would not yet have looked for a deadlock.
      min: 1_500,
      unit: 'milliseconds',
      readBy: ['API'],
      description:
        'Time that a statement of the API waits for a lock before its request gets status 503. Workers wait as long as a ' +
        'statement may take.',
    }),
    migrationTimeoutMs: env.integer('DATABASE_MIGRATION_TIMEOUT_MS', {
      default: 0,
      min: 0,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Time after which PostgreSQL cancels a statement of a migration. `0` means never.',
    }),
    migrateOnStart: env.boolean('DATABASE_MIGRATE_ON_START', {
      default: true,
      readBy: ['API'],
      description:
        'Whether an API that serves clients updates the schema and the reference data, and creates the first user, when it ' +
        'starts. With `false` an operator runs `npm run migrate`.',
    }),
  };
}
