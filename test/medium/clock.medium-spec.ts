import { STOP_CLUSTER } from '../../src/modules/execution/clusters/lifecycle/cluster-workflows';
import { IdleClusterReconciler } from '../../src/modules/execution/clusters/scaling/idle-cluster-reconciler';
import { IdleClustersRepository } from '../../src/modules/execution/clusters/scaling/idle-clusters.repository';
import { RunClusterUse } from '../../src/modules/execution/runs/jobs/run-cluster-use.repository';
import { KernelInstanceUse } from '../../src/modules/execution/notebooks/instances/kernel-instance-use.repository';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { SPENT_ROWS } from '../../src/platform/background/workflows/spent-rows';
import { Step, type Workflow, type WorkflowFailure } from '../../src/platform/background/workflows/workflow-definition';
import { requeueDueWorkflows, startWorkflow } from '../../src/platform/background/workflows/workflow-intents';
import { WorkflowObserver } from '../../src/platform/background/workflows/workflow-observer';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import { setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';
import { makeWorker } from './harness/this-worker';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

// Real: PostgreSQL, whose clock the tests set. Nothing waits.
describe('with the passing of time', () => {
  const { config, dataSource } = preparedDatabase();
  let tenancy: Tenancy;
  const logger = createLogger('test', 'silent');
  const { signal } = new AbortController();

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'mine');
  });

  beforeEach(() => setClock(dataSource, '0'));

  const start = () =>
    inTransaction(dataSource, (tx) =>
      startWorkflow(tx, STOP_CLUSTER, { kind: 'cluster', tenantId: tenancy.tenantId, id: tenancy.clusterId }, null),
    );

  it('an operation fails when its deadline has passed', async () => {
    const failures: WorkflowFailure[] = [];
    const workflow: Workflow<'cluster'> = {
      steps: [{ name: 'wait', run: () => Promise.resolve(Step.wait(1000)) }],
      attempts: 1,
      backoffMs: 0,
      compensationMs: 60_000,
      compensate: (_context, failure) => Promise.resolve(void failures.push(failure)),
      giveUp: () => Promise.reject(new Error('there was time')),
    };
    const runner = new WorkflowRunner(dataSource, config, new WorkflowObserver(), makeWorker(1), logger);
    const { workflow_job_instance_id: id } = await start();
    await setClock(dataSource, '9 minutes');
    await runner.continue(STOP_CLUSTER, id, workflow);
    expect(failures).toEqual([]);
    await setClock(dataSource, '11 minutes');
    await runner.continue(STOP_CLUSTER, id, workflow);
    expect(failures).toEqual([{ step: 'wait', message: 'The deadline of the operation passed in step wait' }]);
  });

  it('a workflow that no worker took is enqueued again when it is due', async () => {
    const requeue = () => inTransaction(dataSource, (tx) => requeueDueWorkflows(tx, 60_000));
    await start();
    expect(await requeue()).toBe(0);
    await setClock(dataSource, '11 seconds');
    expect(await requeue()).toBe(1);
    expect(await requeue()).toBe(0);
  });

  it('a cluster without a job is stopped', async () => {
    await dataSource.query(
      'UPDATE clusters SET idle_timeout_ms = 3600000, last_active_at = platform_now() WHERE cluster_id = $1',
      [tenancy.clusterId],
    );
    const reconciler = new IdleClusterReconciler(
      dataSource,
      new IdleClustersRepository(new RunClusterUse(new KernelInstanceUse())),
      makeLifecycle(dataSource),
      config,
      logger,
    );
    const statusAfterPass = async () => {
      await reconciler.reconcile(signal);
      const [cluster] = await dataSource.query<{ status: string }[]>(
        'SELECT status FROM clusters WHERE cluster_id = $1',
        [tenancy.clusterId],
      );
      return cluster?.status;
    };
    await setClock(dataSource, '59 minutes');
    expect(await statusAfterPass()).toBe('RUNNING');
    await setClock(dataSource, '61 minutes');
    expect(await statusAfterPass()).toBe('STOPPING');
  });

  it('rows are deleted after their retention of a week', async () => {
    await dataSource.query('DELETE FROM outbox_messages');
    await dataSource.query(
      `INSERT INTO outbox_messages (job_name, payload, correlation_id, sent_at)
       VALUES ('job', '{}', 'test', platform_now()), ('job of another release', '{}', 'test', NULL)`,
    );
    await dataSource.query(
      `INSERT INTO idempotency_keys (user_id, key, operation, request_hash) VALUES (1, 'key', 'operation', 'hash')`,
    );
    const sweeper = new RetentionSweeper(SPENT_ROWS, dataSource, config, logger);
    const left = async () => {
      await sweeper.reconcile(signal);
      const [counted] = await dataSource.query<{ messages: number; keys: number }[]>(
        'SELECT (SELECT count(*)::int FROM outbox_messages) AS messages, (SELECT count(*)::int FROM idempotency_keys) AS keys',
      );
      return counted;
    };
    await setClock(dataSource, '6 days 23 hours');
    expect(await left()).toEqual({ messages: 2, keys: 1 });
    await setClock(dataSource, '7 days 1 hour');
    expect(await left()).toEqual({ messages: 0, keys: 0 });
  });

  it('histories, too, use a clock that stands still', async () => {
    const moment = new Date('2031-05-06T07:08:09Z');
    await setClock(dataSource, moment);
    const [read] = await dataSource.query<{ now: Date; ahead: boolean }[]>(
      `SELECT platform_now() AS now, platform_clock() - platform_now() < interval '1 minute' AS ahead`,
    );
    expect(read).toEqual({ now: moment, ahead: true });
  });
});
