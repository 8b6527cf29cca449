import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { ClusterNodesRepository } from '../../src/modules/clusters/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../src/modules/clusters/cluster-rows.repository';
import { ClusterSlotsService } from '../../src/modules/clusters/cluster-slots.service';
import type { ClusterStartsService } from '../../src/modules/clusters/cluster-starts.service';
import { ClustersRepository } from '../../src/modules/clusters/clusters.repository';
import { RunScheduler } from '../../src/modules/jobs/run-scheduler.service';
import { START_RUN } from '../../src/modules/jobs/run-workflows';
import { RunsRepository } from '../../src/modules/jobs/runs.repository';
import { startWorkflow } from '../../src/platform/workflows/workflow-intents';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { configure, createTestDatabase, prepare, type TestDatabase } from './harness/test-api';

const PARALLEL = 3;
const NODES = 2;
const RUNS = 30;

interface Placed {
  run_id: number;
  node_id: number | null;
  status: string;
}

// Real: PostgreSQL, the scheduler and its repositories. Left out: the agents, whose reports free the slots, and starts.
describe('RunScheduler', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let tenancy: Tenancy;
  let runs: RunsRepository;
  let clusters: ClusterSlotsService;
  let scheduler: RunScheduler;
  let made = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = configure(database.url);
    await prepare(config);
    dataSource = await createDataSource(config.database, 'test').initialize();
    runs = new RunsRepository(dataSource);
    clusters = new ClusterSlotsService(
      new ClustersRepository(dataSource),
      new ClusterRowsRepository(dataSource),
      new ClusterNodesRepository(dataSource),
      {} as ClusterStartsService,
    );
    scheduler = new RunScheduler(dataSource, runs, clusters);
  });

  beforeEach(async () => {
    made += 1;
    tenancy = await makeTenancy(dataSource.manager, `tenant-${made}`);
    await dataSource.query('UPDATE clusters SET max_parallel_jobs = $2 WHERE cluster_id = $1', [
      tenancy.clusterId,
      PARALLEL,
    ]);
    for (let number = 0; number < NODES; number += 1) await makeNode(dataSource.manager, tenancy, number);
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  /** Writes a run and gives it a slot if one is free, as a submission does. */
  async function submit(): Promise<number> {
    const { tenantId, clusterId, workspaceId, jobConfId } = tenancy;
    return dataSource.transaction(async (tx) => {
      const cluster = await clusters.lock(tx, clusterId);
      const runId = await runs.nextId(tx);
      const workflow = await startWorkflow(tx, START_RUN, { kind: 'run', tenantId, id: runId }, null);
      await insertPlain(tx, 'runs', {
        run_id: runId,
        tenant_id: tenantId,
        cluster_id: clusterId,
        workspace_id: workspaceId,
        job_conf_id: jobConfId,
        status: 'SUBMITTED',
        workflow_job_instance_id: workflow.workflow_job_instance_id,
      });
      await runs.begin(tx, runId, tenancy.userId);
      if (cluster) await scheduler.assignWaiting(tx, cluster);
      return runId;
    });
  }

  /** Ends a run and hands its slot on, as the report of an agent does. */
  async function end(runId: number): Promise<void> {
    await dataSource.transaction(async (tx) => {
      const cluster = await clusters.lock(tx, tenancy.clusterId);
      const run = await runs.lock(tx, runId);
      if (!cluster || !run) throw new Error('no run');
      await scheduler.end(tx, run, { to: 'DONE', code: 'COMPLETED', reason: 'Done.', exitCode: 0 });
      await scheduler.assignWaiting(tx, cluster);
    });
  }

  async function placed(): Promise<Placed[]> {
    return dataSource.query<Placed[]>(
      'SELECT run_id, node_id, status FROM runs WHERE cluster_id = $1 ORDER BY run_id',
      [tenancy.clusterId],
    );
  }

  const isRunning = (run: Placed) => run.node_id !== null && run.status === 'SUBMITTED';

  function expectBounded(all: Placed[]): void {
    const busy = new Map<number, number>();
    for (const { node_id: node } of all.filter(isRunning)) busy.set(node ?? 0, (busy.get(node ?? 0) ?? 0) + 1);
    for (const count of busy.values()) expect(count).toBeLessThanOrEqual(PARALLEL);
  }

  it('fills every slot and no more when many runs come at once', async () => {
    await Promise.all(Array.from({ length: RUNS }, submit));
    const all = await placed();
    expectBounded(all);
    expect(all.filter(isRunning)).toHaveLength(NODES * PARALLEL);
  });

  it('spreads runs over the nodes', async () => {
    for (let count = 0; count < NODES; count += 1) await submit();
    expect(new Set((await placed()).map(({ node_id }) => node_id)).size).toBe(NODES);
  });

  it('keeps to the slots while runs come, end and are settled all at once, and leaves no run behind', async () => {
    await Promise.all(Array.from({ length: RUNS / 2 }, submit));
    for (;;) {
      const all = await placed();
      expectBounded(all);
      const [first, second] = all.filter(isRunning);
      if (!first) break;
      const more = all.length < RUNS ? [submit(), submit()] : [];
      const settle = () => scheduler.settle(tenancy.clusterId);
      await Promise.all([end(first.run_id), second ? end(second.run_id) : settle(), ...more, settle(), settle()]);
    }
    const all = await placed();
    expect(all.length).toBeGreaterThanOrEqual(RUNS);
    expect(all.filter(({ status }) => status !== 'DONE')).toEqual([]);
  });

  it('gives a free slot to the oldest run, and the same end twice frees one slot only', async () => {
    const ids: number[] = [];
    for (let count = 0; count < NODES * PARALLEL + 3; count += 1) ids.push(await submit());
    const [first = 0] = ids;
    await Promise.all([end(first), end(first), end(first)]);
    const waiting = (await placed()).filter(({ node_id }) => node_id === null).map(({ run_id }) => run_id);
    expect(waiting).toEqual(ids.slice(-2));
    const [history] = await dataSource.query<{ count: number }[]>('SELECT count(*) FROM run_states WHERE run_id = $1', [
      first,
    ]);
    expect(history?.count).toBe(2);
  });

  it('gives no slot of a node that is not ready, and none of a cluster that is not running', async () => {
    await dataSource.query(
      `UPDATE cluster_nodes SET daemons_state = 'starting' WHERE cluster_id = $1 AND node_number = 0`,
      [tenancy.clusterId],
    );
    await Promise.all(Array.from({ length: NODES * PARALLEL }, submit));
    expect((await placed()).filter(isRunning)).toHaveLength(PARALLEL);
    await dataSource.query(`UPDATE cluster_nodes SET daemons_state = 'ready' WHERE cluster_id = $1`, [
      tenancy.clusterId,
    ]);
    await dataSource.query(`UPDATE clusters SET status = 'STOPPING' WHERE cluster_id = $1`, [tenancy.clusterId]);
    await scheduler.settle(tenancy.clusterId);
    expect((await placed()).filter(isRunning)).toHaveLength(PARALLEL);
    await dataSource.query(`UPDATE clusters SET status = 'RUNNING' WHERE cluster_id = $1`, [tenancy.clusterId]);
    await scheduler.settle(tenancy.clusterId);
    expect((await placed()).filter(isRunning)).toHaveLength(NODES * PARALLEL);
  });
});
