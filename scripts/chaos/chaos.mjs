import { setTimeout as delay } from 'node:timers/promises';
import { Faults } from './faults.mjs';
import { Invariants } from './invariants.mjs';
import { Load } from './load.mjs';
import { PlatformUnderChaos } from './platform-under-chaos.mjs';
import { makeSchedule } from './schedule.mjs';

const LOOK_MS = 1_000;

/**
 * @typedef {object} ChaosOptions
 * @property {number} seed
 * @property {number} lengthMs from the first request to the last fault
 * @property {number} minPauseMs the time within which all work must be finished afterwards
 * @property {readonly import('./schedule.mjs').FaultKind[]} [kinds]
 * @property {import('../embedded/runtime.mjs').Runtime} runtime
 * @property {(text: string) => void} print
 * @property {AbortSignal} signal
 *
 * @typedef {object} ChaosResult
 * @property {import('./schedule.mjs').Fault[]} schedule
 * @property {import('./invariants.mjs').Violation[]} violations
 * @property {{clusters: number, runs: number, effects: number, retries: number, cutAnswers: number, minPauseMs: number}} figures
 */

/**
 * Puts a platform of its own under load, injects the faults of a seed, waits until it is at rest and checks the invariants.
 * @param {ChaosOptions} options
 * @returns {Promise<ChaosResult>}
 */
export async function runChaos({ seed, lengthMs, minPauseMs, kinds, runtime, print, signal }) {
  const schedule = makeSchedule(seed, lengthMs, kinds);
  const platform = new PlatformUnderChaos({ runtime, print, signal });
  let holds = false;
  try {
    await platform.start();
    const load = new Load(platform, seed);
    const invariants = new Invariants(platform);
    await load.prepare();
    load.start();
    const over = new AbortController();
    const watch = watchAlways(invariants, AbortSignal.any([over.signal, signal]));
    await Promise.all([new Faults(platform).run(schedule), delay(lengthMs, undefined, { signal })]);
    print('The faults are over');
    await load.stop();
    const figures = { ...(await countsOf(platform)), effects: load.effects.length, retries: load.retries };
    const waited = await untilAtRest(invariants, minPauseMs, signal);
    over.abort();
    await watch;
    print(`At rest after ${(waited / 1000).toFixed(1)} s`);
    await invariants.atRest(load);
    await load.destroyAll();
    await untilAtRest(invariants, minPauseMs, signal);
    await invariants.atRest(load);
    await platform.stopProcesses();
    await invariants.atEnd();
    const { violations } = invariants;
    holds = violations.length === 0;
    return { schedule, violations, figures: { ...figures, cutAnswers: platform.proxy?.cut ?? 0, minPauseMs: waited } };
  } finally {
    await platform.close({ keepLogs: !holds && !signal.aborted });
  }
}

/** @param {Invariants} invariants @param {AbortSignal} signal */
async function watchAlways(invariants, signal) {
  while (!signal.aborted) {
    // While the database is down, nothing can be checked.
    await invariants.always().catch(() => {});
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Returns when no work is in progress any more, or after the deadline: then the invariants name what is left.
 * @param {Invariants} invariants @param {number} deadlineMs @param {AbortSignal} signal
 */
async function untilAtRest(invariants, deadlineMs, signal) {
  const started = performance.now();
  const waited = () => performance.now() - started;
  while (waited() < deadlineMs && !(await invariants.isAtRest())) await delay(LOOK_MS, undefined, { signal });
  return waited();
}

/** @param {PlatformUnderChaos} platform */
async function countsOf(platform) {
  const [counts] = await platform.sql(
    'SELECT (SELECT count(*)::int FROM clusters) AS clusters, (SELECT count(*)::int FROM runs) AS runs',
  );
  return counts;
}
