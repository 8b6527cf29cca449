import { compare } from './comparison.mjs';
import { measureFunction } from './functions.mjs';
import { InteractiveRuns } from './interactive-runs.mjs';
import { measureSockets } from './kernel-sockets.mjs';
import { prepareKernels } from './kernels.mjs';
import { prepareThriftSql } from './thrift-sql.mjs';

/** Measurements of notebooks, functions and SQL that jobs serve. */
export const INTERACTIVE = ['kernel', 'printed', 'first-spark', 'function', 'thrift', 'sockets'];
/** The measurements among these that compare one kernel with another. */
const OF_KERNELS = ['kernel', 'printed', 'first-spark'];

/**
 * @typedef {import('./comparison.mjs').Result} Result
 * @typedef {{only: string[], rounds: number, print: (text: string) => void, signal: AbortSignal}} Measuring
 */

/**
 * Runs the requested measurements, and starts nothing if none is requested.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {Measuring} measuring
 */
export async function measureInteractive(platform, measuring) {
  const { only, rounds, print, signal } = measuring;
  /** @type {Result[]} */
  const results = [];
  if (!only.some((name) => INTERACTIVE.includes(name))) return results;
  const runs = new InteractiveRuns(platform, signal);
  try {
    await runs.start();
    print('The cluster of interactive work is up');
    if (only.some((name) => OF_KERNELS.includes(name))) results.push(...(await kernels(runs, measuring)));
    if (only.includes('function')) results.push(...(await measureFunction(runs, rounds)));
    if (only.includes('thrift')) results.push(...(await thrift(runs, measuring)));
    if (only.includes('sockets')) results.push(...(await measureSockets(runs)));
    return results;
  } finally {
    await runs.close();
  }
}

/** @param {InteractiveRuns} runs @param {Measuring} measuring */
async function kernels(runs, { only, rounds, print }) {
  const { echo, printed, first, close } = await prepareKernels(runs);
  /** @type {Result[]} */
  const results = [];
  try {
    if (only.includes('kernel')) results.push(...(await echo()));
    if (only.includes('printed')) {
      results.push(
        await compare({
          name: 'printed',
          title: 'a cell that prints 200,000 lines, 760 KiB, to its reply, against jupyter_client',
          unit: 's',
          goal: { atMost: 1.5 },
          ...printed,
          rounds,
          print,
        }),
      );
    }
    if (only.includes('first-spark')) {
      results.push(
        await compare({
          name: 'first-spark',
          title: 'POST of a notebook to the reply of a cell with Spark, against the same kernel by jupyter_client',
          unit: 's',
          goal: { atMost: 1.1 },
          ...first,
          rounds,
          print,
        }),
      );
    }
    return results;
  } finally {
    await close();
  }
}

/** @param {InteractiveRuns} runs @param {Measuring} measuring */
async function thrift(runs, { rounds, print }) {
  const { sides, close } = await prepareThriftSql(runs);
  /** @param {number} rows @param {number} atMost */
  const fetched = (rows, atMost) =>
    compare({
      name: `thrift-${rows}`,
      title: `1,000,000 rows by ${rows.toLocaleString('en')} from a job that serves SQL, against Spark's own server`,
      unit: 's',
      goal: { atMost },
      ...sides(rows),
      rounds,
      print,
    });
  try {
    return [await fetched(10_000, 1.5), await fetched(1_000, 3)];
  } finally {
    await close();
  }
}
