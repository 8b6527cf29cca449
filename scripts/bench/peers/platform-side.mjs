import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { upload } from '../../demo/demo.mjs';
import { KernelClient } from '../kernel-client.mjs';
import { CELL, JAR_CLASS, jobSeconds, PYTHON_JOB, SQL_JOB } from './work.mjs';

/** A node that warms drivers while it is idle has another one ready after this time. */
const REFILL_MS = 20_000;

/** @typedef {import('./turns.mjs').Turn} Turn */

/** Runs of the platform on a PLATFORM cluster of one node. */
export class PlatformSide {
  /** True if the platform warms drivers, which its first answer shows. */
  warms = false;
  /** @type {Record<'python' | 'jar' | 'sql', number>} */
  confs = { python: 0, jar: 0, sql: 0 };
  notebookConfId = 0;

  /**
   * @param {import('../interactive-runs.mjs').InteractiveRuns} runs on a cluster that runs
   * @param {string} memory of each driver
   */
  constructor(runs, memory) {
    this.runs = runs;
    this.platform = runs.platform;
    this.memory = memory;
  }

  /** Describes all runs. @param {string} jar of the job */
  async prepare(jar) {
    const { session, workspaceId } = this.platform;
    await upload(session, workspaceId, 'peers/small_job.py', PYTHON_JOB);
    await upload(session, workspaceId, 'peers/small-job.jar', jar);
    this.confs = {
      python: await this.describe('peers-python', { job_type: 'Python3', command: 'peers/small_job.py' }),
      jar: await this.describe('peers-jar', {
        job_type: 'Jar',
        command: 'peers/small-job.jar',
        class_name: JAR_CLASS,
      }),
      sql: await this.describe('peers-sql', { job_type: 'SQL', rawScalaCode: readFileSync(SQL_JOB, 'utf8') }),
    };
    this.notebookConfId = await this.runs.describeNotebook('peers', { cell: CELL }, { driver_memory: this.memory });
  }

  /** @param {string} name @param {object} fields @returns {Promise<number>} id of a job's configuration */
  async describe(name, fields) {
    const body = { name, cluster_id: this.runs.clusterId, driver_memory: this.memory, ...fields };
    const { job_conf_id: id } = await this.platform.session.json('POST', `${this.platform.jobs}/conf`, { body });
    return Number(id);
  }

  /** @param {'python' | 'jar' | 'sql'} kind @returns {Promise<Turn[]>} */
  job(kind) {
    return this.turns(async () => {
      const { id, ms, log } = await this.platform.runJob(this.confs[kind]);
      const { started_warm: warm } = await this.platform.look(`${this.platform.jobs}/${id}`);
      return { warm, seconds: { [kind]: jobSeconds({ ms, output: log }) } };
    });
  }

  /** A notebook that is started for a cell, and the same cell once more. @returns {Promise<Turn[]>} */
  session() {
    const { runs } = this;
    return this.turns(async () => {
      const began = performance.now();
      const id = await runs.startNotebook(this.notebookConfId);
      const client = await KernelClient.open(runs.socketOf(id));
      await client.execute('cell', CELL);
      const first = (performance.now() - began) / 1000;
      const { ms } = await client.execute('cell', CELL);
      client.close();
      const { started_warm: warm } = await this.platform.look(`${runs.notebooks}/${id}`);
      await runs.endNotebook(id);
      return { warm, seconds: { first, own: first, again: ms / 1000 } };
    });
  }

  /**
   * Takes a turn and, if its driver was a warm one, another at once, which finds none left. An answer without `started_warm`
   * comes from a platform that warms none.
   * @param {() => Promise<{warm: boolean | null | undefined, seconds: Record<string, number>}>} take
   * @returns {Promise<Turn[]>}
   */
  async turns(take) {
    if (this.warms) await delay(REFILL_MS, undefined, { signal: this.runs.signal });
    const { warm, seconds } = await take();
    this.warms ||= typeof warm === 'boolean';
    if (!warm) return [{ side: 'cold', seconds }];
    const next = await take();
    return [
      { side: 'warm', seconds },
      { side: next.warm ? 'warm' : 'cold', seconds: next.seconds },
    ];
  }
}
