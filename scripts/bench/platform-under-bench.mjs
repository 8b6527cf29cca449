import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describeInfrastructure, readLookups, upload } from '../demo/demo.mjs';
import { login } from '../demo/session.mjs';
import { startPlatform } from '../embedded/platform.mjs';
import { freePort } from '../embedded/ports.mjs';
import { startPostgres, startRedis } from '../embedded/services.mjs';

/** Interval between two polls of a status that a measurement waits for. */
const POLL_MS = 50;
const DEADLINE_MS = 240_000;
/** Clock ticks of /proc. */
const TICKS_PER_SECOND = 100;

/** Connections to PostgreSQL of the API and of its baseline. */
const POOL_SIZE = 20;

/** The maximum number of sockets of one caller. */
const SOCKETS = 1_100;

const SMALL_JOB = fileURLToPath(new URL('./small_job.py', import.meta.url));
const JOB_MEMORY = '512m';

/**
 * PostgreSQL, Redis, API and worker in a folder of their own, with a STANDALONE cluster of one worker and a job for it.
 * Members that `start` creates are unusable before it.
 * @typedef {import('../demo/session.mjs').Session} Session
 */
export class PlatformUnderBench {
  /** @type {Session | undefined} */
  #session;
  get session() {
    return started(this.#session);
  }

  /** Credentials of the first administrator. @type {Parameters<typeof login>[0] | undefined} */
  #administrator;
  get administrator() {
    return started(this.#administrator);
  }

  /** @type {import('../embedded/services.mjs').Service | undefined} */
  #postgres;
  get postgres() {
    return started(this.#postgres);
  }

  /** @type {import('../embedded/platform.mjs').Platform | undefined} */
  #platform;
  /** Returns the process id of the API, which changes at a restart. */
  apiPid() {
    return this.pids().api;
  }

  /** Returns the process ids, which change at a restart. */
  pids() {
    const { api, agents, worker } = started(this.#platform).pids();
    if (api === null || agents === null || worker === null) throw new Error('A process of the platform does not run.');
    return { api, agents, worker };
  }

  /** The URL that node agents call. */
  get agentsUrl() {
    return started(this.#platform).agentsUrl;
  }

  /** Ends the processes and starts new ones on the same database. */
  async restart() {
    await started(this.#platform).restart();
  }

  /** Returns the milliseconds that each process took from its start until it logged that it was up. */
  async readyAfter() {
    const pids = this.pids();
    /** @param {'api' | 'agents' | 'worker'} name */
    const of = async (name) => {
      const pid = pids[name];
      const deadline = Date.now() + DEADLINE_MS;
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
      const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
      const startedAt = Date.now() - (uptime - ticks / TICKS_PER_SECOND) * 1_000;
      for (;;) {
        const up = upAt(join(this.folder, 'logs', `${name}.log`), pid);
        if (up !== null) return up - startedAt;
        if (Date.now() > deadline) throw new Error(`The log of ${name} does not say that it is up.`);
        await delay(POLL_MS, undefined, { signal: this.signal });
      }
    };
    return { api: await of('api'), agents: await of('agents'), worker: await of('worker') };
  }

  /** Fields that every cluster is created with. @type {object} */
  #cluster = {};
  /** Path of the jobs. */
  jobs = '';
  jobConfId = 0;
  workspaceId = 0;
  poolSize = POOL_SIZE;
  clusterId = 0;
  workerCores = 0;
  /** The port at which the platform's processes call AWS Glue; a measurement may serve it on this machine. */
  gluePort = 0;
  connections = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {(() => Promise<unknown>)[]} */
  undo = [];

  /**
   * @param {object} options
   * @param {import('../embedded/runtime.mjs').Runtime} options.runtime
   * @param {(text: string) => void} options.print
   * @param {AbortSignal} options.signal
   * @param {Partial<import('../embedded/platform.mjs').PlatformOptions>} [options.processes] over the usual ones
   */
  constructor({ runtime, print, signal, processes = {} }) {
    this.processes = processes;
    this.runtime = runtime;
    this.print = print;
    this.signal = signal;
    this.folder = mkdtempSync(join(tmpdir(), 'platform-bench-'));
    // If this process is root, PostgreSQL runs as another user, who must be able to enter the folder.
    chmodSync(this.folder, 0o711);
  }

  async start() {
    const { folder, runtime, print, signal } = this;
    // Measurements from a commit begin with this timestamp.
    const settings = { track_commit_timestamp: 'on' };
    const postgres = await startPostgres(folder, { signal, onExit: print, settings });
    this.#postgres = postgres;
    this.undo.push(() => postgres.stop());
    const redis = await startRedis(folder, runtime, { signal, onExit: print });
    this.undo.push(() => redis.stop());
    this.gluePort = await freePort();
    const env = {
      NODE_ENV: 'production',
      PRODUCT_NAME: 'PLATFORM',
      DATABASE_POOL_SIZE: String(POOL_SIZE),
      AWS_ENDPOINT_URL_GLUE: `http://127.0.0.1:${this.gluePort}`,
      // All kernel sockets belong to one caller.
      HTTP_MAX_SOCKETS_PER_CALLER: String(SOCKETS),
    };
    const platform = await startPlatform({
      runtimeDir: folder,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      runtime,
      port: await freePort(),
      env,
      onEvent: print,
      signal,
      ...this.processes,
    });
    this.undo.push(() => platform.stop());
    this.#platform = platform;
    const { baseUrl, username, password } = platform;
    this.#administrator = { baseUrl, username, password, signal };
    this.#session = await login(this.#administrator);
    await this.describe();
  }

  async describe() {
    const { session, runtime } = this;
    const lookups = await readLookups(session, runtime.sparkVersion);
    const infrastructure = await describeInfrastructure(session, lookups);
    const machineType = lookups.machineTypes.find(({ machine_type_id: id }) => id === lookups.machineTypeId);
    this.workerCores = machineType?.vCPUs ?? 0;
    this.#cluster = {
      cluster_type: 'STANDALONE',
      ...infrastructure,
      min_instances: 1,
      max_instances: 1,
      engine_cluster_spark_config: { num_of_workers: 1 },
      is_spot_instance: false,
      enable_public_ip: false,
    };
    this.clusterId = await this.createCluster('bench');
    const workspace = await session.json('POST', '/workspace', { body: { name: 'bench' } });
    const workspaceId = Number(workspace.workspace_id);
    this.workspaceId = workspaceId;
    await upload(session, workspaceId, 'small_job.py', SMALL_JOB);
    this.jobs = `/workspace/${workspaceId}/spark/job`;
    const conf = await session.json('POST', `${this.jobs}/conf`, {
      body: {
        name: 'bench',
        cluster_id: this.clusterId,
        job_type: 'Python3',
        command: 'small_job.py',
        driver_memory: JOB_MEMORY,
        executor_memory: JOB_MEMORY,
      },
    });
    this.jobConfId = Number(conf.job_conf_id);
  }

  /** @param {string} name @param {object} [fields] override the usual ones @returns {Promise<number>} its id */
  async createCluster(name, fields = {}) {
    const cluster = await this.session.json('POST', '/cluster', { body: { name, ...this.#cluster, ...fields } });
    return Number(cluster.cluster_id);
  }

  /** Begins an operation. @param {'start' | 'stop' | 'destroy'} operation @param {number} clusterId */
  async ask(operation, clusterId) {
    await this.session.json('POST', `/cluster/${operation}`, { body: { cluster_id: clusterId } });
  }

  /** Returns the arguments of spark-submit for the same job by hand. @param {string} master @param {string} properties path of a file */
  submitArguments(master, properties) {
    const memory = ['--driver-memory', JOB_MEMORY, '--executor-memory', JOB_MEMORY];
    return [
      '--master',
      master,
      '--properties-file',
      properties,
      '--name',
      'bench',
      ...memory,
      '--conf',
      'spark.ui.showConsoleProgress=false',
      SMALL_JOB,
    ];
  }

  /**
   * @param {number} [jobConfId] the usual one if absent
   * @returns {Promise<{id: number, ms: number, log: string}>} the job's duration from its submission to DONE, and its stdout
   */
  async runJob(jobConfId = this.jobConfId) {
    const { session, jobs } = this;
    const started = performance.now();
    const { job_id: jobId } = await session.json('POST', jobs, { body: { job_conf_id: jobConfId } });
    /** @returns {Promise<string>} */
    const status = async () => (await this.look(`${jobs}/${jobId}/status`)).job_status;
    await this.until(`job ${jobId}`, status, 'DONE', ['ERROR', 'TERMINATED', 'STOPPED', 'KILLED']);
    const ms = performance.now() - started;
    return { id: Number(jobId), ms, log: await (await session.send('GET', `${jobs}/${jobId}/log/stdout`)).text() };
  }

  /** @param {number} [clusterId] @returns {Promise<number>} milliseconds from the request to RUNNING */
  startCluster(clusterId) {
    return this.operate('start', 'RUNNING', clusterId);
  }

  /** @param {number} [clusterId] @returns {Promise<number>} milliseconds from the request to STOPPED */
  stopCluster(clusterId) {
    return this.operate('stop', 'STOPPED', clusterId);
  }

  /** @param {'start' | 'stop'} operation @param {string} goal status @param {number} [clusterId] the usual one if absent */
  async operate(operation, goal, clusterId = this.clusterId) {
    const path = `/cluster?cluster_id=${clusterId}`;
    const started = performance.now();
    await this.ask(operation, clusterId);
    await this.until('the cluster', async () => (await this.look(path)).cluster_status, goal, ['ERROR', 'DESTROYED']);
    return performance.now() - started;
  }

  cluster() {
    return this.session.json('GET', '/cluster', { query: { cluster_id: this.clusterId } });
  }

  /**
   * Sends a GET with as little client work as possible, because what is measured runs on the same processors.
   * @param {string} path
   * @returns {Promise<any>} the JSON response, whose shape depends on the operation
   */
  look(path) {
    const headers = { authorization: `Bearer ${this.session.token}` };
    return new Promise((resolve, reject) => {
      const request = get(`${this.session.baseUrl}/api/v1${path}`, { agent: this.connections, headers }, (answer) => {
        /** @type {Buffer[]} */
        const parts = [];
        answer.on('data', (/** @type {Buffer} */ part) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          if (answer.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`GET ${path} was answered ${answer.statusCode}: ${text.slice(0, 500)}`));
        });
      });
      request.setTimeout(60_000, () => request.destroy(new Error(`GET ${path} was not answered within 60 s.`)));
      request.on('error', reject);
    });
  }

  /** @param {string} what @param {() => Promise<string>} read @param {string} goal @param {string[]} failures */
  async until(what, read, goal, failures) {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const status = await read();
      if (status === goal) return;
      if (failures.includes(status)) throw new Error(`${what} ended in ${status}.`);
      if (Date.now() > deadline) throw new Error(`${what} was still ${status} after ${DEADLINE_MS / 1000} s.`);
      await delay(POLL_MS, undefined, { signal: this.signal });
    }
  }

  /**
   * Ends everything that was started.
   * @param {{keepLogs: boolean}} options
   */
  async close({ keepLogs }) {
    this.connections.destroy();
    for (const undo of this.undo.reverse()) {
      await undo().catch((/** @type {Error} */ error) => this.print(`Stopping failed: ${error.message}`));
    }
    if (keepLogs) this.print(`The logs are kept in ${join(this.folder, 'logs')}`);
    for (const name of keepLogs ? readdirSync(this.folder).filter((entry) => entry !== 'logs') : ['.']) {
      const path = name === '.' ? this.folder : join(this.folder, name);
      rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }
}

/** Returns when a process logged that it was up, in milliseconds since the epoch. @param {string} file @param {number} pid */
function upAt(file, pid) {
  for (const line of readFileSync(file, 'utf8').split('\n').reverse()) {
    if (!line.includes(`"pid":${pid},`) || !/"The (API is listening|worker is up)"/.test(line)) continue;
    const { time } = JSON.parse(line);
    return typeof time === 'number' ? time : Date.parse(time);
  }
  return null;
}

/**
 * @template T
 * @param {T | undefined} part
 * @returns {T}
 */
function started(part) {
  if (part === undefined) throw new Error('The platform has not been started.');
  return part;
}
