import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import {
  createCluster,
  describeEstate,
  destroyCluster,
  type Estate,
  reachStatus,
  startCluster,
  stateReason,
} from './harness/estate';
import { GatedJob } from './harness/gated-job';
import { JobDesk } from './harness/jobs';
import { PlatformUnderTest } from './harness/platform';
import {
  expectNoStrayNodes,
  expectSound,
  historyOf,
  kill9,
  nodeDirectory,
  nodesOf,
  processesOfNode,
  QUICK_RECOVERY,
} from './harness/survival';

const LEASE_MS = 12_000;
/** One job at a time on each node, and idle nodes are removed at once. */
const SIZES = {
  min_instances: 1,
  max_instances: 3,
  clean_up_timeout: 0,
  engine_cluster_spark_config: { max_parallel_spark_job_execution_per_instance: 1 },
};

let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;

beforeAll(async () => {
  const env = {
    ...QUICK_RECOVERY,
    AGENT_LEASE_MS: String(LEASE_MS),
    AGENT_LEASE_MARGIN_MS: '1000',
    CLUSTER_REPLACEMENTS_PER_HOUR: '1',
  };
  platform = await PlatformUnderTest.start({ name: 'cluster-sizes', env });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

async function statuses(clusterId: number): Promise<string[]> {
  return (await historyOf(platform, 'cluster_states', 'cluster_id', clusterId)).map(({ status }) => status);
}

/** Returns the number of nodes with a RUNNING run. */
async function busyNodes(clusterId: number): Promise<number> {
  const sql = `SELECT DISTINCT node_id FROM runs WHERE cluster_id = $1 AND status = 'RUNNING'`;
  return (await platform.sql(sql, [clusterId])).length;
}

/** Kills all processes of the node and removes its files. */
function destroyMachine(token: string): void {
  const { supervisors, agents, others } = processesOfNode(platform, token);
  kill9([...supervisors, ...agents, ...others]);
  rmSync(nodeDirectory(platform, token), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

describe('a PLATFORM cluster', () => {
  it('grows with waiting jobs, and shrinks when they are done', async () => {
    const clusterId = await createCluster(client, estate, 'breathes', SIZES);
    await startCluster(client, clusterId);
    const job = await GatedJob.describe(platform, client, clusterId, 'breathes');
    const runs = [await job.submit(), await job.submit(), await job.submit(), await job.submit()];
    await eventually(async () => (await busyNodes(clusterId)) === 3, {
      timeoutMs: 180_000,
      what: 'three jobs, each on its node',
    });
    await reachStatus(client, clusterId, 'RUNNING');
    expect(await nodesOf(platform, clusterId)).toHaveLength(3);
    job.open();
    for (const run of runs) expect(await job.ended(run)).toMatchObject({ status: 'DONE' });
    await eventually(async () => (await statuses(clusterId)).at(-2) === 'RESIZING_DOWN', {
      what: 'the shrunk cluster',
    });
    await eventually(async () => (await nodesOf(platform, clusterId)).length === 1, { what: 'one node' });
    await reachStatus(client, clusterId, 'RUNNING');
    const history = await statuses(clusterId);
    expect(history.slice(0, 5)).toEqual(['STOPPED', 'INITIATING', 'RUNNING', 'RESIZING_UP', 'RUNNING']);
    const known = ['RESIZING_UP', 'RESIZING_DOWN', 'RUNNING'];
    expect(history.slice(5).filter((status) => !known.includes(status))).toEqual([]);
    await expectSound(platform, clusterId, { history, nodes: 1 });
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });

  it('has the size that a user requests, and ends no job for it', async () => {
    const clusterId = await createCluster(client, estate, 'resized', { ...SIZES, max_instances: 1 });
    await startCluster(client, clusterId);
    const job = await GatedJob.describe(platform, client, clusterId, 'resized');
    const runs = [await job.submit(), await job.submit()];
    await eventually(async () => (await busyNodes(clusterId)) === 1, { timeoutMs: 180_000, what: 'a job' });
    const resize = (bounds: object) => client.post('/cluster/resize', { cluster_id: clusterId, ...bounds });
    expect(await resize({ min_instances: 2, max_instances: 2 })).toMatchObject({ instances: 1, instances_to_add: 1 });
    await eventually(async () => (await busyNodes(clusterId)) === 2, { timeoutMs: 180_000, what: 'the second job' });
    await reachStatus(client, clusterId, 'RUNNING');
    expect(await resize({ min_instances: 1, max_instances: 1 })).toMatchObject({ instances_to_remove: 1 });
    const leaving = () =>
      platform.sql(`SELECT 1 FROM cluster_nodes WHERE cluster_id = $1 AND draining AND busy_slots > 0`, [clusterId]);
    await eventually(async () => (await leaving()).length === 1, { what: 'a busy node that leaves' });
    expect(await busyNodes(clusterId)).toBe(2);
    job.open();
    for (const run of runs) expect(await job.ended(run)).toMatchObject({ status: 'DONE' });
    await eventually(async () => (await nodesOf(platform, clusterId)).length === 1, { what: 'one node' });
    await reachStatus(client, clusterId, 'RUNNING');
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });

  it('abandons a resize when it is stopped, and keeps the nodes that the next start needs', async () => {
    // Without this folder no further node starts.
    const gate = join(platform.sharedDir, 'called-off');
    writeFileSync(gate, '');
    const bootstrap_shell_script = `until [ -e '${gate}' ]; do sleep 0.05; done`;
    const clusterId = await createCluster(client, estate, 'called-off', { ...SIZES, bootstrap_shell_script });
    await startCluster(client, clusterId);
    const job = await GatedJob.describe(platform, client, clusterId, 'called-off');
    rmSync(gate);
    const [first, second] = [await job.submit(), await job.submit()];
    await eventually(async () => (await statuses(clusterId)).at(-1) === 'RESIZING_UP', { what: 'the resize' });
    await client.post('/cluster/stop', { cluster_id: clusterId });
    await reachStatus(client, clusterId, 'STOPPED');
    expect(await statuses(clusterId)).toEqual([
      ...['STOPPED', 'INITIATING', 'RUNNING', 'RESIZING_UP', 'RUNNING', 'STOPPING', 'STOPPED'],
    ]);
    for (const run of [first, second]) expect(await job.ended(run)).toMatchObject({ status: 'TERMINATED' });
    await expectSound(platform, clusterId, { history: await statuses(clusterId), nodes: 1 });
    await expectNoStrayNodes(platform);
    writeFileSync(gate, '');
    await startCluster(client, clusterId);
    expect(await nodesOf(platform, clusterId)).toMatchObject([{ status: 'RUNNING' }]);
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });

  it('replaces a lost node, until that happens too often', async () => {
    const clusterId = await createCluster(client, estate, 'heals', SIZES);
    await startCluster(client, clusterId);
    const job = await GatedJob.describe(platform, client, clusterId, 'heals');
    const lost = await job.submit();
    await job.inLoop();
    const [before] = await nodesOf(platform, clusterId);
    destroyMachine(before?.token ?? '');
    expect(await job.ended(lost)).toMatchObject({ status: 'TERMINATED', reasonCode: 'NODE_LOST' });
    const after = await eventually(
      async () => {
        const nodes = await nodesOf(platform, clusterId);
        return nodes.length === 1 && nodes[0]?.status === 'RUNNING' && nodes[0].token !== before?.token && nodes[0];
      },
      { timeoutMs: 180_000, what: 'another node' },
    );
    job.open();
    expect(await job.ended(await job.submit())).toMatchObject({ status: 'DONE' });
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'RESIZING_UP', 'RUNNING'];
    await expectSound(platform, clusterId, { history, nodes: 1 });
    await expectNoStrayNodes(platform);

    destroyMachine(after ? after.token : '');
    await eventually(async () => (await statuses(clusterId)).at(-1) === 'ERROR', { timeoutMs: 180_000, what: 'ERROR' });
    expect(await stateReason(client, clusterId)).toMatch(
      /^A node is missing, and 1 was already replaced .* Latest loss: Node \d is lost: its machine has disappeared/,
    );
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });
});

/** Requests as many executors as possible, and ends once it runs on two workers. */
const ON_TWO_WORKERS = `
import time
from pyspark import SparkContext

context = SparkContext.getOrCreate()
kept = context.parallelize(range(1000), 4).map(lambda n: (n % 7, n)).groupByKey().cache()
print("groups", kept.count(), flush=True)
deadline = time.time() + 300
while context._jsc.sc().getExecutorMemoryStatus().size() < 3:
    if time.time() > deadline:
        raise SystemExit("no second worker came")
    time.sleep(0.2)
print("groups", kept.count(), flush=True)
context.stop()
`;

describe('a CLUSTER', () => {
  it('adds a worker for the cores that its applications request, and removes an idle one', async () => {
    const clusterId = await createCluster(client, estate, 'workers', {
      ...SIZES,
      cluster_type: 'CLUSTER',
      max_instances: 2,
    });
    await startCluster(client, clusterId);
    const [{ cores = 0 } = {}] = await platform.sql<{ cores: number }>(
      `SELECT cores FROM cluster_nodes WHERE cluster_id = $1 AND role = 'worker'`,
      [clusterId],
    );
    const desk = await JobDesk.open(client, 'workers');
    await desk.upload('two.py', ON_TWO_WORKERS);
    const run = await desk.succeed(clusterId, 'two', {
      ...{ job_type: 'Python3', command: 'two.py', executor_memory: '512m' },
      ...{ executor_cores: cores, total_executor_cores: 2 * cores },
    });
    expect(await desk.log(run.job_id)).toMatch(/groups 7\s+groups 7/);
    await eventually(async () => (await nodesOf(platform, clusterId)).length === 2, {
      timeoutMs: 180_000,
      what: 'the master and one worker',
    });
    await reachStatus(client, clusterId, 'RUNNING');
    expect(await statuses(clusterId)).toEqual([
      ...['STOPPED', 'INITIATING', 'RUNNING', 'RESIZING_UP', 'RUNNING', 'RESIZING_DOWN', 'RUNNING'],
    ]);
    // A lost worker is replaced; without its master the cluster is lost.
    const [master, worker] = await nodesOf(platform, clusterId);
    destroyMachine(worker?.token ?? '');
    await eventually(
      async () => {
        const nodes = await nodesOf(platform, clusterId);
        return (
          nodes.length === 2 && nodes.every(({ token, status }) => token !== worker?.token && status === 'RUNNING')
        );
      },
      { timeoutMs: 180_000, what: 'another worker' },
    );
    expect((await statuses(clusterId)).at(-1)).toBe('RUNNING');
    destroyMachine(master?.token ?? '');
    await eventually(async () => (await statuses(clusterId)).at(-1) === 'ERROR', { timeoutMs: 180_000, what: 'ERROR' });
    expect(await stateReason(client, clusterId)).toMatch(/^Node 0 is lost: its machine has disappeared/);
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });
});

describe('a spot cluster', () => {
  it('replaces a machine that its provider takes back, and the job there says why it ended', async () => {
    const clusterId = await createCluster(client, estate, 'spot', SIZES);
    // No local machine type offers spot instances, so the test sets the column; the rest is the same.
    await platform.sql('UPDATE clusters SET is_spot_instance = true WHERE cluster_id = $1', [clusterId]);
    await startCluster(client, clusterId);
    const [taken] = await nodesOf(platform, clusterId);
    const token = taken?.token ?? '';
    const job = await GatedJob.describe(platform, client, clusterId, 'spot');
    const run = await job.submit();
    await job.inLoop(run);
    // This file stands for the metadata of a provider. The rename is atomic, so the agent never reads half of it.
    const notice = join(nodeDirectory(platform, token), 'interruption.json');
    const endsAt = new Date(Date.now() + 20_000).toISOString();
    writeFileSync(`${notice}.new`, JSON.stringify({ detail: 'Capacity is wanted back.', ends_at: endsAt }));
    renameSync(`${notice}.new`, notice);
    expect(await job.ended(run)).toMatchObject({ status: 'TERMINATED', reasonCode: 'SPOT_INTERRUPTED' });
    await eventually(
      async () => {
        const nodes = await nodesOf(platform, clusterId);
        return nodes.length === 1 && nodes[0]?.status === 'RUNNING' && nodes[0].token !== token;
      },
      { timeoutMs: 180_000, what: 'another node alone' },
    );
    expect(await statuses(clusterId)).toEqual(['STOPPED', 'INITIATING', 'RUNNING']);
    await destroyCluster(client, clusterId);
    await expectNoStrayNodes(platform);
  });
});
