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
export async function prepareSqlClient(runtimeDir, runtime, options) {
  return environment(join(resolve(runtimeDir), 'sql-client'), 'impyla', runtime, options);
}

/**
 * Installs what the Python SDK needs, and what builds and tests it, in `$runtimeDir/python-sdk`, once for each version.
 * @type {typeof prepareSqlClient}
 */
export async function preparePythonSdk(runtimeDir, runtime, options) {
  return environment(join(resolve(runtimeDir), 'python-sdk'), ['python-sdk', 'impyla', 'frames'], runtime, options);
}

/**
 * Installs Airflow, and what the Python SDK needs beside it, in `$runtimeDir/airflow`, once for each version.
 * @type {typeof prepareSqlClient}
 */
export async function prepareAirflow(runtimeDir, runtime, options) {
  return environment(join(resolve(runtimeDir), 'airflow'), 'airflow', runtime, options);
}

/**
 * Installs Dagster, and what the Python SDK needs beside it, in `$runtimeDir/dagster`, once for each version.
 * @type {typeof prepareSqlClient}
 */
export async function prepareDagster(runtimeDir, runtime, options) {
  return environment(join(resolve(runtimeDir), 'dagster'), 'dagster', runtime, options);
}

/**
 * @param {string} folder
 * @param {Parameters<typeof environmentOnce>[1]} sets
 * @param {Parameters<typeof prepareSqlClient>[1]} runtime
 * @param {Parameters<typeof prepareSqlClient>[2]} options
 */
async function environment(folder, sets, { python }, { onProgress, signal, env = process.env } = {}) {
  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(join(folder, 'install.lock'), { signal });
  try {
    const options = { logFile: join(folder, 'install.log'), env, onProgress, signal };
    return join(await environmentOnce(folder, sets, python, options), 'bin', 'python');
  } finally {
    lock.release();
  }
}
