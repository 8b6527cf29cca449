import type { Config } from '../config/config';
import { checkMasterKeys } from '../modules/foundation/secrets/check-master-keys';
import type { Logger } from '../platform/kernel/logging/logger';
import { createDataSource } from './data-source';
import { prepareDatabase } from './prepare-database';
import { waitForConnection, waitForSchema } from './wait-for-schema';

/**
 * Ensures that the database can be reached, has the schema of this build and belongs to the configured master keys. API and
 * worker call this before anything else. An API that serves clients migrates the schema, unless `migrate` does; all other
 * processes wait for it.
 */
export async function ensureDatabase(config: Config, service: 'api' | 'worker', logger: Logger): Promise<void> {
  const { url, migrateOnStart } = config.database;
  const prepares = service === 'api' && config.http.serves.includes('clients') && migrateOnStart;
  const dataSource = createDataSource(config.database, prepares ? 'prepare' : 'wait-for-schema');
  await waitForConnection(dataSource, url, logger);
  try {
    if (prepares) await prepareDatabase(dataSource, config, logger);
    else await waitForSchema(dataSource, url, logger);
    await checkMasterKeys(dataSource.manager, config.secrets.masterKeys, logger);
  } finally {
    await dataSource.destroy();
  }
}
