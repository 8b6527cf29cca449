import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, startCluster } from './harness/estate';
import { HistoryServer } from './harness/history-server';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** Shuffles, writes and reads; then one task fails, and another one waits for the gate. */
const SCRIPT = `
import os, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.task.maxFailures", 1).getOrCreate()
sums = spark.range(0, 300000, 1, 3).selectExpr("id % 1000 AS k", "id AS v").groupBy("k").sum("v")
print("rows", sums.count(), flush=True)
# Executors on other nodes run as other users, who may not write to the driver's folders.
if spark.sparkContext.master.startswith("local"):
    sums.write.parquet("out")
    print("rows", spark.read.parquet("out").count(), flush=True)
try:
    spark.sparkContext.parallelize([0], 1).map(lambda n: 1 // n).collect()
except Exception:
    print("failed", flush=True)
def wait(gate):
    while not os.path.exists(gate):
        time.sleep(0.1)
    return 1
print("waits", flush=True)
print("sum", spark.sparkContext.parallelize([sys.argv[1]], 1).map(wait).sum(), flush=True)
spark.stop()
`;

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let history: HistoryServer | undefined;
let gates = 0;

const metricsOf = (id: number): Promise<Json> => admin.get(`${desk.path}/job/${id}/metrics`);
const gate = (): string => join(platform.sharedDir, `gate-${(gates += 1)}`);
const sumOf = (list: Json[], key: string): number => list.reduce((sum, one) => sum + one[key], 0);

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'job-metrics');
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'metrics');
  await desk.upload('work.py', SCRIPT);
});

afterAll(async () => {
  await history?.stop();
  await platform?.close();
});

describe('the metrics of a job', () => {
  it('are shown during and after the run, as the History Server reads them', async () => {
    const estate = await describeEstate(admin, platform.runtime.sparkVersion);
    const local = await createCluster(admin, estate, 'local');
    const master = await createCluster(admin, estate, 'master', {
      cluster_type: 'STANDALONE',
      engine_cluster_spark_config: { num_of_workers: 1, max_parallel_spark_job_execution_per_instance: 1 },
    });
    const path = gate();
    const fields = { command: 'work.py', arguments: path, executor_memory: '512m', total_executor_cores: 1 };
    const waiting = await desk.start(master, 'distributed', fields);
    const empty = await metricsOf(waiting);
    expect(empty).toMatchObject({ job_id: waiting, job_application_id: null, stages: [], executors: [] });
    expect(new Set(Object.values(empty.totals))).toEqual(new Set([0]));

    await desk.reached(waiting, ['RUNNING']);
    await desk.said(waiting, 'waits');
    await startCluster(admin, local);
    const live = await eventually(
      async () => {
        const metrics = await metricsOf(waiting);
        const found = metrics.stages.map((stage: Json) => stage.status);
        // A stage is also pending before it fails; the stage that waits follows it.
        const isWaiting = found.includes('FAILED') && (found.includes('PENDING') || found.includes('ACTIVE'));
        return isWaiting ? metrics : null;
      },
      { what: 'a stage that runs, after one that failed' },
    );
    expect(live.job_application_id).toMatch(/^app-/);
    expect(live.stages.map((stage: Json) => stage.status)).toContain('COMPLETE');
    const { nodes } = await eventually(
      async () => {
        const metrics = await admin.get(`/cluster/${master}/metrics`);
        return metrics.nodes[0].points.at(-1)?.slots.used_max === 1 ? metrics : null;
      },
      { timeoutMs: 180_000, what: 'the node with the job in the metrics of its cluster' },
    );
    // The node runs a master, a worker, a driver and an executor.
    expect(nodes).toMatchObject([{ node_number: 0, role: 'master-and-workers', node_status: 'RUNNING' }]);
    expect(nodes[0].points.at(-1).memory_mb.used_max).toBeGreaterThan(200);
    expect(Math.max(...nodes[0].points.map((point: Json) => point.cores.used_max))).toBeGreaterThan(0);
    const ended = await metricsOf(await theEnd(waiting, path));
    expect(ended.stages.at(-1)).toMatchObject({ status: 'COMPLETE', tasks: 1, planned_tasks: 1 });

    const gone = await desk.start(local, 'killed', { command: 'work.py', arguments: gate() });
    await desk.said(gone, 'waits');
    await desk.kill(gone);
    expect((await desk.ended(gone)).job_status).toBe('STOPPED');
    const killed = await metricsOf(gone);
    // Spark ends the stage itself if it has the time.
    expect(killed.stages.at(-1).status).toMatch(/^(FAILED|ABORTED)$/);
    expect(killed.totals.output_bytes).toBeGreaterThan(0);
    expect(killed.totals.input_bytes).toBeGreaterThan(0);
    expect(killed.executors).toMatchObject([{ executor_id: 'driver', cores: expect.any(Number) }]);

    const name = (of: Json, ending = '') => `${of.job_application_id}${ending}`;
    history = await HistoryServer.start(platform.runtime, {
      [name(ended)]: await desk.log(waiting, 'events'),
      [name(killed, '.inprogress')]: await desk.log(gone, 'events'),
    });
    for (const metrics of [ended, killed]) await sameAsHistory(history, metrics);
    await Promise.all([destroyCluster(admin, local), destroyCluster(admin, master)]);
    expect(await metricsOf(waiting)).toEqual(ended);
  });
});

async function theEnd(id: number, path: string): Promise<number> {
  writeFileSync(path, '');
  await desk.done(id);
  return id;
}

/** Compares the platform's metrics of a job with those of Spark's own reader of the same file. */
async function sameAsHistory(server: HistoryServer, metrics: Json): Promise<void> {
  const stages: Json[] = await server.application(metrics.job_application_id, 'stages');
  for (const stage of metrics.stages) {
    const isIt = (one: Json) => one['stageId'] === stage.stage_id && one['attemptId'] === stage.attempt;
    const theirs: Json = stages.find(isIt) ?? {};
    expect(stage).toMatchObject({
      name: theirs['name'],
      planned_tasks: theirs['numTasks'],
      failed_tasks: theirs['numFailedTasks'],
      input_bytes: theirs['inputBytes'],
      output_bytes: theirs['outputBytes'],
      shuffle_read_bytes: theirs['shuffleReadBytes'],
      shuffle_write_bytes: theirs['shuffleWriteBytes'],
      spilled_bytes: theirs['diskBytesSpilled'],
    });
  }
  // Skipped stages did nothing and are not in the log.
  expect(metrics.stages.length).toBe(stages.filter((one) => one['status'] !== 'SKIPPED').length);
  expect(metrics.totals.shuffle_read_bytes).toBeGreaterThan(0);
  expect(metrics.totals.tasks).toBe(sumOf(metrics.stages, 'tasks'));
  expect(metrics.totals.tasks).toBe(sumOf(metrics.executors, 'tasks'));
  expect(metrics.totals.gc_ms).toBe(sumOf(metrics.executors, 'gc_ms'));
  const executors: Json[] = await server.application(metrics.job_application_id, 'allexecutors');
  for (const executor of metrics.executors) {
    const theirs: Json = executors.find((one) => one['id'] === executor.executor_id) ?? {};
    expect(executor.cores).toBe(theirs['totalCores']);
    expect(theirs['hostPort']).toContain(executor.host);
    // A driver that runs no tasks reports its memory only every ten seconds.
    if (executor.tasks > 0) expect(executor.peak_memory_bytes).toBeGreaterThan(10_000_000);
  }
}
