import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, startRedis } from './services.mjs';

/** @typedef {{folder: string, databaseUrl: string, redisUrl: string}} OwnServices with a folder of their own, which is removed with them */

/**
 * Starts PostgreSQL and Redis for the time of `use`.
 * @template T
 * @param {{prefix: string, runtime: import('./runtime.mjs').Runtime, print: (text: string) => void, signal: AbortSignal}} options
 * @param {(services: OwnServices) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withOwnServices({ prefix, runtime, print, signal }, use) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  // If root runs this, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  try {
    const postgres = await startPostgres(folder, { signal, onExit: print });
    undo.push(() => postgres.stop());
    const redis = await startRedis(folder, runtime, { signal, onExit: print });
    undo.push(() => redis.stop());
    return await use({ folder, databaseUrl: postgres.url, redisUrl: redis.url });
  } finally {
    for (const stop of undo.reverse())
      await stop().catch((/** @type {Error} */ error) => print(`Stopping failed: ${error.message}`));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
