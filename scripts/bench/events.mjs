import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { login } from '../demo/session.mjs';
import { projectRoot } from '../embedded/install.mjs';
import { loadSecrets, migrate, platformEnvironment } from '../embedded/platform.mjs';
import { freePort } from '../embedded/ports.mjs';
import { tailOf } from '../embedded/processes.mjs';
import { startPostgres, startRedis } from '../embedded/services.mjs';
import { measure } from './comparison.mjs';

const LISTENERS = 1_000;
const MAX_MIB = 128;
const START_MS = 120_000;
const ANSWER_MS = 60_000;
/** Two comments that keep streams alive come meanwhile, so the figure holds for streams that are in use. */
const SETTLE_MS = 35_000;

/**
 * Measures how much larger an API becomes by streams of events.
 * @param {{runtime: import('../embedded/runtime.mjs').Runtime, print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<import('./comparison.mjs').Result[]>}
 */
export async function measureEvents({ runtime, print, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'events-bench-'));
  // If root runs this, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  try {
    const postgres = await startPostgres(folder, { signal, onExit: print });
    undo.push(() => postgres.stop());
    const redis = await startRedis(folder, runtime, { signal, onExit: print });
    undo.push(() => redis.stop());
    for (const name of ['data', 'nodes']) mkdirSync(join(folder, name), { mode: 0o700 });
    const addresses = { databaseUrl: postgres.url, redisUrl: redis.url };
    const port = await freePort();
    const env = {
      ...platformEnvironment({ runtimeDir: folder, ...addresses, runtime, secrets: loadSecrets(folder) }),
      HOST: '127.0.0.1',
      PORT: String(port),
      AGENT_API_URL: 'http://127.0.0.1:9',
      HTTP_MAX_STREAMS: String(LISTENERS + 1),
      HTTP_MAX_STREAMS_PER_CALLER: String(LISTENERS + 1),
    };
    await migrate({ root: projectRoot, env, logFile: join(folder, 'migrate.log'), signal });
    const api = await startApi(env, folder, signal);
    undo.push(api.stop);
    const password = String(env.BOOTSTRAP_ADMIN_PASSWORD);
    const { token } = await login({ baseUrl: api.url, username: 'admin', password, signal });
    // The first stream loads what all of them need.
    const streams = [await open(api.url, token)];
    await delay(2_000, undefined, { signal });
    const before = residentMiB(api.pid);
    while (streams.length <= LISTENERS - 1) streams.push(await open(api.url, token));
    await delay(SETTLE_MS, undefined, { signal });
    const after = residentMiB(api.pid);
    const alive = streams.filter((stream) => !stream.closed).length;
    for (const stream of streams) stream.destroy();
    if (alive < LISTENERS) throw new Error(`Only ${alive} of ${LISTENERS} streams of events stayed open.`);
    print(`events: ${before.toFixed(0)} MiB with one stream, ${after.toFixed(0)} MiB with ${LISTENERS}`);
    return [
      measure({
        name: 'events-memory',
        title: `resident memory that ${LISTENERS.toLocaleString('en')} streams of events add to an API`,
        unit: 'MiB',
        goal: { below: MAX_MIB },
        value: after - before,
      }),
    ];
  } finally {
    for (const stop of undo.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** @param {NodeJS.ProcessEnv} env @param {string} folder @param {AbortSignal} signal */
async function startApi(env, folder, signal) {
  const logFile = join(folder, 'api.log');
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [join('dist', 'api.js')], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', log, log],
    signal,
  });
  closeSync(log);
  const ended = once(child, 'exit');
  ended.catch(() => {});
  const url = `http://127.0.0.1:${env.PORT}`;
  const started = performance.now();
  while (!(await fetch(`${url}/api/v1/version`, { signal }).catch(() => null))?.ok) {
    signal.throwIfAborted();
    if (child.exitCode !== null || performance.now() - started > START_MS) {
      throw new Error(`The API did not become ready:\n${tailOf(logFile, 25)}`);
    }
    await delay(100, undefined, { signal });
  }
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, pid: Number(child.pid), stop };
}

/** @param {string} baseUrl @param {string | null} token @returns {Promise<import('node:http').IncomingMessage>} */
async function open(baseUrl, token) {
  const sent = request(`${baseUrl}/api/v1/events`, {
    agent: false,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ANSWER_MS + SETTLE_MS * 4),
  });
  sent.on('error', () => {}).end();
  const [response] = await once(sent, 'response', { signal: AbortSignal.timeout(ANSWER_MS) });
  if (response.statusCode !== 200) throw new Error(`GET /events was answered ${response.statusCode}.`);
  return response.on('error', () => {}).resume();
}

/** @param {number} pid */
function residentMiB(pid) {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) / 1024;
}
