import pg, { types } from 'pg';
import { DataSource } from 'typeorm';
import type { DatabaseConfig } from '../config/database.config';
import { ENTITIES } from './entities';
import { FairPool } from './fair-pool';
import { MIGRATIONS } from './migrations';
import { PreparingClient } from './preparing-client';

// Ids stay below 2^53: the driver's strings for int8 would make every id comparison a trap.
types.setTypeParser(types.builtins.INT8, Number);
// A day is no moment: as a `Date` it would depend on the zone of the process.
types.setTypeParser(types.builtins.DATE, String);

/**
 * The only definition of the connection; the application and the migration command share it.
 * @param lockTimeoutMs how long a statement waits for a lock; without it, as long as it may run
 */
export function createDataSource(
  config: Pick<DatabaseConfig, 'url' | 'poolSize' | 'statementTimeoutMs'>,
  applicationName: string,
  lockTimeoutMs = 0,
): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: { ...pg, Pool: FairPool },
    url: config.url,
    applicationName,
    poolSize: config.poolSize,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    migrationsTableName: 'schema_migrations',
    migrationsTransactionMode: 'each',
    synchronize: false,
    // gen_random_uuid(), which is part of PostgreSQL; extensions are installed by migrations.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    extra: {
      Client: PreparingClient,
      statement_timeout: config.statementTimeoutMs,
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      connectionTimeoutMillis: 10_000,
      // Our joins start at the record asked for and are written in a good order. Trying the orders of all of a
      // cluster's ten took PostgreSQL 13 ms for a query of 0.2 ms; in groups of four it takes 1 ms. With the default
      // cost of a random page, that of spinning disks, it would search the newest rows of all tenants for those of one
      // instead of taking them from the index of the list (ADR 0009).
      //
      // PostgreSQL asks a silent host whether it still exists, and releases the locks of one that vanished within
      // seconds instead of hours.
      options:
        '-c join_collapse_limit=4 -c random_page_cost=1.1 ' +
        '-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2',
    },
  });
}
