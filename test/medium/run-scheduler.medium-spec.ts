import type { DataSource, EntityManager } from 'typeorm';
import { COUNTS } from '../harness/invariants.cjs';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterRowsRepository } from '../../src/modules/execution/clusters/model/cluster-rows.repository';
import { ClusterSlotsService } from '../../src/modules/execution/clusters/nodes/cluster-slots.service';
import type { ClusterStartsService } from '../../src/modules/execution/clusters/lifecycle/cluster-starts.service';
import { ClusterDefinitionsRepository } from '../../src/modules/execution/clusters/definition/cluster-definitions.repository';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import type { DependencyRepositoriesService } from '../../src/modules/infrastructure/storage/dependency-repositories/dependency-repositories.service';
import { RunConfigurationsRepository } from '../../src/modules/execution/runs/jobs/run-configurations.repository';
import { RunScheduler } from '../../src/modules/execution/runs/jobs/run-scheduler.service';
import { RunsRepository } from '../../src/modules/execution/runs/jobs/runs.repository';
import { RunsService } from '../../src/modules/execution/runs/jobs/runs.service';
import { JobsService } from '../../src/modules/execution/runs/jobs/jobs.service';
import type { LogsService } from '../../src/modules/infrastructure/storage/logs/logs.service';
import type { ReferenceData } from '../../src/modules/foundation/reference-data/reference-data';
import type { WorkspacesService } from '../../src/modules/execution/workspaces/workspaces.service';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { Transactions } from '../../src/platform/kernel/persistence/transactions';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import { preparedDatabase } from './harness/test-api';
import { autocommit } from '../harness/autocommit';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const PARALLEL = 3;
const NODES = 2;
const RUNS = 30;
/** Concurrent submissions; the pool has more connections. */
const AT_ONCE = 15;

interface Placed {
  run_id: number;
  node_id: number | null;
  status: string;
}

// Real: PostgreSQL, the scheduler and its repositories. Left out: the agents, whose reports free the slots, and starts.
describe('RunScheduler', () => {
  const { dataSource } = preparedDatabase();
  let tenancy: Tenancy;
  let runs: RunsRepository;
  let clusters: ClusterSlotsService;
  let scheduler: RunScheduler;
  let service: JobsService;
  let made = 0;

  beforeAll(async () => {
    runs = new RunsRepository(dataSource);
    clusters = new ClusterSlotsService(
      new ClusterDefinitionsRepository(dataSource),
      new ClusterRowsRepository(dataSource),
      new ClusterNodesRepository(dataSource),
      {} as ClusterStartsService,
    );
    scheduler = new RunScheduler(dataSource, runs, clusters, createLogger('test', 'silent'));
    const transactions = new Transactions(dataSource);
    const workspaces = {} as WorkspacesService;
    const dependencies = { assertStillAllowed: async () => undefined } as unknown as DependencyRepositoriesService;
    const referenceData = { runtimeSupport: () => ({ arguments: true, conf: true }) } as unknown as ReferenceData;
    const logs = {} as LogsService;
    const submitted = new RunsService(
      transactions,
      runs,
      new RunConfigurationsRepository(dataSource),
      scheduler,
      clusters,
      workspaces,
      logs,
      referenceData,
      dependencies,
    );
    service = new JobsService(transactions, submitted, runs);
  });

  beforeEach(async () => {
    made += 1;
    tenancy = await makeTenancy(dataSource.manager, `tenant-${made}`);
    await dataSource.query('UPDATE clusters SET max_parallel_jobs = $2 WHERE cluster_id = $1', [
      tenancy.clusterId,
      PARALLEL,
    ]);
    const settings = settingsOf({ command: 'job.py' });
    await dataSource.query('UPDATE job_confs SET settings = $2 WHERE job_conf_id = $1', [tenancy.jobConfId, settings]);
    for (let number = 0; number < NODES; number += 1) await makeNode(dataSource.manager, tenancy, number);
  });

  afterEach(async () => {
    for (const { name, sql } of COUNTS) {
      const wrong = await dataSource.query(sql, [tenancy.clusterId]);
      expect({ name, wrong }).toEqual({ name, wrong: [] });
    }
  });

  async function submit(): Promise<number> {
    const { tenantId, workspaceId, jobConfId, userId } = tenancy;
    const workspace = { workspaceId, name: 'somewhere', description: null, active: true };
    const scope = { tenantId, userId, username: 'somebody', workspace };
    return Number((await service.submit(scope, { job_conf_id: jobConfId })).job_id);
  }

  /** Submits many concurrently, but no more than there are connections: the others would time out. */
  async function submitMany(count: number): Promise<void> {
    let left = count;
    const some = async () => {
      while (left > 0) {
        left -= 1;
        await submit();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
  }

  /** Ends a run and passes its slot on, as the report of an agent does. */
  async function end(runId: number): Promise<void> {
    await inTransaction(dataSource, async (tx) => {
      const cluster = await clusters.lock(tx, tenancy.clusterId);
      const run = await runs.lock(tx, runId);
      if (!cluster || !run) throw new Error('no run');
      await scheduler.end(tx, run, { to: 'DONE', code: 'COMPLETED', reason: 'Done.', exitCode: 0, step: 'report' });
      await scheduler.assignWaiting(tx, cluster);
    });
    await scheduler.reschedule(tenancy.clusterId);
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

  it('finds the waiting runs by their index among many ended ones, even if the planner expects most to wait', async () => {
    const runId = await submit();
    const plans: string[] = [];
    const undone = inTransaction(dataSource, async (tx) => {
      await tx.query(
        `INSERT INTO runs OVERRIDING SYSTEM VALUE SELECT copy.* FROM runs r CROSS JOIN generate_series(1, 5000) n
           CROSS JOIN LATERAL jsonb_populate_record(r, jsonb_build_object('node_id', NULL, 'exit_code', n,
             'run_id', nextval(pg_get_serial_sequence('runs', 'run_id')))) copy WHERE r.run_id = $1`,
        [runId],
      );
      await tx.query('ANALYZE runs');
      const explained = {
        query: async (sql: string, params: unknown[]) => {
          const [plan] = await tx.query(`EXPLAIN (FORMAT JSON) ${sql}`, params);
          plans.push(JSON.stringify(plan));
          return [];
        },
      };
      await runs.waiting(autocommit(explained as unknown as EntityManager), tenancy.clusterId, 100);
      await new RunsRepository({ manager: explained } as unknown as DataSource).needsScheduling(tenancy.clusterId);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(plans).toHaveLength(2);
    for (const plan of plans) expect(plan).toContain('"ix_runs_waiting"');
  });

  it('fills every slot and no more if many runs are submitted at once', async () => {
    await Promise.all(Array.from({ length: RUNS }, submit));
    const all = await placed();
    expectBounded(all);
    expect(all.filter(isRunning)).toHaveLength(NODES * PARALLEL);
  });

  it('spreads runs over the nodes', async () => {
    for (let count = 0; count < NODES; count += 1) await submit();
    expect(new Set((await placed()).map(({ node_id }) => node_id)).size).toBe(NODES);
  });

  it('never exceeds the slots while runs are submitted, ended and scheduled concurrently, and forgets none', async () => {
    await Promise.all(Array.from({ length: RUNS / 2 }, submit));
    for (;;) {
      const all = await placed();
      expectBounded(all);
      const [first, second] = all.filter(isRunning);
      if (!first) break;
      const more = all.length < RUNS ? [submit(), submit()] : [];
      const schedule = () => scheduler.schedule(tenancy.clusterId);
      await Promise.all([end(first.run_id), second ? end(second.run_id) : schedule(), ...more, schedule(), schedule()]);
    }
    const all = await placed();
    expect(all.length).toBeGreaterThanOrEqual(RUNS);
    expect(all.filter(({ status }) => status !== 'DONE')).toEqual([]);
  });

  it('gives a free slot to the oldest run, and frees a slot once if a run ends twice', async () => {
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

  it('assigns no slot of a node that is not ready or a cluster that is not running', async () => {
    await dataSource.query(
      `UPDATE cluster_nodes SET daemons_state = 'starting' WHERE cluster_id = $1 AND node_number = 0`,
      [tenancy.clusterId],
    );
    await Promise.all(Array.from({ length: NODES * PARALLEL }, submit));
    expect((await placed()).filter(isRunning)).toHaveLength(PARALLEL);
    await dataSource.query(`UPDATE cluster_nodes SET daemons_state = 'ready' WHERE cluster_id = $1`, [
      tenancy.clusterId,
    ]);
    await setClusterStatus(dataSource.manager, tenancy.clusterId, 'STOPPING');
    await scheduler.schedule(tenancy.clusterId);
    expect((await placed()).filter(isRunning)).toHaveLength(PARALLEL);
    await setClusterStatus(dataSource.manager, tenancy.clusterId, 'RUNNING');
    await scheduler.schedule(tenancy.clusterId);
    expect((await placed()).filter(isRunning)).toHaveLength(NODES * PARALLEL);
  });

  it('keeps to the limit of unfinished runs of a configuration, however many are submitted at once', async () => {
    await dataSource.query('UPDATE job_confs SET max_concurrency = 4, unfinished_runs = 0 WHERE job_conf_id = $1', [
      tenancy.jobConfId,
    ]);
    const answers = await Promise.allSettled(Array.from({ length: 10 }, submit));
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(ids).toHaveLength(4);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'JOB_CONF.MAX_CONCURRENCY' });
    }
    await end(ids[0] ?? 0);
    await submit();
    await expect(submit()).rejects.toMatchObject({ code: 'JOB_CONF.MAX_CONCURRENCY' });
  });

  it('ends all runs that wait for a destroyed cluster, in transactions of bounded length', async () => {
    await dataSource.query(`UPDATE cluster_nodes SET daemons_state = 'starting' WHERE cluster_id = $1`, [
      tenancy.clusterId,
    ]);
    await submitMany(250);
    await setClusterStatus(dataSource.manager, tenancy.clusterId, 'DESTROYED');
    await scheduler.schedule(tenancy.clusterId);
    const [ends] = await dataSource.query(
      `SELECT count(*) AS runs, count(DISTINCT r.ended_at) AS moments, min(r.status) AS status, max(r.reason_code) AS code,
         count(*) FILTER (WHERE s.reason LIKE 'The cluster was destroyed%') AS histories
       FROM runs r
         JOIN run_states s ON s.run_id = r.run_id AND s.end_time = 'infinity' AND s.sequence = 2
       WHERE r.cluster_id = $1`,
      [tenancy.clusterId],
    );
    const all = { runs: 250, histories: 250, status: 'TERMINATED', code: 'CLUSTER_DESTROYED' };
    expect(ends).toEqual({ ...all, moments: 3 });
  });

  it('ends runs of a disabled user instead of starting them, and starts the next ones', async () => {
    const mine = await Promise.all(Array.from({ length: PARALLEL * NODES + 2 }, submit));
    const waits = (await placed()).filter(({ node_id }) => node_id === null).map(({ run_id }) => run_id);
    const { user_id: other } = await insertPlain(dataSource.manager, 'users', {
      username: `other-${tenancy.tenantId}`,
      email: 'other@example.org',
    });
    tenancy = { ...tenancy, userId: Number(other) };
    await giveRole(tenancy.userId, 'USER');
    await givePermission(tenancy.userId, 'RUN');
    const theirs = await submit();
    await dataSource.query(
      'UPDATE users SET to_date = now() WHERE user_id = (SELECT created_by_user_id FROM runs WHERE run_id = $1)',
      [waits[0]],
    );
    await end(mine.find((id) => !waits.includes(id)) ?? 0);
    // A free slot is assigned once, so the worker must reschedule the runs that wait behind.
    const asked = `SELECT payload FROM outbox_messages WHERE job_name = 'job.dispatch' ORDER BY outbox_message_id DESC LIMIT 1`;
    expect(await dataSource.query(asked)).toEqual([{ payload: { cluster_id: tenancy.clusterId } }]);
    await scheduler.schedule(tenancy.clusterId);
    const ends = await dataSource.query('SELECT run_id, status, reason_code FROM runs WHERE run_id = ANY($1)', [waits]);
    expect(ends).toEqual(waits.map((run_id) => ({ run_id, status: 'TERMINATED', reason_code: 'SUBMITTER_DISABLED' })));
    expect((await placed()).find(({ run_id }) => run_id === theirs)).toMatchObject({ status: 'SUBMITTED' });
    expect((await placed()).find(({ run_id }) => run_id === theirs)?.node_id).not.toBeNull();
  });

  const giveRole = (userId: number, role: string, tenantId: string | null = tenancy.tenantId) =>
    dataSource.query(
      'INSERT INTO user_roles (user_id, role_id, tenant_id) SELECT $1, role_id, $3 FROM roles WHERE role = $2',
      [userId, role, tenantId],
    );
  const givePermission = (userId: number, permission: string) =>
    dataSource.query(
      `INSERT INTO workspace_users (user_id, tenant_id, workspace_id, permission_id)
       SELECT $1, $2, $3, permission_id FROM workspace_permissions WHERE name = $4`,
      [userId, tenancy.tenantId, tenancy.workspaceId, permission],
    );
  const closed = (table: string) =>
    dataSource.query(`UPDATE ${table} SET to_date = now() WHERE user_id = $1`, [tenancy.userId]);

  it.each<[string, 'kept' | 'ended', () => Promise<unknown>]>([
    ['nothing', 'kept', () => Promise.resolve()],
    ['every role', 'ended', () => closed('user_roles')],
    ['the permission', 'ended', () => closed('workspace_users')],
    [
      'all but VIEW',
      'ended',
      async () => {
        await closed('workspace_users');
        await givePermission(tenancy.userId, 'VIEW');
      },
    ],
    [
      'the permission, and has become an administrator',
      'kept',
      async () => {
        await closed('workspace_users');
        await giveRole(tenancy.userId, 'ADMIN');
      },
    ],
    [
      'the role in this tenant, and has one in another',
      'ended',
      async () => {
        await closed('user_roles');
        const [other] = await dataSource.query<{ tenant_id: string }[]>(
          'INSERT INTO tenants (name) VALUES ($1) RETURNING tenant_id',
          [`other-${tenancy.tenantId}`],
        );
        await giveRole(tenancy.userId, 'ADMIN', other?.tenant_id);
      },
    ],
    [
      'the role in this tenant, and has one everywhere',
      'kept',
      async () => {
        await closed('user_roles');
        await giveRole(tenancy.userId, 'PLATFORM ADMIN', null);
      },
    ],
    [
      'all but a role for bills',
      'ended',
      async () => {
        await closed('user_roles');
        await giveRole(tenancy.userId, 'PLATFORM BILLING', null);
      },
    ],
  ])('when it is the turn of a run whose submitter has lost %s, it is %s', async (_what, outcome, lose) => {
    const mine = await Promise.all(Array.from({ length: PARALLEL * NODES + 1 }, submit));
    const waits = (await placed()).find(({ node_id }) => node_id === null)?.run_id ?? 0;
    await lose();
    await end(mine.find((id) => id !== waits) ?? 0);
    const [run] = await dataSource.query('SELECT status, reason_code, node_id FROM runs WHERE run_id = $1', [waits]);
    if (outcome === 'kept') {
      expect(run).toMatchObject({ status: 'SUBMITTED', reason_code: null });
      expect(run.node_id).not.toBeNull();
    } else expect(run).toEqual({ status: 'TERMINATED', reason_code: 'SUBMITTER_NOT_ALLOWED', node_id: null });
  });

  it('stops all runs submitted until then, in transactions of bounded length, and no later ones', async () => {
    await submitMany(250);
    const running = (await placed()).find(isRunning)?.run_id ?? 0;
    await inTransaction(dataSource, async (tx) => {
      const run = await runs.lock(tx, running);
      if (run) await runs.transition(tx, [run], { to: 'RUNNING', reason: null, userId: null, step: 'report' });
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const order = { submittedBy: new Date(), userId: tenancy.userId };
    await new Promise((resolve) => setTimeout(resolve, 5));
    const later = await submit();
    let transactions = 1;
    while (await scheduler.stopBatch(tenancy.clusterId, order)) transactions += 1;
    expect(transactions).toBe(4);
    const [counts] = await dataSource.query(
      `SELECT count(*) FILTER (WHERE node_id IS NULL AND status = 'STOPPED' AND ended_at IS NOT NULL) AS ended,
         count(*) FILTER (WHERE node_id IS NOT NULL AND status = 'STOPPING' AND stop_requested) AS stopping,
         count(*) FILTER (WHERE modified_by_user_id = $2) AS by_user
       FROM runs WHERE cluster_id = $1 AND run_id <> $3`,
      [tenancy.clusterId, tenancy.userId, later],
    );
    const slots = NODES * PARALLEL;
    expect(counts).toEqual({ ended: 250 - slots, stopping: slots, by_user: 250 });
    expect((await placed()).find(({ run_id }) => run_id === later)).toMatchObject({ status: 'SUBMITTED' });
    const [versions] = await dataSource.query(
      'SELECT min(desired_version) > $2 AS woken FROM cluster_nodes WHERE cluster_id = $1',
      [tenancy.clusterId, PARALLEL],
    );
    expect(versions).toEqual({ woken: true });
    expect(await scheduler.stopBatch(tenancy.clusterId, order)).toBe(false);
  });

  it('reschedules only if runs were submitted while the last slot became free', async () => {
    const ids: number[] = [];
    for (let count = 0; count < NODES * PARALLEL + 1; count += 1) ids.push(await submit());
    expect(await runs.needsScheduling(tenancy.clusterId)).toBe(false);
    // The transaction of this report does not see the last run.
    await inTransaction(dataSource, async (tx) => {
      const run = await runs.lock(tx, ids[0] ?? 0);
      if (run)
        await scheduler.end(tx, run, { to: 'DONE', code: 'COMPLETED', reason: 'Done.', exitCode: 0, step: 'report' });
    });
    expect(await runs.needsScheduling(tenancy.clusterId)).toBe(true);
    await scheduler.reschedule(tenancy.clusterId);
    expect((await placed()).filter(({ node_id }) => node_id === null)).toEqual([]);
    expect(await runs.needsScheduling(tenancy.clusterId)).toBe(false);
  });

  it('folds the changes of the counts in batches and loses none', async () => {
    await Promise.all(Array.from({ length: 9 }, submit));
    const of = () => runs.countByStatus(tenancy.tenantId, 'cluster_id', tenancy.clusterId);
    const before = await of();
    while ((await runs.foldCounts(4)) === 4);
    expect(await of()).toEqual(before);
    expect(before.get('SUBMITTED')).toBe(9);
    const changes = await dataSource.query('SELECT 1 FROM run_counts WHERE NOT is_total');
    expect(changes).toEqual([]);
  });

  it('finds the clusters that runs wait for, one after the other', async () => {
    await Promise.all(Array.from({ length: NODES * PARALLEL + 1 }, submit));
    const { clusterId } = tenancy;
    expect(await runs.clustersWithWaitingRuns(clusterId - 1, 10)).toEqual([clusterId]);
    expect(await runs.clustersWithWaitingRuns(clusterId, 10)).toEqual([]);
  });
});
