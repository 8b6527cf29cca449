import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config';
import { createDataSource } from './data-source';

const DEADLINE_MS = 120_000;
const EVERY_MS = 250;

/** Waits until the API, or an operator's `migrate`, has brought the schema to this build's version. */
export async function waitForSchema(config: Config): Promise<void> {
  const dataSource = createDataSource(config.database, 'wait-for-schema');
  const deadline = Date.now() + DEADLINE_MS;
  for (let cause: unknown = null; ;) {
    try {
      if (!dataSource.isInitialized) await dataSource.initialize();
      if (!(await dataSource.showMigrations())) break;
      cause = new Error('migrations are pending');
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error('The database schema did not become ready in time', { cause });
    await delay(EVERY_MS);
  }
  await dataSource.destroy();
}
