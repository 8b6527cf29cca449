import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { login } from '../demo/session.mjs';
import { projectRoot } from '../embedded/install.mjs';
import { loadSecrets, migrate, platformEnvironment, stopLocalNodes, untilHealthy } from '../embedded/platform.mjs';
import { freePort } from '../embedded/ports.mjs';
import { startPostgres, startRedis } from '../embedded/services.mjs';
import { SupervisedProcess } from '../embedded/supervised-process.mjs';
import { AgentProxy } from './agent-proxy.mjs';
import { CountingSpark } from './counting-spark.mjs';
import { SmallDisk } from './small-disk.mjs';

const CLOCK_SHIFT = new URL('./clock-shift.mjs', import.meta.url);
const DISK_MIB = 48;
const RESTART_DELAY_MS = { first: 500, longest: 500 };
const ADMINISTRATOR = 'admin';

/** Short limits, so that leases expire and work is taken over within minutes instead of hours. */
const QUICK = {
  WORKFLOW_LEASE_MS: '3000',
  RECONCILE_INTERVAL_MS: '1000',
  OUTBOX_POLL_MS: '1000',
  AGENT_LEASE_MS: '20000',
  AGENT_LEASE_MARGIN_MS: '5000',
  RUN_KILL_GRACE_MS: '1000',
  DATABASE_POOL_SIZE: '10',
  DATABASE_STATEMENT_TIMEOUT_MS: '8000',
  FILES_RESERVE_BYTES: '1',
};

/**
 * PostgreSQL, Redis, two API processes, two workers and a proxy between agents and APIs, all in one folder. A process that ends
 * is restarted, as an orchestrator would do.
 */
export class PlatformUnderChaos {
  /** @type {import('../demo/session.mjs').Session | undefined} */
  #session;
  /** @type {SupervisedProcess[]} */
  apis = [];
  /** @type {SupervisedProcess[]} */
  workers = [];
  /** @type {string[]} */
  apiUrls = [];
  /** @type {(() => unknown)[]} */
  #undo = [];
  /** @type {Promise<unknown>} */
  #serviceTurn = Promise.resolve();

  /**
   * @param {object} options
   * @param {import('../embedded/runtime.mjs').Runtime} options.runtime
   * @param {(text: string) => void} options.print
   * @param {AbortSignal} options.signal
   */
  constructor({ runtime, print, signal }) {
    this.print = print;
    this.signal = signal;
    this.folder = mkdtempSync(join(tmpdir(), 'platform-chaos-'));
    // PostgreSQL and jobs run as other users, who must be able to enter the folder.
    chmodSync(this.folder, 0o711);
    this.nodesDir = join(this.folder, 'nodes');
    this.spark = new CountingSpark(this.folder, runtime.sparkVersion);
    // The features of the class archive, the connectors and the Scala kernel do not run here.
    const spark = {
      sparkVersion: runtime.sparkVersion,
      sparkHome: this.spark.home,
      classArchive: null,
      connectors: null,
      scalaKernel: null,
      turbo: null,
    };
    this.runtime = { ...runtime, ...spark, sparks: [spark], installable: [] };
  }

  /** The session of the first administrator with the first API. */
  get session() {
    if (!this.#session) throw new Error('The platform has not been started.');
    return this.#session;
  }

  async start() {
    const { folder, runtime, print, signal } = this;
    this.dataDisk = this.#disk('data');
    this.nodeDisk = this.#disk('nodes');
    mkdirSync(join(folder, 'logs'), { recursive: true });
    this.postgres = await startPostgres(folder, { signal });
    this.#undo.push(() => this.postgres?.stop());
    this.redis = await startRedis(folder, runtime, { signal });
    this.#undo.push(() => this.redis?.stop());
    const ports = [await freePort(), await freePort()];
    const proxyPort = await freePort();
    this.apiUrls = ports.map((port) => `http://127.0.0.1:${port}`);
    this.proxy = new AgentProxy(this.apiUrls);
    await this.proxy.listen(proxyPort);
    this.#undo.push(() => this.proxy?.close());
    const secrets = loadSecrets(folder);
    const [databaseUrl, redisUrl] = [this.postgres.url, this.redis.url];
    const env = {
      ...platformEnvironment({ runtimeDir: folder, databaseUrl, redisUrl, runtime, secrets }),
      HOST: '127.0.0.1',
      AGENT_API_URL: `http://127.0.0.1:${proxyPort}`,
      COMPUTE_LOCAL_SHARED_DIRS: this.spark.shared,
      ...QUICK,
    };
    await migrate({ root: projectRoot, env, logFile: join(folder, 'logs', 'migrate.log'), signal });
    /** @param {string} title @param {string} entry @param {NodeJS.ProcessEnv} own */
    const supervised = (title, entry, own) =>
      new SupervisedProcess({
        title,
        entry: join(projectRoot, 'dist', entry),
        env: { ...env, ...own },
        root: projectRoot,
        logFile: join(folder, 'logs', `${title}.log`),
        onEvent: () => {},
        restartDelayMs: RESTART_DELAY_MS,
      });
    this.apis = ports.map((port, index) => supervised(`api-${index}`, 'api.js', { PORT: String(port) }));
    this.workers = [0, 1].map((index) => supervised(`worker-${index}`, 'worker.js', {}));
    const all = [...this.apis, ...this.workers];
    this.#undo.push(() => stopLocalNodes(this.nodesDir));
    this.#undo.push(() => Promise.all(all.map((child) => child.stop())));
    for (const child of all) child.start();
    for (const [index, api] of this.apis.entries()) await untilHealthy(this.apiUrls[index] ?? '', api, all, signal);
    for (const child of all) child.keepRunning();
    const [baseUrl = ''] = this.apiUrls;
    this.#session = await login({
      baseUrl,
      username: ADMINISTRATOR,
      password: secrets.BOOTSTRAP_ADMIN_PASSWORD,
      signal,
    });
    print('PostgreSQL, Redis, two APIs and two workers are up');
  }

  /** @param {string} name */
  #disk(name) {
    const disk = new SmallDisk(join(this.folder, name), DISK_MIB);
    chmodSync(disk.path, 0o700);
    this.#undo.push(() => disk.close());
    if (disk.refusal !== null) this.print(`Skipped: the disk of ${name} cannot be made full here (${disk.refusal})`);
    return disk;
  }

  /** Ends the server, in order or by a crash, and starts it again. @param {number} awayMs @param {boolean} crashes */
  restartPostgres(awayMs, crashes) {
    return this.#inTurn(async () => {
      if (crashes) kill(this.postgres?.pid ?? null, 'SIGKILL');
      await this.postgres?.stop();
      await delay(awayMs, undefined, { signal: this.signal });
      this.postgres = await startPostgres(this.folder, { signal: this.signal });
    });
  }

  /** @param {number} awayMs @param {boolean} crashes */
  restartRedis(awayMs, crashes) {
    return this.#inTurn(async () => {
      if (crashes) kill(this.redis?.pid ?? null, 'SIGKILL');
      await this.redis?.stop();
      await delay(awayMs, undefined, { signal: this.signal });
      this.redis = await startRedis(this.folder, this.runtime, { signal: this.signal });
    });
  }

  /** Runs restarts of servers one after the other. @param {() => Promise<void>} action */
  #inTurn(action) {
    const turn = this.#serviceTurn.then(action);
    this.#serviceTurn = turn.catch(() => {});
    return turn;
  }

  /** Restarts a process with its wall clock shifted. @param {SupervisedProcess} child @param {number} shiftMs */
  restartWithClock(child, shiftMs) {
    const { CHAOS_CLOCK_SHIFT_MS: _shift, NODE_OPTIONS: _options, ...env } = child.env;
    const shifted = { NODE_OPTIONS: `--import ${CLOCK_SHIFT.href}`, CHAOS_CLOCK_SHIFT_MS: String(shiftMs) };
    child.env = shiftMs === 0 ? env : { ...env, ...shifted };
    kill(child.pid, 'SIGKILL');
  }

  /**
   * @template {import('pg').QueryResultRow} [T=any]
   * @param {string} statement
   * @param {unknown[]} [parameters]
   * @returns {Promise<T[]>} rows, read over a connection of its own, since faults may end any existing one
   */
  async sql(statement, parameters = []) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({
      connectionString: this.postgres?.url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 15_000,
      application_name: OBSERVER,
    });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(statement, parameters)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Ends API and workers; nodes keep running. */
  async stopProcesses() {
    const left = await Promise.all([...this.apis, ...this.workers].map((child) => child.stop()));
    const stuck = left.filter((title) => title !== null);
    if (stuck.length > 0) throw new Error(`${stuck.join(' and ')} could not be ended.`);
  }

  /** Returns the processes of nodes by kind. */
  async nodeProcesses() {
    const { markedProcesses } = await import(
      pathToFileURL(join(projectRoot, 'dist', 'libs', 'node-agent', 'processes.js')).href
    );
    /** @type {{pid: number, argv: string[], nodeDir: string}[]} */
    const found = markedProcesses((/** @type {string} */ dir) => dir.startsWith(`${this.nodesDir}/`));
    return found.map(({ pid, argv, nodeDir }) => {
      const isSupervisor = argv.includes('node-supervisor');
      const isAgent = !isSupervisor && argv.some((word) => word.endsWith('node-agent/main.js'));
      const role = isSupervisor ? 'supervisor' : isAgent ? 'agent' : 'other';
      return { pid, role, token: nodeDir.slice(this.nodesDir.length + 1).split('/', 1)[0] ?? '', argv };
    });
  }

  /** Ends everything that was started. @param {{keepLogs: boolean}} options */
  async close({ keepLogs }) {
    for (const undo of this.#undo.splice(0).reverse()) {
      try {
        await undo();
      } catch (error) {
        this.print(`Stopping failed: ${/** @type {Error} */ (error).message}`);
      }
    }
    if (keepLogs) this.print(`The logs are kept in ${join(this.folder, 'logs')}`);
    for (const name of keepLogs ? readdirSync(this.folder).filter((entry) => entry !== 'logs') : ['.']) {
      const path = name === '.' ? this.folder : join(this.folder, name);
      rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }
}

/** The application name of the connections that only observe. */
export const OBSERVER = 'chaos-observer';

/** @param {number | null} pid @param {NodeJS.Signals} signal */
export function kill(pid, signal) {
  try {
    if (pid !== null && pid > 0) process.kill(pid, signal);
  } catch {
    // The process ended by itself.
  }
}
