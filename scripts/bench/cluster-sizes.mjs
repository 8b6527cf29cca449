import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { upload } from '../demo/demo.mjs';

/** Nodes of the large cluster. */
export const NODES = 10;
const SCRIPT = fileURLToPath(new URL('./hold.py', import.meta.url));
const DEADLINE_MS = 120_000;
const POLL_MS = 25;

/** @typedef {import('./platform-under-bench.mjs').PlatformUnderBench} PlatformUnderBench */

/** Clusters of one node and of many, and one that gets a second node for a waiting run. */
export class ClusterSizes {
  /** @param {PlatformUnderBench} platform @param {AbortSignal} signal */
  constructor(platform, signal) {
    this.platform = platform;
    this.signal = signal;
    this.made = 0;
    this.database = new pg.Client({ connectionString: platform.postgres.url });
  }

  /** @template T @param {(sizes: this) => Promise<T>} work @returns {Promise<T>} */
  async connected(work) {
    await this.database.connect();
    try {
      return await work(this);
    } finally {
      await this.database.end();
    }
  }

  /** Measures a new cluster from the request to RUNNING. @param {number} nodes @returns {Promise<number>} seconds */
  async start(nodes) {
    const clusterId = await this.create({ min_instances: nodes, max_instances: nodes });
    const ms = await this.platform.startCluster(clusterId);
    await this.destroy(clusterId);
    return ms / 1000;
  }

  /**
   * Measures from the submission of a run that finds no slot until its process is launched on the node added for it.
   * @returns {Promise<number>} seconds
   */
  async grow() {
    const { platform } = this;
    const clusterId = await this.create({ min_instances: 1, max_instances: 2 });
    await platform.startCluster(clusterId);
    const job = await this.describeJob(clusterId);
    const first = await this.submit(job);
    await this.until('the first job', async () => (await this.log(first)).includes('begun'));
    const started = performance.now();
    const second = await this.submit(job);
    await this.until('the second job', () => this.isLaunched(second));
    const ms = performance.now() - started;
    await this.destroy(clusterId);
    return ms / 1000;
  }

  /** @param {object} sizes */
  create(sizes) {
    this.made += 1;
    return this.platform.createCluster(`sizes-${this.made}`, {
      cluster_type: 'PLATFORM',
      ...sizes,
      engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 1 },
    });
  }

  /** @param {number} clusterId */
  async describeJob(clusterId) {
    const { session, workspaceId, jobs } = this.platform;
    await upload(session, workspaceId, 'hold.py', SCRIPT);
    const name = `sizes-${clusterId}`;
    const fields = { cluster_id: clusterId, job_type: 'Python3', command: 'hold.py', driver_memory: '512m' };
    const conf = await session.json('POST', `${jobs}/conf`, { body: { name, ...fields } });
    return Number(conf.job_conf_id);
  }

  /** @param {number} jobConfId @returns {Promise<number>} */
  async submit(jobConfId) {
    const { session, jobs } = this.platform;
    return Number((await session.json('POST', jobs, { body: { job_conf_id: jobConfId } })).job_id);
  }

  /** True once the agent has reported the run's process, which is its second report. @param {number} jobId @returns {Promise<boolean>} */
  async isLaunched(jobId) {
    const sql = 'SELECT report_seq >= 2 AS launched FROM runs WHERE run_id = $1';
    return (await this.database.query(sql, [jobId])).rows[0]?.launched ?? false;
  }

  /** @param {number} jobId */
  async log(jobId) {
    const { session, jobs } = this.platform;
    return (await session.send('GET', `${jobs}/${jobId}/log/stdout`)).text();
  }

  /** @param {number} clusterId */
  async destroy(clusterId) {
    await this.platform.ask('destroy', clusterId);
    const path = `/cluster?cluster_id=${clusterId}`;
    await this.until('the end', async () => (await this.platform.look(path)).cluster_status === 'DESTROYED');
  }

  /** @param {string} what @param {() => Promise<boolean>} check */
  async until(what, check) {
    const deadline = performance.now() + DEADLINE_MS;
    while (!(await check())) {
      if (performance.now() > deadline) throw new Error(`${what} did not come within ${DEADLINE_MS / 1000} s.`);
      await delay(POLL_MS, undefined, { signal: this.signal });
    }
  }
}
