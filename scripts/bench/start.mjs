import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { projectRoot } from '../embedded/install.mjs';
import { loadSecrets, migrate, platformEnvironment } from '../embedded/platform.mjs';
import { freePort } from '../embedded/ports.mjs';
import { tailOf } from '../embedded/processes.mjs';
import { startPostgres, startRedis } from '../embedded/services.mjs';
import { comparisonOf, measure } from './comparison.mjs';

const POLL_MS = 10;
const DEADLINE_MS = 120_000;
/** Linux reports CPU time in /proc in ticks of a hundredth of a second. */
const TICKS_PER_SECOND = 100;

/**
 * The programs to start. Each serves `path` on `port` once it is ready. `below` limits the CPU time of a start in seconds, and
 * `ratio` limits it relative to the baseline.
 */
const PROGRAMS = [
  {
    name: 'api',
    title: 'an API',
    unbundled: 'main.js',
    port: 'PORT',
    path: '/api/v1/version',
    below: 1.2,
    ratio: 0.75,
  },
  {
    name: 'worker',
    title: 'a worker',
    unbundled: 'worker.js',
    port: 'WORKER_HEALTH_PORT',
    path: '/ready',
    below: 0.8,
    ratio: 0.65,
  },
];

/**
 * The cost of a start until the process is ready: CPU time and elapsed time in seconds, resident memory in MiB.
 * @typedef {{cpu: number, wall: number, memory: number}} Start
 */

/**
 * Measures starts of API and worker on a database that is up to date, compared with the same programs unbundled and without a
 * compile cache.
 * @param {{runtime: import('../embedded/runtime.mjs').Runtime, rounds: number, print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<import('./comparison.mjs').Result[]>}
 */
export async function measureStart({ runtime, rounds, print, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'start-bench-'));
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
    const env = {
      ...platformEnvironment({ runtimeDir: folder, ...addresses, runtime, secrets: loadSecrets(folder) }),
      HOST: '127.0.0.1',
      AGENT_API_URL: 'http://127.0.0.1:9',
    };
    await migrate({ root: projectRoot, env, logFile: join(folder, 'migrate.log'), signal });
    const results = [];
    for (const program of PROGRAMS) {
      /** @param {string} entry @param {NodeJS.ProcessEnv} more */
      const startProgram = async (entry, more) => {
        const port = String(await freePort());
        return startOnce({
          entry,
          env: { ...env, [program.port]: port, ...more },
          url: `http://127.0.0.1:${port}${program.path}`,
          folder,
          signal,
        });
      };
      const sides = {
        baseline: () => startProgram(join('dist', 'src', program.unbundled), { NODE_DISABLE_COMPILE_CACHE: '1' }),
        product: () => startProgram(join('dist', `${program.name}.js`), {}),
      };
      results.push(...(await measureProgram(program, sides, rounds, print)));
    }
    return results;
  } finally {
    for (const stop of undo.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * @param {typeof PROGRAMS[number]} program
 * @param {{baseline: () => Promise<Start>, product: () => Promise<Start>}} sides
 * @param {number} rounds
 * @param {(text: string) => void} print
 */
async function measureProgram({ name, title, below, ratio }, sides, rounds, print) {
  // The first start of the product fills the cache.
  await sides.baseline();
  await sides.product();
  /** @type {{baseline: Start[], product: Start[]}} */
  const starts = { baseline: [], product: [] };
  for (let round = 1; round <= rounds; round++) {
    const [theirs, ours] = [await sides.baseline(), await sides.product()];
    starts.baseline.push(theirs);
    starts.product.push(ours);
    print(
      `start: ${name}, round ${round} of ${rounds}, CPU ${theirs.cpu.toFixed(2)} s unbundled, ${ours.cpu.toFixed(2)} s`,
    );
  }
  /** @param {keyof Start} figure @param {string} unit @param {string} what @param {number} atMost */
  const compared = (figure, unit, what, atMost) =>
    comparisonOf({
      name: `start-${name}-${figure}`,
      title: `${what} of ${title} from its start until it is ready, against the same program unbundled and without a cache`,
      unit,
      goal: { atMost },
      measured: {
        baseline: starts.baseline.map((start) => start[figure]),
        product: starts.product.map((start) => start[figure]),
      },
    });
  const cpu = compared('cpu', 's', 'CPU time', ratio);
  return [
    cpu,
    measure({
      name: `start-${name}`,
      title: `CPU time of ${title} from its start until it is ready, median`,
      unit: 's',
      goal: { below },
      value: cpu.product.median,
    }),
    compared('wall', 's', 'elapsed time', ratio),
    compared('memory', 'MiB', 'resident memory', 1.1),
  ];
}

/**
 * @param {{entry: string, env: NodeJS.ProcessEnv, url: string, folder: string, signal: AbortSignal}} options
 * @returns {Promise<Start>}
 */
async function startOnce({ entry, env, url, folder, signal }) {
  const logFile = join(folder, 'start.log');
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const child = spawn(process.execPath, [entry], { cwd: projectRoot, env, stdio: ['ignore', log, log], signal });
  closeSync(log);
  const ended = once(child, 'exit');
  ended.catch(() => {});
  try {
    while (!(await isReady(url, signal))) {
      if (child.exitCode !== null || performance.now() - started > DEADLINE_MS) {
        throw new Error(`${entry} did not become ready:\n${tailOf(logFile, 25)}`);
      }
      await delay(POLL_MS, undefined, { signal });
    }
    const wall = (performance.now() - started) / 1000;
    return { wall, ...usageOf(Number(child.pid)) };
  } finally {
    // After SIGTERM, the process ends in an orderly way and writes the cache.
    child.kill('SIGTERM');
    await ended;
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

/** @param {number} pid @returns {{cpu: number, memory: number}} seconds and MiB */
function usageOf(pid) {
  // The fields follow the name of the program, which may contain any character.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpu: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, memory: Number(kibibytes) / 1024 };
}
