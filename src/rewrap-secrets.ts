import 'reflect-metadata';
import { Config } from './config/config';
import { createDataSource } from './database/data-source';
import { checkMasterKeys } from './modules/foundation/secrets/check-master-keys';
import { rewrapDataKeys } from './modules/foundation/secrets/rewrap-data-keys';
import { createLogger } from './platform/kernel/logging/logger';
import { failProcess } from './platform/kernel/process/fail-process';

/** Finishes a rotation of the master key: wraps all data keys with the first key of SECRETS_MASTER_KEYS. */
async function main(): Promise<number> {
  const config = Config.load();
  const dataSource = await createDataSource(config.database, 'rewrap-secrets').initialize();
  const logger = createLogger('rewrap-secrets', config.product.logLevel);
  try {
    await checkMasterKeys(dataSource.manager, config.secrets.masterKeys, logger);
    const { rewrapped, failed } = await rewrapDataKeys(dataSource, config.secrets.masterKeys);
    process.stdout.write(`Wrapped ${rewrapped} data keys with the master key ${config.secrets.masterKeys[0]?.id}.\n`);
    for (const { tenantId, masterKeyId, reason } of failed) {
      process.stderr.write(
        `The data key of tenant ${tenantId} is still wrapped with the master key ${masterKeyId}: ${reason}.\n`,
      );
    }
    return failed.length === 0 ? 0 : 1;
  } finally {
    await dataSource.destroy();
  }
}

main().then((status) => process.exit(status), failProcess);
