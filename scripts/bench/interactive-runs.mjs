import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../demo/session.mjs';

const FAILED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];
/** Driver memory of every measured process, whether the platform or the measurement starts it. */
export const DRIVER_MEMORY = '1g';

/**
 * Programs of run-bridges that are also started by hand.
 * @typedef {'kernel_python.py' | 'thrift_bridge.py'} Program
 *
 * Python, environment and folder with which the platform started a program.
 * @typedef {{python: string, env: Record<string, string>, cwd: string}} Started
 */

/** Interactive runs, notebooks and jobs, on a cluster of one node where each has Spark for itself. */
export class InteractiveRuns {
  clusterId = 0;
  /** @type {(() => Promise<unknown>)[]} */
  undo = [];

  /** @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform @param {AbortSignal} signal */
  constructor(platform, signal) {
    this.platform = platform;
    this.signal = signal;
    this.notebooks = `/workspace/${platform.workspaceId}/notebook`;
  }

  async start() {
    const fields = { cluster_type: 'PLATFORM', engine_cluster_spark_config: undefined };
    this.clusterId = await this.platform.createCluster('bench-interactive', fields);
    await this.platform.startCluster(this.clusterId);
    this.undo.push(() => this.platform.stopCluster(this.clusterId));
  }

  /**
   * Creates the configuration of a Python notebook.
   * @param {string} name
   * @param {Record<string, string>} cells code by id
   * @param {object} [fields] override the usual ones
   * @returns {Promise<number>} id of its configuration
   */
  async describeNotebook(name, cells, fields = {}) {
    const { session } = this.platform;
    const body = {
      notebook_name: name,
      notebook_type: 'python3',
      cluster_id: this.clusterId,
      driver_memory: DRIVER_MEMORY,
      ...fields,
    };
    const { notebook_conf_id: id } = await session.json('POST', `${this.notebooks}/conf`, { body });
    const described = Object.entries(cells).map(([cell_uuid, code]) => ({
      cell_uuid,
      cell_type: 'code',
      code,
      output: [],
    }));
    await session.json('POST', `${this.notebooks}/${id}/update`, { body: { cells: described } });
    return Number(id);
  }

  /** @param {number} confId @returns {Promise<number>} id of an instance, which is RUNNING */
  async startNotebook(confId) {
    const { session } = this.platform;
    const { notebook_id: id } = await session.json('POST', this.notebooks, { body: { notebook_conf_id: confId } });
    await this.reached(`${this.notebooks}/${id}`, 'notebook_status');
    return Number(id);
  }

  /** Returns the address of a socket to the kernel of an instance. @param {number} id */
  socketOf(id) {
    const { baseUrl, token } = this.platform.session;
    return `${baseUrl.replace(/^http/, 'ws')}/api/v1${this.notebooks}/${id}/kernel/ws/bench_session/${token}`;
  }

  /** @param {number} id of an instance, which is ended */
  endNotebook(id) {
    return this.end(`${this.notebooks}/kill/${id}`, `${this.notebooks}/${id}`, 'notebook_status');
  }

  /**
   * @param {string} name
   * @param {object} fields
   * @returns {Promise<{path: string, end: () => Promise<void>}>} a job, which is RUNNING
   */
  async startJob(name, fields) {
    const { session, jobs } = this.platform;
    const body = { name, cluster_id: this.clusterId, driver_memory: DRIVER_MEMORY, ...fields };
    const { job_conf_id: confId } = await session.json('POST', `${jobs}/conf`, { body });
    const { job_id: id } = await session.json('POST', jobs, { body: { job_conf_id: confId } });
    const path = `${jobs}/${id}`;
    await this.reached(path, 'job_status');
    return { path, end: () => this.end(`${jobs}/kill/${id}`, path, 'job_status') };
  }

  /**
   * Returns how the node started the one process of a program. The run's folder is replaced by `folder`, and what was written
   * there for the run is copied.
   * @param {Program} program
   * @param {string} folder for all that the program writes
   * @returns {Started}
   */
  startedAs(program, folder) {
    const found = readdirSync('/proc').find((pid) => this.#isOf(pid, program));
    if (found === undefined) throw new Error(`No process of ${program} was found.`);
    /** @param {string} name */
    const texts = (name) => readFileSync(`/proc/${found}/${name}`, 'utf8').split('\0').slice(0, -1);
    const [python = ''] = texts('cmdline');
    const environment = Object.fromEntries(texts('environ').map((entry) => entry.split(/=(.*)/s, 2)));
    const box = /^(.*)\/home$/.exec(environment.HOME)?.[1];
    if (box === undefined) throw new Error(`${program} has the home ${environment.HOME}.`);
    for (const name of ['work', 'home', 'events', 'local', 'tmp']) mkdirSync(join(folder, name), { recursive: true });
    cpSync(box, folder, { recursive: true, filter: (path) => !/\/(home|local|tmp|events|work)\//.test(path) });
    const env = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, value.replaceAll(box, folder)]),
    );
    return { python, env, cwd: join(folder, 'work') };
  }

  /** @param {string} pid @param {Program} program */
  #isOf(pid, program) {
    try {
      const [, script] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return (
        script?.endsWith(`/${program}`) === true &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(this.platform.folder)
      );
    } catch {
      return false;
    }
  }

  /** @param {string} path @param {string} field */
  async reached(path, field) {
    await this.platform.until(path, async () => (await this.platform.look(path))[field], 'RUNNING', FAILED);
  }

  /** @param {string} kill @param {string} path @param {string} field */
  async end(kill, path, field) {
    await this.platform.session.json('POST', kill).catch((error) => {
      // The run has ended by itself.
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    });
    const hasEnded = async () => (FAILED.includes((await this.platform.look(path))[field]) ? 'ended' : 'not ended');
    await this.platform.until(path, hasEnded, 'ended', []);
  }

  async close() {
    for (const undo of this.undo.reverse()) {
      await undo().catch((/** @type {Error} */ error) => this.platform.print(`Ending failed: ${error.message}`));
    }
  }
}
