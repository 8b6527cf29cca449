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

/** How often a status that a measurement waits for is polled. */
const POLL_MS = 50;
const DEADLINE_MS = 240_000;
/** Of the clock of /proc. */
const TICKS_PER_SECOND = 100;

/** Connections to PostgreSQL of the API and of what it is compared with. */
const POOL_SIZE = 20;

/** Sockets that one caller may hold. */
const SOCKETS = 1_100;

const SMALL_JOB = fileURLToPath(new URL('./small_job.py', import.meta.url));
const JOB_MEMORY = '512m';

/**
 * PostgreSQL, Redis, API and worker on a folder of their own, with a STANDALONE cluster of one worker and a job for it.
 * What `start` makes is there only after it.
 * @typedef {import('../demo/session.mjs').Session} Session
 */
export class PlatformUnderBench {
  /** @type {Session | undefined} */
  #session;
  get session() {
    return started(this.#session);
  }

  /** What the first administrator signs in with. @type {Parameters<typeof login>[0] | undefined} */
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
  /** Process id of the API, which changes when it is restarted. */
  apiPid() {
    return this.pids().api;
  }

  /** Process ids, which change at a restart. */
  pids() {
    const { api, agents, worker } = started(this.#platform).pids();
    if (api === null || agents === null || worker === null) throw new Error('A process of the platform does not run.');
    return { api, agents, worker };
  }

  /** Where node agents call. */
  get agentsUrl() {
    return started(this.#platform).agentsUrl;
  }

  /** Ends the processes and starts them anew on the same database. */
  async restart() {
    await started(this.#platform).restart();
  }

  /** How long each process took from its start until it said that it was up; milliseconds. */
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

  /** What every cluster is described by. @type {object} */
  #cluster = {};
  /** Path of the jobs. */
  jobs = '';
  jobConfId = 0;
  workspaceId = 0;
  poolSize = POOL_SIZE;
  clusterId = 0;
  workerCores = 0;
  /** Where its processes look for AWS Glue: a port of this machine that a measurement may serve. */
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
    // If this is root, PostgreSQL runs as another user, who must be able to pass through.
    chmodSync(this.folder, 0o711);
  }

  async start() {
    const { folder, runtime, print, signal } = this;
    // So that what is measured from a commit begins with it.
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
      // Of kernels, all of one caller.
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

  /** @param {string} name @param {object} [fields] other ones than usual @returns {Promise<number>} its id */
  async createCluster(name, fields = {}) {
    const cluster = await this.session.json('POST', '/cluster', { body: { name, ...this.#cluster, ...fields } });
    return Number(cluster.cluster_id);
  }

  /** Begins an operation. @param {'start' | 'stop' | 'destroy'} operation @param {number} clusterId */
  async ask(operation, clusterId) {
    await this.session.json('POST', `/cluster/${operation}`, { body: { cluster_id: clusterId } });
  }

  /** What spark-submit is given by hand for the same job. @param {string} master @param {string} properties path of a file */
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

  /** @returns {Promise<{ms: number, log: string}>} how long the job took from its submission to DONE, and its stdout */
  async runJob() {
    const { session, jobs } = this;
    const started = performance.now();
    const { job_id: jobId } = await session.json('POST', jobs, { body: { job_conf_id: this.jobConfId } });
    /** @returns {Promise<string>} */
    const status = async () => (await this.look(`${jobs}/${jobId}/status`)).job_status;
    await this.until(`job ${jobId}`, status, 'DONE', ['ERROR', 'TERMINATED', 'STOPPED', 'KILLED']);
    const ms = performance.now() - started;
    return { ms, log: await (await session.send('GET', `${jobs}/${jobId}/log/stdout`)).text() };
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
   * A GET with as little work on this side as possible: what is measured runs on the same processors.
   * @param {string} path
   * @returns {Promise<any>} the JSON answer, which is another one for every operation
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

/** When a process said in its log that it was up, milliseconds since the epoch. @param {string} file @param {number} pid */
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
