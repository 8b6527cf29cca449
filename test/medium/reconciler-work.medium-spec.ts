import { DiscoveryService } from '@nestjs/core';
import type { EntityManager, QueryRunner } from 'typeorm';
import { Reconciler } from '../../src/platform/background/workflows/reconciler';
import type { Condition } from '../../src/platform/background/workflows/work-questions';
import { defineWorkflow } from '../../src/platform/background/workflows/workflow-definition';
import { startWorkflow } from '../../src/platform/background/workflows/workflow-intents';
import { Params, type Tx } from '../../src/platform/kernel/persistence/sql';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { WorkerApp } from './harness/worker-app';

const JOB = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'test.work', queue: 'jobs' },
  deadlineMs: 60_000,
});
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

// Real: PostgreSQL, and the reconcilers of a worker without local nodes.
describe('before a pass, reconcilers look for work', () => {
  const worker = new WorkerApp();
  let tenancy: Tenancy;
  let nodeId: number;
  let runner: QueryRunner;
  let db: EntityManager;

  beforeAll(async () => {
    tenancy = await makeTenancy(worker.dataSource.manager, 'work');
    nodeId = await makeNode(worker.dataSource.manager, tenancy, 0);
    // The first pass of some does what later ones do rarely, and all of them do what the new records need.
    for (const reconciler of reconcilers()) await reconciler.reconcile(new AbortController().signal);
  });

  beforeEach(async () => {
    runner = worker.dataSource.createQueryRunner();
    db = runner.manager;
    await runner.startTransaction();
  });

  afterEach(async () => {
    await runner.rollbackTransaction();
    await runner.release();
  });

  function reconcilers(): Reconciler[] {
    const providers = worker.get(DiscoveryService).getProviders();
    return providers.map(({ instance }: { instance: unknown }) => instance).filter((one) => one instanceof Reconciler);
  }

  /** Unlike the question of the loop, fails if the condition cannot be answered. */
  async function ask(condition: Condition): Promise<boolean> {
    const params = new Params();
    const [row] = await db.query<{ answer: boolean }[]>(`SELECT ${condition(params)} AS answer`, params.values);
    return row?.answer === true;
  }

  /** Returns the names of those that find work. Sweepers of old rows do not look, because their passes are rare. */
  async function withWork(): Promise<string[]> {
    const found: string[] = [];
    for (const reconciler of reconcilers()) {
      if (reconciler.hasWork === Reconciler.prototype.hasWork) continue;
      if (await reconciler.hasWork(ask)) found.push(reconciler.name);
    }
    return found;
  }

  const insertRun = (values: Record<string, unknown>) =>
    insertPlain(db, 'runs', {
      tenant_id: tenancy.tenantId,
      workspace_id: tenancy.workspaceId,
      cluster_id: tenancy.clusterId,
      job_conf_id: tenancy.jobConfId,
      job_conf_snapshot: { name: 'job', job_type: 'SPARK_JOB', language: 'Python3', job_conf_id: tenancy.jobConfId },
      ...values,
    });

  it.each<[string, string, () => Promise<unknown>]>([
    ['jobs', 'a run waits', () => insertRun({ status: 'SUBMITTED' })],
    [
      'jobs',
      'a run is on a dead node',
      async () => {
        await insertRun({ status: 'RUNNING', node_id: nodeId });
        await db.query(`UPDATE cluster_nodes SET status = 'ERROR', busy_slots = 1`);
      },
    ],
    ['run-counts', 'a count has changed', () => insertPlain(db, 'run_counts', { is_total: false, runs: 1 })],
    [
      'usage-days',
      'a day is out of date',
      () => insertPlain(db, 'stale_usage', { cluster_id: tenancy.clusterId, from_date: '2026-01-01' }),
    ],
    ['usage-days', 'a node lacks its stay in the ledger', () => db.query('DELETE FROM ledger_open_intervals')],
    [
      'idle-clusters',
      'a cluster has no job',
      () => db.query('UPDATE clusters SET idle_timeout_ms = 1, last_active_at = $1', [LONG_AGO]),
    ],
    [
      'clusters',
      'a node is silent',
      async () => {
        await db.query(
          `INSERT INTO answered_seconds
           SELECT date_trunc('second', now()) - s * interval '1 second' FROM generate_series(0, 60) s`,
        );
        await db.query('UPDATE cluster_nodes SET last_seen_at = $1', [LONG_AGO]);
      },
    ],
    ['logs', 'a log is too old', () => insertRun({ status: 'DONE', ended_at: LONG_AGO })],
    [
      'run-costs',
      'an ended run is not summed up',
      () => insertRun({ status: 'DONE', assigned_at: LONG_AGO, ended_at: LONG_AGO }),
    ],
    [
      'orphans',
      'a place is due',
      () =>
        insertPlain(db, 'machine_places', {
          tenant_id: tenancy.tenantId,
          credentials_conf_id: tenancy.credentialsConfId,
          cloud_provider_id: 1,
          due_at: LONG_AGO,
        }),
    ],
    [
      'workflows',
      'an instance is due',
      async () => {
        const subject = { kind: 'cluster' as const, tenantId: tenancy.tenantId, id: tenancy.clusterId };
        await startWorkflow(db as Tx, JOB, subject, null);
        await db.query('UPDATE workflow_job_instances SET due_at = $1', [LONG_AGO]);
      },
    ],
  ])('and %s finds it when %s', async (name, _what, make) => {
    expect(await withWork()).not.toContain(name);
    await make();
    expect(await withWork()).toContain(name);
  });
});
