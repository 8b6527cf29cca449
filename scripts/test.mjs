#!/usr/bin/env node
// npm test: every check of the project, from a fresh clone on; `npm run check` is the quick part of it.
//   --quick               format, lint, types, boundaries, dead code and unit tests
//   --only=unit,medium    these phases, with what they need
//   --match=pattern       of medium, attacks, stores and e2e, the files whose path matches
// Closes with `N passed, N failed`: a static check counts as one, a phase of tests as its tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuild, ensureDependencies, projectRoot } from './embedded/install.mjs';
import { endProcess, processRef } from './embedded/processes.mjs';

const MINUTE = 60_000;
const OVERALL_LIMIT = 58 * MINUTE;

/** Characters of a failed command's output that are shown. */
const OUTPUT_KEPT = 200_000;

/** Variables of a developer's shell that would make the run depend on it. */
const FOREIGN_VARIABLES = ['DATABASE_URL', 'REDIS_URL', 'PORT', 'HOST', 'NODE_ENV', 'PRODUCT_NAME', 'RUNTIME_DIR'];

/**
 * @typedef {{passed: number, failed: number}} Counts
 *
 * @typedef {object} Phase
 * @property {string} name
 * @property {number} limit milliseconds
 * @property {boolean} [quick]
 * @property {boolean} [auxiliary] prepares what later phases need; counts only when it fails
 * @property {(run: Run) => Promise<unknown>} action answers Counts if it is not auxiliary
 */

/** @type {Phase[]} */
const PHASES = [
  staticPhase('format', 2, ['prettier', '--check', '--log-level=warn', '.']),
  staticPhase('lint', 5, ['eslint', '--max-warnings=0', '.']),
  staticPhase('types', 5, ['tsc', '--noEmit', '-p', 'tsconfig.json']),
  staticPhase('boundaries', 2, ['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'libs']),
  staticPhase('deadcode', 2, ['knip', '--no-progress']),
  { name: 'unit', limit: 10 * MINUTE, quick: true, action: (run) => run.jest('unit', ['--testTimeout=20000']) },
  { name: 'audit', limit: 3 * MINUTE, action: (run) => run.audit() },
  { name: 'build', limit: 5 * MINUTE, action: (run) => run.check(() => run.build()) },
  { name: 'openapi', limit: MINUTE, action: (run) => run.check(() => run.openapiDrift()) },
  // Its limit covers the download of Java and Spark.
  { name: 'runtime', limit: 20 * MINUTE, auxiliary: true, action: (run) => run.needServices() },
  { name: 'migrations', limit: 2 * MINUTE, action: (run) => run.check(() => run.migrationDrift()) },
  { name: 'medium', limit: 25 * MINUTE, action: (run) => run.medium() },
  { name: 'attacks', limit: 20 * MINUTE, action: (run) => run.attacks() },
  // Its limit covers the build of MinIO.
  { name: 'store-servers', limit: 20 * MINUTE, auxiliary: true, action: (run) => run.needStoreServers() },
  { name: 'stores', limit: 20 * MINUTE, action: (run) => run.stores() },
  { name: 'e2e', limit: 45 * MINUTE, action: (run) => run.e2e() },
];

/** Phases that only prepare, and the phases they prepare for. @type {Record<string, string[]>} */
const PREPARED = {
  runtime: ['migrations', 'medium', 'attacks', 'store-servers', 'stores', 'e2e'],
  'store-servers': ['stores', 'e2e'],
};

/** @param {string} name @param {number} minutes @param {[string, ...string[]]} command of node_modules/.bin @returns {Phase} */
function staticPhase(name, minutes, [binary, ...args]) {
  return { name, limit: minutes * MINUTE, quick: true, action: (run) => run.check(() => run.tool(binary, args)) };
}

/** A check that did not hold; its output is already printed. */
class CheckFailed extends Error {}

class Run {
  /** @type {{stop: () => Promise<unknown>}[]} */
  services = [];
  built = false;
  /** @type {ReturnType<Run['startServices']> | undefined} */
  starting;
  /** @type {ReturnType<Run['startStores']> | undefined} */
  startingStores;

  /** @param {AbortSignal} signal @param {string | undefined} match */
  constructor(signal, match) {
    this.overall = signal;
    this.signal = signal;
    this.match = match;
    // The folder's name is on the command line or in the environment of whatever the run starts: see `leftovers`.
    this.folder = mkdtempSync(join(tmpdir(), 'platform-test-'));
    // PostgreSQL runs as another user when this is root, and has to pass through.
    chmodSync(this.folder, 0o711);
    this.env = { ...process.env, TMPDIR: this.folder, TEST_RUN_DIR: this.folder };
    for (const name of FOREIGN_VARIABLES) delete this.env[name];
  }

  /** @param {Phase} phase */
  async phase({ name, limit, auxiliary = false, action }) {
    console.log(`\n== ${name}`);
    const started = Date.now();
    this.signal = AbortSignal.any([this.overall, AbortSignal.timeout(limit)]);
    let result;
    try {
      result = /** @type {Counts} */ (await action(this));
      if (auxiliary) result = { passed: 0, failed: 0 };
    } catch (error) {
      result = { passed: 0, failed: 1 };
      if (!(error instanceof CheckFailed)) console.log(this.describe(error, limit));
    }
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const counts = auxiliary && result.failed === 0 ? 'ready' : `${result.passed} passed, ${result.failed} failed`;
    console.log(`== ${name}: ${counts} (${seconds} s)`);
    return result;
  }

  /** @param {unknown} error @param {number} limit milliseconds @returns {string} */
  describe(error, limit) {
    if (this.overall.aborted) return /** @type {Error} */ (this.overall.reason).message;
    if (this.signal.aborted) return `Not done within ${limit / MINUTE} minutes.`;
    if (!(error instanceof Error)) return String(error);
    return error.name === 'SetupError' ? error.message : (error.stack ?? String(error));
  }

  /** @param {() => Promise<unknown>} action @returns {Promise<Counts>} */
  async check(action) {
    await action();
    return { passed: 1, failed: 0 };
  }

  /**
   * Runs a command; its output is shown as it comes when `live`, else only when the command fails.
   * @param {string} command
   * @param {string[]} args
   * @param {{env?: NodeJS.ProcessEnv, live?: boolean}} [options]
   */
  async command(command, args, { env = {}, live = false } = {}) {
    const onLine = live ? (/** @type {string} */ line) => console.log(line) : undefined;
    const options = { env: { ...this.env, ...env }, onLine, signal: this.signal };
    const { code, output } = await execute(command, args, options);
    if (code !== 0 && !live) console.log(output.trimEnd());
    return code;
  }

  /** @param {string} binary of node_modules/.bin @param {string[]} args */
  async tool(binary, args) {
    const code = await this.command(process.execPath, [join('node_modules', '.bin', binary), ...args]);
    if (code !== 0) throw new CheckFailed(binary);
  }

  /** @param {string} file @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
  async program(file, args, env) {
    const code = await this.command(process.execPath, [file, ...args], { env });
    if (code !== 0) throw new CheckFailed(file);
  }

  /** @param {string} project @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
  async jest(project, args, env = {}) {
    const report = join(this.folder, `${project}.json`);
    rmSync(report, { force: true });
    const options = ['--selectProjects', project, '--ci', '--json', `--outputFile=${report}`, ...args];
    const match = this.match && project !== 'unit' ? ['--testPathPatterns', this.match] : [];
    const bin = join('node_modules', '.bin', 'jest');
    let code;
    try {
      code = await this.command(process.execPath, [bin, ...options, ...match], { env, live: true });
    } catch (error) {
      console.log(this.describe(error, 0));
      code = null;
    }
    return countOf(report, code);
  }

  /** Where no advisories can be had nothing is known of the packages, for better or worse. */
  async audit() {
    const { auditProduction } = await import('./audit.mjs');
    const { unread, serious, others } = await auditProduction({ signal: this.signal, env: this.env });
    if (unread) {
      console.log(`The advisories could not be read, so nothing was audited: ${unread}`);
      return { passed: 0, failed: 0 };
    }
    if (others > 0) console.log(`${others} packages have advisories of low or moderate severity: npm audit --omit=dev`);
    for (const line of serious) console.log(line);
    return serious.length > 0 ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
  }

  async build() {
    await ensureBuild({ signal: this.signal });
    this.built = true;
  }

  async needBuild() {
    if (!this.built) await this.build();
  }

  async openapiDrift() {
    await this.needBuild();
    await this.program('dist/src/openapi.js', ['--check']);
  }

  async migrationDrift() {
    await this.needBuild();
    const { adminUrl } = await this.needServices();
    const url = new URL(adminUrl);
    url.pathname = '/migration_drift';
    await sql(adminUrl, 'CREATE DATABASE migration_drift');
    try {
      await this.program('dist/src/migrate.js', ['--check-drift'], { DATABASE_URL: url.href });
    } finally {
      await sql(adminUrl, 'DROP DATABASE IF EXISTS migration_drift WITH (FORCE)');
    }
  }

  async medium() {
    const { env, runtimeDir, runtime } = await this.needServices();
    const { prepareLdapServer } = await import('./embedded/ldap-server.mjs');
    const options = {
      onProgress: (/** @type {string} */ text) => console.log(text),
      signal: this.signal,
      env: this.env,
    };
    const jar = await prepareLdapServer(runtimeDir, runtime, options);
    return this.jest('medium', ['--testTimeout=60000', '--maxWorkers=2'], { ...env, TEST_LDAP_SERVER_JAR: jar });
  }

  /** One file at a time: some measure what an attack does to others. */
  async attacks() {
    await this.needBuild();
    const { env } = await this.needServices();
    return this.jest('attacks', ['--testTimeout=120000', '--runInBand'], env);
  }

  async stores() {
    const [services, stores] = [await this.needServices(), await this.needStoreServers()];
    return this.jest('stores', ['--testTimeout=120000', '--runInBand'], { ...services.env, ...stores.env });
  }

  async e2e() {
    await this.needBuild();
    const [services, stores] = [await this.needServices(), await this.needStoreServers()];
    // One file at a time: each starts its own platform and Spark.
    return this.jest('e2e', ['--testTimeout=300000', '--runInBand'], { ...services.env, ...stores.env });
  }

  /** One PostgreSQL and one Redis for all phases; tests make databases of their own in them. */
  needServices() {
    this.starting ??= this.startServices();
    return this.starting;
  }

  async startServices() {
    const { prepareRuntime } = await import('./embedded/runtime.mjs');
    const { startPostgres, startRedis } = await import('./embedded/services.mjs');
    const runtimeDir = process.env.RUNTIME_DIR ?? join(projectRoot, '.runtime');
    /** @param {string} text @param {boolean} [transient] */
    const onProgress = (text, transient) => (transient ? undefined : console.log(text));
    const runtime = await prepareRuntime(runtimeDir, { onProgress, signal: this.signal, env: this.env });
    const runtimeFile = join(this.folder, 'runtime.json');
    writeFileSync(runtimeFile, JSON.stringify(runtime));
    const postgres = await startPostgres(this.folder, { signal: this.signal, durable: false });
    this.services.push(postgres);
    const redis = await startRedis(this.folder, runtime, { signal: this.signal });
    this.services.push(redis);
    return {
      adminUrl: postgres.url,
      runtimeDir,
      runtime,
      env: { TEST_DATABASE_ADMIN_URL: postgres.url, TEST_REDIS_URL: redis.url, TEST_RUNTIME_JSON: runtimeFile },
    };
  }

  /** The object stores that adapters are tested against, in a runtime that has been prepared. */
  needStoreServers() {
    this.startingStores ??= this.startStores();
    return this.startingStores;
  }

  async startStores() {
    const { prepareStoreServers, startStoreServers } = await import('./embedded/store-servers.mjs');
    const { env, runtimeDir, runtime } = await this.needServices();
    const options = {
      onProgress: (/** @type {string} */ text) => console.log(text),
      signal: this.signal,
      env: this.env,
    };
    const programs = await prepareStoreServers(runtimeDir, runtime, options);
    const { servers, stop } = await startStoreServers(this.folder, programs, { signal: this.signal });
    this.services.push({ stop });
    const file = join(this.folder, 'store-servers.json');
    writeFileSync(file, JSON.stringify(servers), { mode: 0o600 });
    return { env: { ...env, TEST_STORE_SERVERS: file } };
  }

  /** Ends what the run started. Whatever tests left running is ended too, and named. */
  async close() {
    await this.starting?.catch(() => {});
    await this.startingStores?.catch(() => {});
    for (const service of this.services.reverse()) {
      await service.stop().catch((error) => console.log(`Stopping a service failed: ${error.message}`));
    }
    let left = leftovers(this.folder);
    // What was just told to end may still be about it.
    for (const deadline = Date.now() + 5_000; left.length > 0 && Date.now() < deadline; left = leftovers(this.folder)) {
      await delay(100);
    }
    for (const { ref, command } of left) {
      console.log(`Left running: ${ref.pid} ${command}`);
      await endProcess(ref, [['SIGTERM', 5_000]]);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    return left.length;
  }
}

/**
 * Runs a command in a process group of its own to the end of its first process; an abort ends the group. What others of
 * the group still write is not waited for: a process that a test left behind may hold the output open for ever.
 * @param {string} command
 * @param {string[]} args
 * @param {{env: NodeJS.ProcessEnv, onLine?: (line: string) => void, signal: AbortSignal}} options
 * @returns {Promise<{code: number | null, output: string}>} the last of the output, and null after a signal
 */
async function execute(command, args, { env, onLine, signal }) {
  signal.throwIfAborted();
  const child = spawn(command, args, { cwd: projectRoot, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8').on('data', (chunk) => {
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
    const [code] = await once(child, 'exit');
    await Promise.race([closed, delay(2_000, undefined, { ref: false })]);
    signal.throwIfAborted();
    return { code, output };
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(force);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** @param {number | undefined} groupId @param {NodeJS.Signals} signal */
function signalGroup(groupId, signal) {
  try {
    if (groupId) process.kill(-groupId, signal);
  } catch {
    // It is gone.
  }
}

/**
 * Counts a jest report. A suite that could not run and a skipped test are failures: nothing is left out silently.
 * @param {string} report path of it
 * @param {number | null} code that jest ended with
 * @returns {Counts}
 */
function countOf(report, code) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: 1 };
  }
  const skipped = result.numPendingTests + result.numTodoTests;
  if (skipped > 0) console.log(`${skipped} tests were skipped.`);
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites + skipped;
  return { passed: result.numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) };
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

/**
 * Processes, other than this one, that were started with the folder of this run. Where there is no /proc, none.
 * @param {string} folder
 */
function leftovers(folder) {
  const found = [];
  for (const name of readdirQuietly('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    if (!`${command}\0${readQuietly(`/proc/${pid}/environ`)}`.includes(folder)) continue;
    const ref = processRef(pid);
    if (ref) found.push({ ref, command: command.slice(0, 200) });
  }
  return found;
}

/** @param {string} folder */
function readdirQuietly(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** @param {string} file */
function readQuietly(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function selectPhases() {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, only: { type: 'string' }, match: { type: 'string' } },
  });
  const only = values.only?.split(',').filter(Boolean);
  const unknown = only?.find((name) => !PHASES.some((phase) => phase.name === name));
  if (unknown) throw new Error(`There is no phase ${unknown}; there are ${PHASES.map((p) => p.name).join(', ')}.`);
  /** @param {string} name @param {string[]} wanted */
  const isAmong = (name, wanted) =>
    wanted.includes(name) || PREPARED[name]?.some((prepared) => wanted.includes(prepared));
  const phases = PHASES.filter(({ name, quick }) => (only ? isAmong(name, only) : !values.quick || quick));
  return { phases, match: values.match };
}

/** @param {Run} run @param {Phase[]} phases @returns {Promise<Counts>} */
async function runPhases(run, phases) {
  const total = { passed: 0, failed: 0 };
  /** @param {Counts} counts */
  const add = ({ passed, failed }) => {
    total.passed += passed;
    total.failed += failed;
  };
  try {
    await ensureDependencies({ signal: run.overall, onProgress: (text, transient) => transient || console.log(text) });
    mkdirSync(join(projectRoot, 'dist'), { recursive: true });
    for (const phase of phases) {
      if (run.overall.aborted) break;
      add(await run.phase(phase));
    }
  } catch (error) {
    console.log(run.describe(error, 0));
    add({ passed: 0, failed: 1 });
  } finally {
    add({ passed: 0, failed: (await run.close()) > 0 ? 1 : 0 });
  }
  if (run.overall.aborted && total.failed === 0) total.failed = 1;
  return total;
}

async function main() {
  let selection;
  try {
    selection = selectPhases();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    return 2;
  }
  const controller = new AbortController();
  /** @param {string} reason */
  const stop = (reason) => controller.abort(new Error(reason));
  const timer = setTimeout(() => stop(`Not done within ${OVERALL_LIMIT / MINUTE} minutes.`), OVERALL_LIMIT);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(`Interrupted by ${signal}.`));
  const { passed, failed } = await runPhases(new Run(controller.signal, selection.match), selection.phases);
  clearTimeout(timer);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
