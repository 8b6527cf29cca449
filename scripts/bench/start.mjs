import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../embedded/ports.mjs';
import { comparisonOf, measure } from './comparison.mjs';
import { residentMebibytes } from './memory.mjs';
import { startProgram, withServices } from './started-program.mjs';

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
  return withServices({ name: 'start', runtime, print, signal }, async ({ folder, env }) => {
    const results = [];
    for (const program of PROGRAMS) {
      /** @param {string} entry @param {NodeJS.ProcessEnv} more */
      const startOn = async (entry, more) => {
        const port = String(await freePort());
        const url = `http://127.0.0.1:${port}${program.path}`;
        return startOnce({ entry, env: { ...env, [program.port]: port, ...more }, url, folder, signal });
      };
      const sides = {
        baseline: () => startOn(join('dist', 'src', program.unbundled), { NODE_DISABLE_COMPILE_CACHE: '1' }),
        product: () => startOn(join('dist', `${program.name}.js`), {}),
      };
      results.push(...(await measureProgram(program, sides, rounds, print)));
    }
    return results;
  });
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

/** @param {Parameters<typeof startProgram>[0]} program @returns {Promise<Start>} */
async function startOnce(program) {
  const { pid, wall, stop } = await startProgram(program);
  try {
    return { wall, cpu: cpuSeconds(pid), memory: residentMebibytes(pid) };
  } finally {
    await stop();
  }
}

/** @param {number} pid */
function cpuSeconds(pid) {
  // The fields follow the name of the program, which may contain any character.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
