import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { waitForLock } from './lock.mjs';
import { environmentOnce } from './python-environment.mjs';

/**
 * Installs a Python client of HiveServer2 (impyla) in `$runtimeDir/sql-client`, once for each version.
 * @param {string} runtimeDir
 * @param {Pick<import('./runtime.mjs').Runtime, 'python'>} runtime
 * @param {{onProgress?: (text: string) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<string>} interpreter that has it
 * @throws {import('./setup-error.mjs').SetupError}
 */
export async function prepareSqlClient(runtimeDir, { python }, { onProgress, signal, env = process.env } = {}) {
  const folder = join(resolve(runtimeDir), 'sql-client');
  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(join(folder, 'install.lock'), { signal });
  try {
    const options = { logFile: join(folder, 'install.log'), env, onProgress, signal };
    return join(await environmentOnce(folder, 'impyla', python, options), 'bin', 'python');
  } finally {
    lock.release();
  }
}
