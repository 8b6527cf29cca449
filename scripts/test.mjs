#!/usr/bin/env node
// npm test runs every check of the project and works from a fresh clone. Phases run in parallel as far as the machine has
// cores. Failures are printed again at the end, so that a truncated log still has them.
import './embedded/newer-node.mjs';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { ensureDependencies, projectRoot } from './embedded/install.mjs';
import { TestServices } from './embedded/test-services.mjs';
import { withDeadline } from './embedded/deadline.mjs';

const MINUTE = 60_000;
const OVERALL_LIMIT = 58 * MINUTE;
const LONG_LIMIT = 180 * MINUTE;

/** Characters of a failed command's output that are printed. */
const OUTPUT_KEPT = 200_000;

/** Tests wait for servers, and servers for each other, often enough for two processes on each core. */
const PROCESSES_AT_ONCE = 2 * Math.max(availableParallelism(), 2);

/** Characters of a failure that are printed at the end, and the number of failures. */
const FAILURE_KEPT = 3_000;
const FAILURES_KEPT = 20;

/** @typedef {{passed: number, failed: number}} Counts */
/** @typedef {import('./embedded/test-services.mjs').Need} Need */
/** @typedef {{fullName: string, status: string, failureMessages: string[]}} TestResult of a jest report */

/**
 * @typedef {object} Phase
 * @property {string} name
 * @property {number} limit milliseconds
 * @property {number} processes that it keeps busy; 0 for a phase that waits or may wait
 * @property {readonly string[]} [after] phases that must have ended
 * @property {readonly string[]} [needs] auxiliary phases that it depends on
 * @property {boolean} [quick]
 * @property {boolean} [long]
 * @property {boolean} [auxiliary] prepares the needs of other phases; counts only if it fails
 * @property {(step: Step) => Promise<Counts | void>} action
 */

/**
 * Loading modules makes much garbage. With V8's small initial heap it would be collected again and again, by threads that
 * compete with other tests for the processors. Jest's workers inherit these flags.
 */
const JEST_FLAGS = ['--single-threaded', '--initial-old-space-size=600'];

/** Files of e2e whose nodes run Spark. Features that Spark 4 lacks, such as turbo, have files of their own. */
const SPARK_FILES =
  'e2e/(cluster-sizes|console-sql|daemons|functions|job-.*|jobs|kernel-bridge|node-load|notebooks|thrift-sql|warm-drivers)[.]';

/** Files of stores whose nodes run Spark. Spark 4.3 has no Delta and no Iceberg yet, so the others stay with the quickstart's Spark. */
const SPARK_STORE_FILES = 'stores/(cloud-mounts|mounts)[.]';

/** Phases in the order in which they begin, as far as there is room; the longest come first. @type {Phase[]} */
const PHASES = [
  // Its limit covers the download of Java and Spark.
  {
    name: 'runtime',
    limit: 20 * MINUTE,
    processes: 0,
    auxiliary: true,
    action: (step) => step.prepare('runtime', 'services', 'ldap', 'kerberos', 'sql-client', 'python-sdk'),
  },
  // Its limit covers the build of fake-gcs-server.
  {
    name: 'store-servers',
    limit: 20 * MINUTE,
    processes: 0,
    auxiliary: true,
    needs: ['runtime'],
    action: (step) => step.prepare('stores'),
  },
  // Its limit covers the build of MinIO.
  {
    name: 'minio',
    limit: 30 * MINUTE,
    processes: 0,
    auxiliary: true,
    long: true,
    needs: ['runtime'],
    action: (step) => step.prepare('minio'),
  },
  { name: 'audit', limit: 3 * MINUTE, processes: 0, action: (step) => step.audit() },
  { name: 'build', limit: 10 * MINUTE, processes: 1, action: (step) => step.build() },
  staticPhase('lint', 10, ['oxlint', '-c', 'oxlint.config.mjs']),
  {
    name: 'unit',
    limit: 25 * MINUTE,
    processes: 2,
    quick: true,
    // Jest restarts a worker that has grown beyond the limit.
    action: (step) => step.jest('unit', ['--maxWorkers=2', '--workerIdleMemoryLimit=1GB']),
  },
  staticPhase('format', 15, ['oxfmt', '--check']),
  staticPhase('boundaries', 15, [
    'depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'libs',
    'sdk/typescript/src',
    'console/src',
  ]),
  staticPhase('deadcode', 15, ['knip', '--no-progress']),
  {
    name: 'openapi',
    limit: 10 * MINUTE,
    processes: 1,
    after: ['build'],
    action: (step) => step.built('dist/openapi.js', ['--check']),
  },
  {
    name: 'medium',
    limit: 40 * MINUTE,
    processes: 2,
    needs: ['runtime'],
    action: (step) => step.jest('medium', ['--maxWorkers=2'], ['services', 'runtime', 'ldap']),
  },
  {
    name: 'e2e',
    limit: 45 * MINUTE,
    processes: 2,
    after: ['build'],
    needs: ['runtime'],
    action: (step) => {
      const long = /** @type {Need[]} */ (step.run.long ? ['airflow', 'dagster'] : []);
      const needs = /** @type {Need[]} */ (['services', 'runtime', 'sql-client', 'python-sdk', 'clouds', 'build']);
      return step.jest('e2e', ['--maxWorkers=2'], [...needs, ...long]);
    },
  },
  // Shows on the newest Spark 4 what the phase e2e shows on the quickstart's Spark.
  {
    name: 'spark-4',
    limit: 30 * MINUTE,
    processes: 2,
    long: true,
    after: ['build'],
    needs: ['runtime'],
    action: (step) => {
      const needs = /** @type {Need[]} */ (['services', 'spark-4', 'sql-client', 'python-sdk', 'clouds', 'build']);
      return step.jest('e2e', ['--maxWorkers=2', '--testPathIgnorePatterns=[.]long[.]'], needs, SPARK_FILES);
    },
  },
  // Shows the same of the phase stores.
  {
    name: 'spark-4-stores',
    limit: 30 * MINUTE,
    processes: 2,
    long: true,
    after: ['build'],
    needs: ['runtime', 'store-servers'],
    action: (step) => step.jest('stores', ['--maxWorkers=2'], ['services', 'spark-4', 'stores'], SPARK_STORE_FILES),
  },
  {
    name: 'attacks',
    limit: 30 * MINUTE,
    processes: 2,
    after: ['build'],
    needs: ['runtime'],
    action: (step) => step.jest('attacks', ['--maxWorkers=2'], ['services', 'runtime', 'build']),
  },
  {
    name: 'migrations',
    limit: 10 * MINUTE,
    processes: 1,
    after: ['build'],
    needs: ['runtime'],
    action: (step) => step.migrationDrift(),
  },
  // Its tests wait most of the time, so at the end of a run they would leave the processors idle.
  {
    name: 'clouds',
    limit: 30 * MINUTE,
    processes: 2,
    after: ['build'],
    needs: ['runtime'],
    action: (step) => step.jest('clouds', ['--maxWorkers=2'], ['services', 'runtime', 'clouds', 'build']),
  },
  {
    name: 'stores',
    limit: 30 * MINUTE,
    processes: 2,
    after: ['build'],
    needs: ['runtime', 'store-servers'],
    action: (step) => step.jest('stores', ['--maxWorkers=2'], ['services', 'runtime', 'stores', 'kerberos', 'build']),
  },
  {
    name: 'minio-stores',
    limit: 30 * MINUTE,
    processes: 2,
    long: true,
    after: ['build'],
    needs: ['runtime', 'minio'],
    action: (step) => {
      const others = ['azure', 'gcs', 'cloud-mounts'].map((name) => `--testPathIgnorePatterns=/${name}[.]stores-spec`);
      return step.jest('stores', ['--maxWorkers=2', ...others], ['services', 'runtime', 'minio', 'build']);
    },
  },
];

const HELP = `Usage: npm test [-- options]

Runs every check of the project, and with options some. The last line is "N passed, N failed": a static check counts as one, a
phase of tests by its tests.

Options:
  --quick               only format, lint (which checks the types), boundaries, dead code and unit tests: npm run check
  --long                also the slow checks: npm run test:long
  --only=unit,medium    only these phases, with what they need
  --match=pattern       in medium, attacks, stores, clouds and e2e, only the files whose path matches
  --seed=number         orders the test files as in an earlier run, which printed this number
  --help                show this

Phases: ${PHASES.map(({ name }) => name).join(', ')}
`;

/**
 * @param {string} name
 * @param {number} minutes
 * @param {string[]} command
 * @returns {Phase}
 */
function staticPhase(name, minutes, [binary = '', ...args]) {
  const action = (/** @type {Step} */ step) => step.program(join('node_modules', '.bin', binary), args);
  return { name, limit: minutes * MINUTE, processes: 1, quick: true, action };
}

/** A failed check whose output is already printed. */
class CheckFailed extends Error {}

/** The shared state of the phases of a run. */
class Run {
  /** @param {AbortSignal} signal @param {{match?: string, long?: boolean, seed: number}} options */
  constructor(signal, { match, long = false, seed }) {
    this.signal = signal;
    this.match = match;
    this.seed = seed;
    this.long = long;
    this.services = new TestServices({ signal, onProgress: (text) => console.log(text) });
    /** Failures to print at the end. @type {string[]} */
    this.failures = [];
    if (long) this.services.env.TEST_LONG = '1';
  }

  /** @param {Phase} phase @returns {Promise<Counts>} */
  async phase(phase) {
    const { name, auxiliary = false } = phase;
    console.log(`== ${name} begins`);
    const started = Date.now();
    const step = new Step(this, phase);
    let result;
    try {
      result = (await step.untilLimit(phase.action(step))) ?? { passed: auxiliary ? 0 : 1, failed: 0 };
    } catch (error) {
      result = { passed: 0, failed: 1 };
      if (!(error instanceof CheckFailed)) step.fail(step.describe(error));
    }
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const counts = auxiliary && result.failed === 0 ? 'ready' : `${result.passed} passed, ${result.failed} failed`;
    const cpu = step.cpuSeconds > 0 ? `, ${step.cpuSeconds.toFixed(1)} s of CPU` : '';
    console.log(`== ${name}: ${counts} (${seconds} s${cpu})`);
    return result;
  }
}

/** A phase that runs: its commands, its time limit and its output. */
class Step {
  /** @param {Run} run @param {Phase} phase */
  constructor(run, { name, limit }) {
    this.run = run;
    this.name = name;
    // Long tests take many times as long in the same phases.
    this.limit = run.long ? 2 * limit : limit;
    this.signal = withDeadline(this.limit, run.signal);
    /** The CPU time of its commands and their children. Servers that the run shares are not counted. */
    this.cpuSeconds = 0;
  }

  /** @param {string} text */
  say(text) {
    for (const line of text.split('\n')) console.log(`${this.name} | ${line}`);
  }

  /** Prints a failure now and once more at the end. @param {string} text */
  fail(text) {
    this.say(text);
    this.note(text);
  }

  /** Keeps a failure for the end. @param {string} text */
  note(text) {
    this.run.failures.push(`${this.name}: ${stripVTControlCharacters(text).trim().slice(0, FAILURE_KEPT)}`);
  }

  /**
   * Returns the result of the work, or rejects when its time is over.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  async untilLimit(work) {
    work.catch(() => {});
    await Promise.race([work, this.#afterGracePeriod()]);
    return work;
  }

  /** Rejects 15 s after the signal: work that respects the signal reports by itself how it ended. */
  async #afterGracePeriod() {
    if (!this.signal.aborted) await once(this.signal, 'abort');
    await delay(15_000, undefined, { ref: false });
    this.signal.throwIfAborted();
  }

  /** @param {unknown} error @returns {string} */
  describe(error) {
    if (this.run.signal.aborted) return messageOf(this.run.signal.reason);
    if (this.signal.aborted) return `Not done within ${this.limit / MINUTE} minutes.`;
    if (!(error instanceof Error)) return String(error);
    return error.name === 'SetupError' ? error.message : (error.stack ?? error.message);
  }

  /** @param {Need[]} needs */
  async prepare(...needs) {
    await this.run.services.variables(...needs);
  }

  /**
   * Runs a Node program; its output is printed as it comes if `live`, else only if it fails.
   * @param {string[]} args @param {{env?: Record<string, string>, live?: boolean}} [options]
   * @returns {Promise<number | string>} status, or the signal that ended it
   */
  async node(args, { env = {}, live = false } = {}) {
    const onLine = live ? (/** @type {string} */ line) => this.say(line) : undefined;
    const options = { env: { ...this.run.services.env, ...env }, onLine, signal: this.signal };
    const { code, output, cpuSeconds } = await execute(process.execPath, args, options);
    this.cpuSeconds += cpuSeconds;
    if (code !== 0 && !live) this.fail(output.trimEnd());
    return code;
  }

  /** @param {string} file @param {string[]} args @param {Record<string, string>} [env] */
  async program(file, args, env) {
    if ((await this.node([file, ...args], { env })) !== 0) throw new CheckFailed(file);
  }

  /**
   * @param {string} project
   * @param {string[]} args
   * @param {Need[]} [needs]
   * @param {string} [files] a regular expression for the paths of the files, unless the run itself has one
   * @returns {Promise<Counts>}
   */
  async jest(project, args, needs = [], files = undefined) {
    const lateErrors = join(this.run.services.folder, `late-errors-${this.name}`);
    const env = { ...(await this.run.services.variables(...needs)), TEST_LATE_ERRORS: lateErrors };
    const report = join(this.run.services.folder, `report-${this.name}.json`);
    rmSync(report, { force: true });
    const seed = `--seed=${this.run.seed}`;
    const options = ['--selectProjects', project, '--ci', seed, '--json', `--outputFile=${report}`, ...args];
    const paths = project === 'unit' ? undefined : (this.run.match ?? files);
    const match = paths ? ['--testPathPatterns', paths] : [];
    /** @type {number | string | null} */
    let code;
    try {
      const jest = join('node_modules', '.bin', 'jest');
      code = await this.node([...JEST_FLAGS, jest, ...options, ...match], { env, live: true });
    } catch (error) {
      this.fail(this.describe(error));
      code = null;
    }
    const counts = this.countOf(report, code);
    return this.hasLateErrors(lateErrors) ? { ...counts, failed: counts.failed + 1 } : counts;
  }

  /** True if errors came after the end of a test file, which Jest does not count; see test/runtime. @param {string} file */
  hasLateErrors(file) {
    if (!existsSync(file)) return false;
    this.fail(`These errors came after the end of a test file:\n${readFileSync(file, 'utf8')}`);
    return true;
  }

  /**
   * Counts a jest report. A suite that could not run and a skipped test are failures: no test is left out silently.
   * @param {string} report
   * @param {number | string | null} code null if this script ended jest
   * @returns {Counts}
   */
  countOf(report, code) {
    let result;
    try {
      result = JSON.parse(readFileSync(report, 'utf8'));
    } catch {
      this.fail(`jest ended with ${code ?? 'our signal'} and left no report.`);
      return { passed: 0, failed: 1 };
    }
    const skipped = result.numPendingTests + result.numTodoTests;
    if (skipped > 0) this.fail(`${skipped} tests were skipped.`);
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites + skipped;
    this.noteFailedTests(result);
    if (code !== 0 && failed === 0) this.fail(`jest ended with ${code ?? 'our signal'} although no test failed.`);
    return { passed: result.numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) };
  }

  /** @param {{testResults: {name: string, status: string, message: string, assertionResults: TestResult[]}[]}} report */
  noteFailedTests({ testResults }) {
    for (const { name, status, message, assertionResults } of testResults) {
      const file = relative(projectRoot, name);
      const failed = assertionResults.filter((test) => test.status === 'failed');
      for (const { fullName, failureMessages } of failed)
        this.note(`${file}: ${fullName}\n${failureMessages.join('\n')}`);
      if (status === 'failed' && failed.length === 0) this.note(`${file} could not run.\n${message}`);
    }
  }

  /** Fails if the advisories cannot be read, because then nothing is known about the packages. @returns {Promise<Counts>} */
  async audit() {
    const { auditProduction } = await import('./audit.mjs');
    const { unread, serious, others } = await auditProduction({ signal: this.signal, env: this.run.services.env });
    if (unread) {
      this.say(`The advisories could not be read, so nothing was audited: ${unread}`);
      return { passed: 0, failed: 0 };
    }
    if (others > 0) this.say(`${others} packages have advisories of low or moderate severity: npm audit --omit=dev`);
    for (const line of serious) this.fail(line);
    return serious.length > 0 ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
  }

  async build() {
    await this.prepare('build');
  }

  /** Runs a program of dist, which is built from the current sources. @param {string} file @param {string[]} args */
  async built(file, args) {
    await this.prepare('build');
    await this.program(file, args);
  }

  async migrationDrift() {
    const { TEST_DATABASE_ADMIN_URL: adminUrl = '' } = await this.run.services.variables('services', 'build');
    const url = new URL(adminUrl);
    url.pathname = '/migration_drift';
    await sql(adminUrl, 'CREATE DATABASE migration_drift');
    try {
      await this.program('dist/migrate.js', ['--check-drift'], { DATABASE_URL: url.href });
    } finally {
      await sql(adminUrl, 'DROP DATABASE IF EXISTS migration_drift WITH (FORCE)');
    }
  }
}

/** @param {unknown} error @returns {string} */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs a command in a process group of its own to the end of its first process; an abort ends the group. Output of other
 * processes of the group is not awaited: a process that a test left behind may keep the output open forever.
 * @param {string} command
 * @param {string[]} args
 * @param {{env: NodeJS.ProcessEnv, onLine?: (line: string) => void, signal: AbortSignal}} options
 * @returns {Promise<{code: number | string, output: string, cpuSeconds: number}>} exit status or name of the signal, and the
 *   last part of the output
 */
async function execute(command, args, { env, onLine, signal }) {
  signal.throwIfAborted();
  // Node does not report the CPU time of a child's own children, so a shell runs the command and prints its `times`. The
  // shell traps signals, so that it still does so when the whole group is signalled.
  const shellArgs = ['-c', 'trap : HUP INT TERM; "$@"; code=$?; times >&3; exit $code', 'sh', command, ...args];
  const child = spawn('sh', shellArgs, {
    cwd: projectRoot,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, stdout, stderr, times] = /** @type {import('node:stream').Readable[]} */ (child.stdio);
  if (!stdout || !stderr || !times) throw new Error('The shell was started without pipes.');
  let timesText = '';
  times.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => (timesText += chunk));
  let output = '';
  for (const stream of [stdout, stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
      output = (output + chunk).slice(-OUTPUT_KEPT);
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
  }
  /** @type {NodeJS.Timeout | undefined} */
  let force;
  const onAbort = () => {
    signalGroup(child.pid, 'SIGTERM');
    force = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), 10_000);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const closed = once(child, 'close');
    const [code, signalName] = await once(child, 'exit');
    await Promise.race([closed, delay(2_000, undefined, { ref: false })]);
    signal.throwIfAborted();
    return { code: code ?? signalName, output, cpuSeconds: cpuSecondsOf(timesText) };
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(force);
    for (const stream of [stdout, stderr, times]) stream.destroy();
  }
}

/**
 * @param {string} text output of the shell's `times`, such as `1m2.5s 0m0.3s`: user and system time, a line for the shell and
 *   one for its children
 */
function cpuSecondsOf(text) {
  const times = [...text.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** @param {number | undefined} groupId @param {NodeJS.Signals} signal */
function signalGroup(groupId, signal) {
  if (groupId === undefined) return;
  try {
    process.kill(-groupId, signal);
  } catch {
    // The group is gone.
  }
}

/** @param {string} url @param {string} statement */
async function sql(url, statement) {
  const { Client } = createRequire(join(projectRoot, 'package.json'))('pg');
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the phases to run, or null for --help. */
function selectPhases() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      long: { type: 'boolean' },
      only: { type: 'string' },
      match: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return null;
  const only = values.only?.split(',').filter(Boolean);
  const unknown = only?.find((name) => !PHASES.some((phase) => phase.name === name));
  if (only?.length === 0) throw new Error(`--only names no phase; there are ${PHASES.map((p) => p.name).join(', ')}.`);
  if (unknown) throw new Error(`There is no phase ${unknown}; there are ${PHASES.map((p) => p.name).join(', ')}.`);
  const isUsual = (/** @type {Phase} */ { quick, long }) => (values.quick ? quick : values.long || !long);
  const wanted = PHASES.filter((phase) => (only ? only.includes(phase.name) : isUsual(phase)));
  const needed = new Set(wanted.flatMap(({ name, needs = [] }) => [name, ...needs]));
  const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
  if (!Number.isSafeInteger(seed)) throw new Error(`--seed must be a whole number, not ${values.seed}.`);
  return { phases: PHASES.filter(({ name }) => needed.has(name)), match: values.match, long: values.long, seed };
}

/**
 * Runs the phases side by side: each begins when the phases it waits for have ended, in the order given, as far as there is room.
 * A phase that needs a failed auxiliary phase fails without having begun.
 * @param {Run} run
 * @param {Phase[]} phases
 * @returns {Promise<Counts>}
 */
async function runPhases(run, phases) {
  const total = { passed: 0, failed: 0 };
  const add = (/** @type {Counts} */ { passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
  };
  const waiting = [...phases];
  /** @type {Map<Phase, Promise<void>>} */
  const running = new Map();
  const isAbout = (/** @type {string} */ name) => [...waiting, ...running.keys()].some((phase) => phase.name === name);
  const isNext = (/** @type {Phase} */ { processes, after = [], needs = [] }) => {
    const busy = [...running.keys()].reduce((sum, phase) => sum + phase.processes, 0);
    return busy + processes <= PROCESSES_AT_ONCE && ![...after, ...needs].some(isAbout);
  };
  const begin = (/** @type {Phase} */ phase) => {
    waiting.splice(waiting.indexOf(phase), 1);
    const ended = run.phase(phase).then((counts) => {
      add(counts);
      running.delete(phase);
    });
    running.set(phase, ended);
  };
  try {
    // Java, Spark and Python need no Node packages, whose installation leaves half of the processors idle.
    if (waiting.some(({ name }) => name === 'runtime')) run.services.variables('runtime').catch(() => {});
    await ensureDependencies({
      signal: run.signal,
      onProgress: (text, transient) => (transient ? undefined : console.log(text)),
    });
    mkdirSync(join(projectRoot, 'dist'), { recursive: true });
    // Several phases read the generated sources; in a fresh clone there is only scripts at first.
    (await import('../sdk/typescript/generate.mjs')).ensureGenerated();
    while (!run.signal.aborted && waiting.length + running.size > 0) {
      for (let phase = waiting.find(isNext); phase; phase = waiting.find(isNext)) begin(phase);
      await Promise.race(running.values());
    }
    await Promise.all(running.values());
  } catch (error) {
    run.failures.push(messageOf(error));
    add({ passed: 0, failed: 1 });
  } finally {
    const left = await run.services.close();
    if (left > 0) run.failures.push(`${left} processes were left running.`);
    add({ passed: 0, failed: left > 0 ? 1 : 0 });
  }
  if (run.signal.aborted && total.failed === 0) total.failed = 1;
  return total;
}

async function main() {
  let selection;
  try {
    selection = selectPhases();
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${HELP}`);
    return 2;
  }
  if (!selection) {
    process.stdout.write(HELP);
    return 0;
  }
  const controller = new AbortController();
  const stop = (/** @type {string} */ reason) => controller.abort(new Error(reason));
  const limit = selection.long ? LONG_LIMIT : OVERALL_LIMIT;
  const timer = setTimeout(() => stop(`Not done within ${limit / MINUTE} minutes.`), limit);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => stop(`Interrupted by ${signal}.`));
  }
  const run = new Run(controller.signal, selection);
  console.log(`To repeat the order of test files, pass --seed=${run.seed}`);
  const { passed, failed } = await runPhases(run, selection.phases);
  clearTimeout(timer);
  for (const failure of run.failures.slice(0, FAILURES_KEPT)) console.log(`\nFAILED ${failure}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
