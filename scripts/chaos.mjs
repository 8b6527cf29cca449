#!/usr/bin/env node
// npm run chaos: puts a platform under load and faults, and checks its invariants afterwards.
import './embedded/newer-node.mjs';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos/chaos.mjs';
import { describeFault, FAULT_KINDS, makeSchedule } from './chaos/schedule.mjs';
import { ensureBuild, ensureDependencies } from './embedded/install.mjs';
import { abortedByInterruption } from './embedded/interruption.mjs';
import { prepareRuntime } from './embedded/runtime.mjs';
import { SetupError } from './embedded/setup-error.mjs';

const MINUTE = 60_000;

const HELP = `Usage: npm run chaos [-- options]

Starts a platform of its own (PostgreSQL, Redis, two APIs, two workers, local nodes), puts it under load, breaks things by a
schedule that follows from the seed, waits for its work to end and checks the invariants. Prints the schedule and the violations.

Options:
  --seed=N                 1 by default; the same seed causes the same faults at the same times
  --minutes=M              duration of the load and the faults, 2 by default; may be a fraction
  --rest=M                 maximum minutes until all work has ended, 3 by default
  --faults=a,b             only faults of these kinds: ${FAULT_KINDS.join(', ')}
  --schedule               print the schedule and do nothing
  --help                   show this

Exits with status 1 if an invariant is violated. RUNTIME_DIR (.runtime by default) holds Java and Redis.
`;

class UsageError extends Error {}

/** @param {string[]} args */
function readOptions(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  try {
    const options = { seed: text, minutes: text, rest: text, faults: text, schedule: flag, help: flag };
    const { values } = parseArgs({ args, options });
    const seed = Number(values.seed ?? 1);
    if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number.');
    const [minutes, rest] = [Number(values.minutes ?? 2), Number(values.rest ?? 3)];
    if (!(minutes > 0 && rest > 0)) throw new Error('--minutes and --rest must be positive numbers.');
    const named = values.faults?.split(',') ?? [];
    const kinds = named.length === 0 ? FAULT_KINDS : FAULT_KINDS.filter((kind) => named.includes(kind));
    if (named.length > 0 && kinds.length < named.length)
      throw new Error(`--faults may name these kinds only: ${FAULT_KINDS.join(', ')}.`);
    return { ...values, seed, kinds, lengthMs: minutes * MINUTE, minPauseMs: rest * MINUTE };
  } catch (error) {
    throw new UsageError(`${/** @type {Error} */ (error).message}\n\n${HELP}`);
  }
}

/** @returns {Promise<number>} status */
async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { seed, lengthMs, kinds } = options;
  if (options.schedule) {
    console.log(makeSchedule(seed, lengthMs, kinds).map(describeFault).join('\n'));
    return 0;
  }
  const { signal } = abortedByInterruption();
  const started = performance.now();
  /** @param {string} text @param {boolean} [transient] */
  const print = (text, transient = false) => {
    if (!transient) console.log(`[${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s] ${text}`);
  };
  let result;
  try {
    const runtime = await findRuntime(print, signal);
    result = await runChaos({ ...options, runtime, print, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    process.stderr.write(`${/** @type {Error} */ (signal.reason).message}\n`);
    return 130;
  }
  const { schedule, violations, figures } = result;
  console.log(`\nSeed ${seed}: ${JSON.stringify(figures)}`);
  if (violations.length === 0) {
    console.log(`All invariants hold after ${schedule.length} faults.`);
    return 0;
  }
  console.log(`\nThe schedule, again by --seed=${seed} --minutes=${lengthMs / MINUTE}:`);
  console.log(schedule.map(describeFault).join('\n'));
  for (const { name, count, rows } of violations) {
    console.log(`\nVIOLATED, ${count} times: ${name}`);
    for (const row of rows) console.log(`  ${JSON.stringify(row)}`);
  }
  return 1;
}

/**
 * Returns the runtime that a run of the tests prepared, or prepares one.
 * @param {import('./embedded/install.mjs').OnProgress} onProgress
 * @param {AbortSignal} signal
 * @returns {Promise<import('./embedded/runtime.mjs').Runtime>}
 */
async function findRuntime(onProgress, signal) {
  const { TEST_RUNTIME_JSON: prepared } = process.env;
  if (prepared) return JSON.parse(readFileSync(prepared, 'utf8'));
  const install = { onProgress, signal };
  await ensureDependencies(install);
  await ensureBuild(install);
  // The services are its own, whatever the environment names, because the faults would break others.
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env;
  return prepareRuntime(resolve(process.env.RUNTIME_DIR || '.runtime'), { ...install, env });
}

try {
  process.exit(await main());
} catch (error) {
  const isKnown = error instanceof UsageError || error instanceof SetupError;
  const stack = error instanceof Error ? error.stack : undefined;
  process.stderr.write(`chaos failed: ${isKnown ? error.message : (stack ?? String(error))}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
