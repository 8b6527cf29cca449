import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../test/harness/seeded-random.cjs';
import { describeInfrastructure, readLookups } from '../demo/demo.mjs';
import { withDeadline } from '../embedded/deadline.mjs';

/** A request without a response after this time is sent again, to either API. */
const ANSWER_MS = 6_000;
const RETRY_MS = { from: 100, to: 600 };
const POLL_MS = 400;

const LIVES = 2;
const SUBMITTERS = 3;
/** Maximum work of a job and maximum pause between two requests of one actor, milliseconds. */
const WORK_MS = 2_500;
const PAUSE_MS = 900;
/** The time that a cluster is left to its jobs. */
const STAY_MS = { from: 3_000, to: 9_000 };
/** A cluster that does not reach its state within this time is left as it is: the invariants will report it. */
const ARRIVAL_MS = 60_000;
const PARALLEL_JOBS = 2;

/** Codes of refusals that result from the current state: a cluster has changed meanwhile, or a run has ended. */
const REFUSALS = ['CLUSTER.INVALID_STATE', 'JOB.INVALID_STATE'];

/**
 * One requested effect, with one Idempotency-Key.
 * @typedef {object} Effect
 * @property {string} key
 * @property {string} path
 * @property {number | null} status of the response; null if none ever came
 * @property {any} body of the response, whose shape depends on the operation
 */

/**
 * Users who create, start, stop and destroy clusters, submit jobs and stop some of them. Each request is repeated with one
 * Idempotency-Key until either API responds.
 */
export class Load {
  /** @type {Effect[]} */
  effects = [];
  /** The number of requests without a response, or with one that says to try again. */
  retries = 0;
  #stopping = new AbortController();
  /** @type {Promise<void>[]} */
  #actors = [];
  /** @type {Map<number, number>} job configuration of each cluster that accepts jobs */
  #open = new Map();
  /** @type {number[]} ids of the latest runs */
  #recent = [];
  #made = 0;
  #workspaceId = 0;

  /**
   * @param {import('./platform-under-chaos.mjs').PlatformUnderChaos} platform
   * @param {number} seed
   */
  constructor(platform, seed) {
    this.platform = platform;
    this.random = seededRandom(seed);
  }

  /** Creates the configurations that clusters and jobs need, before faults begin. */
  async prepare() {
    const { session, runtime } = this.platform;
    this.infrastructure = await describeInfrastructure(session, await readLookups(session, runtime.sparkVersion));
    const workspace = await session.json('POST', '/workspace', { body: { name: 'chaos' } });
    this.#workspaceId = Number(workspace.workspace_id);
    const query = { workspace_id: this.#workspaceId, path: 'job.py', overwrite: true };
    await session.json('POST', '/workspace/files', {
      query,
      bytes: Buffer.from('# The fake spark-submit ignores this file.\n'),
    });
  }

  start() {
    const actors = [
      ...Array.from({ length: LIVES }, () => () => this.#live()),
      ...Array.from({ length: SUBMITTERS }, () => () => this.#submit()),
      () => this.#stopSome(),
    ];
    this.#actors = actors.map((act) => this.#repeat(act));
  }

  /** Waits for the responses to open requests, and sends no new ones. */
  async stop() {
    this.#stopping.abort();
    await Promise.all(this.#actors);
  }

  /** Destroys every cluster that is not destroyed yet. */
  async destroyAll() {
    const clusters = await this.platform.sql(`SELECT cluster_id FROM clusters WHERE status <> 'DESTROYED'`);
    await Promise.all(
      clusters.map(({ cluster_id: id }) => this.#request('/cluster/destroy', { cluster_id: Number(id) })),
    );
  }

  /** @param {() => Promise<void>} act */
  async #repeat(act) {
    while (!this.#over()) {
      await act();
      await this.#pause(this.random.below(PAUSE_MS));
    }
  }

  #over() {
    return this.#stopping.signal.aborted || this.platform.signal.aborted;
  }

  /** @param {number} ms */
  async #pause(ms) {
    const signal = AbortSignal.any([this.#stopping.signal, this.platform.signal]);
    await delay(ms, undefined, { signal }).catch(() => {});
  }

  /** Takes a cluster through one life: it is created, works, may be stopped for a while, and is destroyed. */
  async #live() {
    this.#made += 1;
    const name = `chaos-${this.#made}`;
    const made = await this.#request('/cluster', {
      name,
      cluster_type: 'PLATFORM',
      ...this.infrastructure,
      min_instances: 1,
      max_instances: 1,
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: PARALLEL_JOBS },
      is_spot_instance: false,
      enable_public_ip: false,
    });
    if (made.status !== 200) return;
    const cluster_id = Number(made.body.cluster_id);
    const conf = await this.#request(`/workspace/${this.#workspaceId}/spark/job/conf`, {
      name,
      cluster_id,
      job_type: 'Python3',
      command: 'job.py',
      driver_memory: '512m',
      executor_memory: '512m',
    });
    // A cluster that is not started here is started by its first job.
    if (this.random.below(3) > 0) await this.#request('/cluster/start', { cluster_id });
    this.#open.set(cluster_id, Number(conf.body?.job_conf_id));
    await this.#arrival(cluster_id, ['RUNNING', 'ERROR']);
    await this.#pause(this.random.between(STAY_MS.from, STAY_MS.to));
    if (this.random.below(2) === 0) {
      await this.#request('/cluster/stop', { cluster_id });
      await this.#pause(this.random.below(STAY_MS.from));
    }
    if (this.#over()) return;
    this.#open.delete(cluster_id);
    await this.#arrival(cluster_id, ['RUNNING', 'STOPPED', 'ERROR']);
    await this.#request('/cluster/destroy', { cluster_id });
  }

  /** @param {number} clusterId @param {string[]} statuses */
  async #arrival(clusterId, statuses) {
    for (const deadline = Date.now() + ARRIVAL_MS; !this.#over() && Date.now() < deadline; await this.#pause(POLL_MS)) {
      const answer = await this.#send('GET', `/cluster?cluster_id=${clusterId}`);
      if (answer?.status === 200 && statuses.includes(answer.body.cluster_status)) return;
    }
  }

  async #submit() {
    const clusters = [...this.#open.keys()];
    if (clusters.length === 0) return this.#pause(POLL_MS);
    const job_conf_id = this.#open.get(this.random.pick(clusters));
    const seconds = (this.random.below(WORK_MS) / 1000).toFixed(2);
    const status = this.random.below(8) === 0 ? 3 : 0;
    const key = randomUUID();
    const body = { job_conf_id, arguments: `${key} ${seconds} ${status}` };
    const path = `/workspace/${this.#workspaceId}/spark/job`;
    const { status: answered, body: run } = await this.#request(path, body, key);
    if (answered !== 200) return;
    this.#recent = [...this.#recent.slice(-20), Number(run.job_id)];
  }

  async #stopSome() {
    await this.#pause(PAUSE_MS);
    if (this.#recent.length === 0 || this.#over()) return;
    await this.#request(`/workspace/${this.#workspaceId}/spark/job/kill/${this.random.pick(this.#recent)}`, {});
  }

  /**
   * Sends a request until there is a response, also after the end of the load.
   * @param {string} path
   * @param {object} body
   * @param {string} [key]
   * @returns {Promise<Effect>}
   */
  async #request(path, body, key = randomUUID()) {
    /** @type {Effect} */
    const effect = { key, path, status: null, body: null };
    this.effects.push(effect);
    while (!this.platform.signal.aborted) {
      const answer = await this.#send('POST', path, { body, key });
      if (answer && !isPassing(answer.status)) return Object.assign(effect, answer);
      this.retries += 1;
      await delay(this.random.between(RETRY_MS.from, RETRY_MS.to), undefined, { signal: this.platform.signal });
    }
    return effect;
  }

  /**
   * @param {'GET' | 'POST'} method
   * @param {string} path
   * @param {{body?: object, key?: string}} [options]
   * @returns {Promise<{status: number, body: any} | null>} null without a response
   */
  async #send(method, path, { body, key } = {}) {
    const { apiUrls, session, signal } = this.platform;
    /** @type {Record<string, string>} */
    const headers = { authorization: `Bearer ${session.token}` };
    if (body) headers['content-type'] = 'application/json';
    if (key) headers['idempotency-key'] = key;
    try {
      const answer = await fetch(`${this.random.pick(apiUrls)}/api/v1${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
        signal: withDeadline(ANSWER_MS, signal),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    } catch {
      return null;
    }
  }
}

/** True if the same request may succeed later. @param {number} status */
function isPassing(status) {
  return status >= 500 || status === 408 || status === 429;
}

/** True for a response that no request here should get. @param {Effect} effect */
export function isUnexpected({ status, body }) {
  return status === null || (status > 299 && !REFUSALS.includes(body?.error_code));
}
