import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { measure } from './comparison.mjs';
import { MeasuringProcesses } from './processes.mjs';
import { copyLatestRun, takeAllSlots } from './run-copies.mjs';

const FEW = 1_000;
const MANY = 1_000_000;
const PAGE = 100;
const SECONDS = 2;
const WAITING = 100_000;
const DEADLINE_MS = 300_000;
/** Pause between two attempts to lock the cluster whose runs are being ended. */
const PAUSE_MS = 50;

/**
 * Measures reads of runs in milliseconds per response, one request at a time: first with few ended runs in the workspace and
 * the cluster, then with many.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 * @param {number} rounds
 * @returns {Promise<{title: string, baseline: number[], product: number[]}[]>}
 */
export async function measureReads(platform, signal, rounds) {
  const { session, jobs, clusterId } = platform;
  const client = new pg.Client({ connectionString: platform.postgres.url });
  await client.connect();
  const processes = new MeasuringProcesses(signal);
  try {
    await takeAllSlots(platform, client);
    const { job_id: jobId } = await session.json('POST', jobs, { body: { job_conf_id: platform.jobConfId } });
    const [, workspaceId] = /^\/workspace\/(\d+)\//.exec(jobs) ?? [];
    const reads = [
      { title: 'GET of a job by id', path: `${jobs}/${jobId}` },
      { title: 'GET of the newest 100 jobs of a workspace', path: `${jobs}s?limit=${PAGE}` },
      { title: 'GET of the job statistics of a workspace', path: `/workspace/stats?workspace_id=${workspaceId}` },
      { title: 'GET of the job statistics of a cluster', path: `/cluster/stats?cluster_id=${clusterId}` },
    ];
    const load = processes.startLoad();
    const port = Number(new URL(session.baseUrl).port);
    const headers = { authorization: `Bearer ${session.token}` };
    /** @param {string} path */
    const milliseconds = async (path) => {
      const asked = { port, path: `/api/v1${path}`, headers, connections: 1, seconds: SECONDS };
      return 1_000 / (await load(asked)).perSecond;
    };
    /** @param {string} path */
    const times = async (path) => {
      await milliseconds(path);
      const figures = [];
      for (let round = 0; round < rounds; round += 1) figures.push(await milliseconds(path));
      return figures;
    };
    /** @type {{title: string, path: string, baseline: number[], product: number[]}[]} */
    const measured = [];
    await copyLatestRun(client, FEW, 'DONE');
    for (const read of reads) measured.push({ ...read, baseline: await times(read.path), product: [] });
    platform.print(`Filling the workspace with ${MANY} jobs that have ended`);
    await copyLatestRun(client, MANY - FEW, 'DONE');
    for (const read of measured) read.product = await times(read.path);
    return measured;
  } finally {
    await processes.close();
    await client.end();
  }
}

/**
 * Destroys a cluster that many runs wait for, while another transaction locks it again and again.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function measureDestroy(platform, signal) {
  const { session, jobs, jobConfId, clusterId, postgres } = platform;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await takeAllSlots(platform, client);
    await session.json('POST', jobs, { body: { job_conf_id: jobConfId } });
    await copyLatestRun(client, WAITING - 1, 'SUBMITTED');
    platform.print(`Destroying a cluster that ${WAITING} jobs wait for`);
    const begun = performance.now();
    await session.json('POST', '/cluster/destroy', { body: { cluster_id: clusterId } });
    let longest = 0;
    for (;;) {
      const asked = performance.now();
      await client.query('SELECT 1 FROM clusters WHERE cluster_id = $1 FOR NO KEY UPDATE', [clusterId]);
      longest = Math.max(longest, performance.now() - asked);
      const { rows } = await client.query('SELECT 1 FROM runs WHERE cluster_id = $1 AND ended_at IS NULL LIMIT 1', [
        clusterId,
      ]);
      if (rows.length === 0) break;
      if (asked - begun > DEADLINE_MS) throw new Error(`Jobs still wait after ${DEADLINE_MS / 1_000} s.`);
      await delay(PAUSE_MS, undefined, { signal });
    }
    const title = `a cluster that ${WAITING} jobs wait for is destroyed`;
    return [
      measure({
        name: 'destroy',
        title: `${title}: until all have ended`,
        unit: 's',
        goal: { below: 60 },
        value: (performance.now() - begun) / 1_000,
      }),
      measure({
        name: 'destroy-lock',
        title: `${title}: longest that somebody else waited for the cluster's lock, the writing of the log included`,
        unit: 'ms',
        goal: { below: 200 },
        value: longest,
      }),
    ];
  } finally {
    await client.end();
  }
}
