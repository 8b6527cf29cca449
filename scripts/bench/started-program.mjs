import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../embedded/install.mjs';
import { withOwnServices } from '../embedded/own-services.mjs';
import { loadSecrets, migrate, platformEnvironment } from '../embedded/platform.mjs';
import { tailOf } from '../embedded/processes.mjs';

const POLL_MS = 10;
const DEADLINE_MS = 120_000;

/** @typedef {{folder: string, env: NodeJS.ProcessEnv}} Place where a program of the platform can be started, with a database that is up to date */
/** @typedef {{pid: number, wall: number, stop: () => Promise<void>}} Started `wall` is the time until it was ready, seconds */

/**
 * Starts PostgreSQL and Redis for the time of `use`.
 * @template T
 * @param {{name: string, runtime: import('../embedded/runtime.mjs').Runtime, print: (text: string) => void, signal: AbortSignal}} options
 * @param {(place: Place) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withServices({ name, runtime, print, signal }, use) {
  return withOwnServices({ prefix: `${name}-bench-`, runtime, print, signal }, async ({ folder, ...addresses }) => {
    for (const part of ['data', 'nodes']) mkdirSync(join(folder, part), { mode: 0o700 });
    const env = {
      ...platformEnvironment({ runtimeDir: folder, ...addresses, runtime, secrets: loadSecrets(folder) }),
      HOST: '127.0.0.1',
      AGENT_API_URL: 'http://127.0.0.1:9',
    };
    await migrate({ root: projectRoot, env, logFile: join(folder, 'migrate.log'), signal });
    return use({ folder, env });
  });
}

/**
 * Starts a program and waits until `url` answers 200.
 * @param {Place & {entry: string, url: string, signal: AbortSignal}} options `entry` is relative to the project
 * @returns {Promise<Started>}
 */
export async function startProgram({ entry, env, url, folder, signal }) {
  const logFile = join(folder, 'program.log');
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const child = spawn(process.execPath, [entry], { cwd: projectRoot, env, stdio: ['ignore', log, log], signal });
  closeSync(log);
  const ended = once(child, 'exit');
  ended.catch(() => {});
  // After SIGTERM, the process ends in an orderly way and writes the cache of compiled code.
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    while (!(await isReady(url, signal))) {
      if (child.exitCode !== null || performance.now() - started > DEADLINE_MS) {
        throw new Error(`${entry} did not become ready:\n${tailOf(logFile, 25)}`);
      }
      await delay(POLL_MS, undefined, { signal });
    }
    return { pid: Number(child.pid), wall: (performance.now() - started) / 1000, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {string} url @param {AbortSignal} signal */
async function isReady(url, signal) {
  try {
    return (await fetch(url, { signal })).status === 200;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
