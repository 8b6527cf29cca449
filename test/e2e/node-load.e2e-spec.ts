import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, type Estate, startCluster } from './harness/estate';
import { GatedJob } from './harness/gated-job';
import { SharedPlatform } from './harness/shared-platform';
import { nodeDirectory, nodeOf } from './harness/survival';

/** Keeps data in caches and shuffle files of all workers, and reads it again once the gate is open. */
const HOLDING = `
import os, sys, time
from pyspark import SparkContext

gate, ready = sys.argv[1], sys.argv[2]
sc = SparkContext.getOrCreate()
pairs = sc.parallelize(range(100000), 4).map(lambda n: (n % 100, n)).persist()
sums = pairs.reduceByKey(lambda a, b: a + b, 4)
print("first", pairs.count(), sums.count(), flush=True)
open(ready, "w").close()
deadline = time.time() + 600
while not os.path.exists(gate):
    if time.time() > deadline:
        sys.exit("the gate was not opened")
    time.sleep(0.05)
print("again", pairs.count(), sums.map(lambda pair: pair[1]).sum(), flush=True)
`;

interface NodeRow {
  node_id: string;
  role: string;
  token: string;
  used_cores: number | null;
  executors: number | null;
  pending_cores: number | null;
  idle_since: Date | null;
  drained_at: Date | null;
}

let platform: SharedPlatform;
let client: ApiClient;
let estate: Estate;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'node-load');
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

const nodesOf = (clusterId: number): Promise<NodeRow[]> =>
  platform.sql<NodeRow>(
    `SELECT * FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity' ORDER BY node_number`,
    [clusterId],
  );

describe('a cluster with workers', () => {
  it('reports its load, and loses no data when a worker is drained', async () => {
    const id = await createCluster(client, estate, 'loaded', {
      cluster_type: 'CLUSTER',
      min_instances: 2,
      max_instances: 2,
    });
    await startCluster(client, id);
    const [gate, ready] = ['gate', 'ready'].map((name) => join(platform.sharedDir, `load-${name}`)) as [string, string];
    const { workspace_id: workspaceId } = await client.post('/workspace', { name: 'loaded' });
    const file = { workspace_id: Number(workspaceId), path: 'holding.py', overwrite: true };
    await client.upload('/workspace/files', HOLDING, { query: file });
    const jobs = `/workspace/${workspaceId}/spark/job`;
    const conf = await client.post(`${jobs}/conf`, {
      name: 'holding',
      cluster_id: id,
      job_type: 'Python3',
      command: 'holding.py',
      arguments: `${gate} ${ready}`,
      driver_memory: '512m',
      executor_memory: '512m',
      executor_cores: 1,
      total_executor_cores: 20,
    });
    const { job_id: jobId } = await client.post(jobs, { job_conf_id: Number(conf.job_conf_id) });
    await eventually(() => existsSync(ready), { timeoutMs: 240_000, what: 'data on the workers' });

    const loaded = await eventually(
      async () => {
        const [master, ...workers] = await nodesOf(id);
        const used = workers.map((worker) => worker.used_cores ?? 0);
        const total = used.reduce((sum, number) => sum + number, 0);
        expect(used.every((number) => number > 0)).toBe(true);
        expect(master?.pending_cores).toBe(20 - total);
        return workers;
      },
      { timeoutMs: 240_000, what: 'the load of all nodes' },
    );
    expect(loaded).toHaveLength(2);
    expect(loaded.map(({ idle_since }) => idle_since)).toEqual(loaded.map(() => null));

    const [going] = loaded;
    await platform.sql(
      'UPDATE cluster_nodes SET draining = TRUE, desired_version = desired_version + 1 WHERE node_id = $1',
      [going?.node_id],
    );
    await eventually(
      async () => {
        // This reads the row of the node even if its machine is gone.
        const [found] = await platform.sql<NodeRow>('SELECT * FROM cluster_nodes WHERE node_id = $1', [going?.node_id]);
        expect(found).toMatchObject({ used_cores: 0, executors: 0 });
        expect([found?.drained_at, found?.idle_since]).toEqual([expect.any(Date), expect.any(Date)]);
        return true;
      },
      { timeoutMs: 240_000, what: 'a drained worker' },
    );

    writeFileSync(gate, '');
    const run = await eventually(
      async () => {
        const found = await client.get(`${jobs}/${jobId}`);
        if (['SUBMITTED', 'RUNNING'].includes(found.job_status)) throw new Error(`the run is ${found.job_status}`);
        return found;
      },
      { timeoutMs: 240_000, what: 'the end of the job' },
    );
    expect(run).toMatchObject({ job_status: 'DONE', reason_code: 'COMPLETED' });
    const sum = (99_999 * 100_000) / 2;
    expect(await client.text(`${jobs}/${jobId}/log/stdout`)).toBe(`first 100000 100\nagain 100000 ${sum}\n`);
    // The stage that writes the shuffle files ran once, and no fetch failed.
    const events = (await client.text(`${jobs}/${jobId}/log/events`)).trim().split('\n');
    const submitted = events.filter((line) => line.includes('"Event":"SparkListenerStageSubmitted"'));
    const writing = submitted.filter((line) => line.includes('"Stage Name":"reduceByKey'));
    expect(writing).toHaveLength(1);
    expect(events.filter((line) => /FetchFailed|"Reason":"(?!Success)/.test(line))).toEqual([]);
    await destroyCluster(client, id);
  });
});

describe('a machine that its provider takes back', () => {
  it('ends its run before that, and accepts no other', async () => {
    const id = await createCluster(client, estate, 'interrupted');
    await startCluster(client, id);
    const job = await GatedJob.describe(platform, client, id, 'interrupted');
    const runId = await job.submit();
    await job.inLoop(runId);
    const { token } = await nodeOf(platform, id);
    const path = join(nodeDirectory(platform, token), 'interruption.json');
    const ends_at = new Date(Date.now() + 12_000).toISOString();
    writeFileSync(`${path}.new`, JSON.stringify({ detail: 'No capacity is left.', ends_at }));
    renameSync(`${path}.new`, path);
    expect(await job.ended(runId)).toMatchObject({
      status: 'TERMINATED',
      reasonCode: 'SPOT_INTERRUPTED',
      reason: expect.stringContaining('No capacity is left.') as string,
    });
    const node = await eventually(
      async () => {
        const [found] = await platform.sql('SELECT * FROM cluster_nodes WHERE token = $1', [token]);
        return found.drained_at !== null && found;
      },
      { what: 'a node without runs' },
    );
    expect(node).toMatchObject({ interruption: 'No capacity is left.', draining: true });
    expect(node.interrupted_at).not.toBeNull();
    await destroyCluster(client, id);
  });
});
