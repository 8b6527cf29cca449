import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Config } from '../config/config';
import { createDataSource } from './data-source';

const DEADLINE_MS = 120_000;
const EVERY_MS = 250;

/** Waits until the API, or an operator's `migrate`, has brought the schema to this build's version. */
export async function waitForSchema(config: Config): Promise<void> {
  const dataSource = createDataSource(config.database, 'wait-for-schema');
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isReady(dataSource, deadline))) await delay(EVERY_MS);
  await dataSource.destroy();
}

/** Whether every migration is applied; once the deadline has passed, throws the reason why not. */
async function isReady(dataSource: DataSource, deadline: number): Promise<boolean> {
  try {
    if (!dataSource.isInitialized) await dataSource.initialize();
    if (!(await dataSource.showMigrations())) return true;
  } catch (cause) {
    if (Date.now() > deadline) throw new Error('The database did not become reachable in time', { cause });
    return false;
  }
  if (Date.now() > deadline)
    throw new Error('The database schema is older than this build: run the API or migrate first');
  return false;
}
