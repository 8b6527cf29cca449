import pg, { types } from 'pg';
import { DataSource } from 'typeorm';
import type { DatabaseConfig } from '../config/database.config';
import { ENTITIES } from './entities';
import { FairPool } from './fair-pool';
import { MIGRATIONS } from './migrations';
import { PreparingClient } from './preparing-client';

// Ids stay below 2^53, so they are read as numbers; the driver's strings for int8 would break comparisons of ids.
types.setTypeParser(types.builtins.INT8, Number);
// A day is read as a string, because a `Date` would depend on the time zone of the process.
types.setTypeParser(types.builtins.DATE, String);

/**
 * Creates the data source of the application and the commands.
 * @param lockTimeoutMs time that a statement waits for a lock; 0 means the statement timeout
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
    // TypeORM then uses gen_random_uuid(), which is part of PostgreSQL. Migrations install the extensions.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    extra: {
      Client: PreparingClient,
      statement_timeout: config.statementTimeoutMs,
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: config.statementTimeoutMs,
      connectionTimeoutMillis: 10_000,
      // A new connection has to read the catalog and to plan each statement, so those of a burst are kept for the next one.
      idleTimeoutMillis: 5 * 60_000,
      // Joins are written in a good order, beginning with the requested record. Planning all orders of a cluster's ten joins
      // took 13 ms for a query of 0.2 ms; in groups of four, it takes 1 ms. With the default cost of a random page, which is
      // that of spinning disks, PostgreSQL would search the newest rows of all tenants instead of using the index of the list
      // (ADR 0009). The keepalives make it release the locks of a vanished host within seconds instead of hours.
      options:
        '-c join_collapse_limit=4 -c random_page_cost=1.1 ' +
        '-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=2',
    },
  });
}
