import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { seededRandom } from '../../test/harness/seeded-random.cjs';

/** Operations in progress when a worker is killed. */
const AT_ONCE = 8;
/** A kill comes within this time after the first request for an operation, milliseconds. */
const SPAN_MS = 600;
/** Kills that find no workflow in progress are repeated at most this often for each that counts. */
const TRIES = 20;
const DEADLINE_MS = 90_000;
const POLL_MS = 50;

/**
 * A workflow that a worker held when it was killed.
 * @typedef {{id: string, worker_id: string}} Held
 */

/**
 * Kills a worker with SIGKILL during operations on clusters and measures the time until the workflows that it held have
 * committed their next step. The operations destroy clusters without nodes, so all of the time is the platform's, not that of
 * machines.
 */
export class Recovery {
  /**
   * @param {object} options
   * @param {import('./platform-under-bench.mjs').PlatformUnderBench} options.platform
   * @param {number} options.workers
   * @param {number} options.seed of the moments
   * @param {(text: string) => void} options.print
   * @param {AbortSignal} options.signal
   */
  constructor({ platform, workers, seed, print, signal }) {
    this.platform = platform;
    this.workers = workers;
    this.random = seededRandom(seed).next;
    this.print = print;
    this.signal = signal;
    this.database = new pg.Client({ connectionString: platform.postgres.url });
    this.made = 0;
  }

  /** @param {number} moments number of kills that count @returns {Promise<number[]>} the longest recovery of each kill; seconds, sorted */
  async measure(moments) {
    await this.database.connect();
    try {
      const measured = [];
      for (let tries = 0; measured.length < moments; tries++) {
        if (tries === moments * TRIES) throw new Error('The kills find no workflow that is held.');
        const ms = await this.moment();
        if (ms === null) continue;
        measured.push(ms / 1000);
        this.print(`recovery: kill ${measured.length} of ${moments}, next step after ${(ms / 1000).toFixed(3)} s`);
      }
      return measured.sort((a, b) => a - b);
    } finally {
      await this.database.end();
    }
  }

  /** @returns {Promise<number | null>} null if the worker held no workflow */
  async moment() {
    await this.until('the workers', async () => (await this.registered()).length === this.workers);
    /** @type {number[]} */
    const clusters = [];
    for (let each = 0; each < AT_ONCE; each++) {
      this.made += 1;
      clusters.push(await this.platform.createCluster(`recovery-${this.made}`));
    }
    const at = delay(this.random() * SPAN_MS, undefined, { signal: this.signal });
    const asked = Promise.all(clusters.map((id) => this.platform.ask('destroy', id)));
    // The await below reports a failure; until then it must not count as unhandled.
    asked.catch(() => undefined);
    await at;
    const [victim, killedAt, held] = await this.kill(clusters);
    await asked;
    await this.until('the end of the operations', async () => (await this.open(clusters)) === 0);
    if (victim === null || held.length === 0) return null;
    return this.longest(held, killedAt);
  }

  /**
   * Kills the worker that holds most of the clusters' workflows.
   * @param {number[]} clusters
   * @returns {Promise<[number | null, Date, Held[]]>} its process id, the database's time, and the workflows that it held
   */
  async kill(clusters) {
    const { rows } = await this.database.query(
      `SELECT w.pid, w.worker_id, array_agg(i.workflow_job_instance_id::text) AS held, clock_timestamp() AS at
       FROM clusters c JOIN workflow_job_instances i USING (workflow_job_instance_id)
       JOIN workers w ON split_part(i.lease_owner, ':', 1) = w.worker_id::text
       WHERE c.cluster_id = ANY($1) GROUP BY w.worker_id ORDER BY count(*) DESC LIMIT 1`,
      [clusters],
    );
    const [found] = rows;
    if (!found) return [null, new Date(), []];
    process.kill(found.pid, 'SIGKILL');
    // Steps that the worker could still commit before it died are not a recovery.
    const { rows: left } = await this.database.query(
      `SELECT workflow_job_instance_id::text AS id, split_part(lease_owner, ':', 1) AS worker_id, clock_timestamp() AS at
       FROM workflow_job_instances WHERE workflow_job_instance_id = ANY($1) AND split_part(lease_owner, ':', 1) = $2`,
      [found.held, String(found.worker_id)],
    );
    return [found.pid, left[0]?.at ?? found.at, left];
  }

  /**
   * @param {Held[]} held workflows of the killed worker
   * @param {Date} since
   * @returns {Promise<number | null>} milliseconds until the last of them went on; null if the worker had begun to commit the
   *   last step of each
   */
  async longest(held, since) {
    const { rows } = await this.database.query(
      `SELECT max(next) AS at FROM (
         SELECT min(ended_at) AS next FROM workflow_steps
         WHERE workflow_job_instance_id = ANY($1) AND outcome = 'done' AND ended_at > $2
         GROUP BY workflow_job_instance_id) each`,
      [held.map(({ id }) => id), since],
    );
    return rows[0]?.at ? rows[0].at.getTime() - since.getTime() : null;
  }

  /** @param {number[]} clusters @returns {Promise<number>} the number of their workflows that have not ended */
  async open(clusters) {
    const { rows } = await this.database.query(
      `SELECT count(*)::int AS open FROM clusters c LEFT JOIN workflow_job_instances i USING (workflow_job_instance_id)
       WHERE c.cluster_id = ANY($1) AND (i.ended_at IS NULL OR c.status <> 'DESTROYED')`,
      [clusters],
    );
    return rows[0].open;
  }

  async registered() {
    return (await this.database.query('SELECT worker_id FROM workers WHERE suspected_at IS NULL')).rows;
  }

  /** @param {string} what @param {() => Promise<boolean>} holds */
  async until(what, holds) {
    const deadline = Date.now() + DEADLINE_MS;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`Gave up waiting for ${what} after ${DEADLINE_MS / 1000} s.`);
      await delay(POLL_MS, undefined, { signal: this.signal });
    }
  }
}
