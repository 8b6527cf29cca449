import type { DataSource } from 'typeorm';
import type { TenantScope } from '../../src/platform/kernel/auth/principal';
import { PgListener } from '../../src/platform/kernel/notifications/pg-listener';
import { ClusterResizesService } from '../../src/modules/execution/clusters/definition/cluster-resizes.service';
import { ElsewhereError } from '../../libs/compute-drivers/compute-driver';
import { LOCAL_ENDPOINT } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterNodesService } from '../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import { ClusterSlotsService } from '../../src/modules/execution/clusters/nodes/cluster-slots.service';
import type { ClusterOperation } from '../../src/modules/execution/clusters/model/cluster-state';
import type { ClusterNode } from '../../src/modules/execution/clusters/model/entities/cluster-node.entity';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { ClusterScaler } from '../../src/modules/execution/clusters/scaling/cluster-scaler';
import { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import {
  type ResizeClusterWorkflow,
  ResizeClusterUpWorkflow,
} from '../../src/modules/execution/clusters/scaling/resize-cluster.workflow';
import { ScalingRepository } from '../../src/modules/execution/clusters/scaling/scaling.repository';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import { StopClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/stop-cluster.workflow';
import { RunsRepository } from '../../src/modules/execution/runs/jobs/runs.repository';
import { Step, type WorkflowContext } from '../../src/platform/background/workflows/workflow-definition';
import { setClock } from './harness/clock';
import { WorkerApp } from './harness/worker-app';
import { beginOperation, runStep, workflowContext } from './harness/cluster-workflow';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { soon } from './harness/test-api';
import { setClusterStatus } from './harness/statuses';
import { fault, ScriptedProvider } from './harness/scripted-provider';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const READY = { state: 'ready', master_url: null, error: null } as const;

// Real: the worker's services and PostgreSQL. Left out: the provider, which the tests script, and agents.
describe('the size of a cluster', () => {
  const app = new WorkerApp({ CLUSTER_REPLACEMENTS_PER_HOUR: '2', SPOT_FALLBACK_MINUTES: '5' });
  let dataSource: DataSource;
  let provider: ScriptedProvider;
  let tenancy: Tenancy;
  let clusterId: number;
  let made = 0;

  beforeAll(async () => {
    ({ dataSource } = app);
    const call: ClusterSnapshots['withDriver'] = (_facts, _caller, use) => use(provider as never, {} as never);
    app.get(ClusterSnapshots).withDriver = call;
    app.get(Drivers).serves = () => true;
  });

  beforeEach(async () => {
    made += 1;
    provider = new ScriptedProvider();
    tenancy = await makeTenancy(dataSource.manager, `tenant ${made}`);
    ({ clusterId } = tenancy);
    await dataSource.query(`UPDATE cloud_envs SET endpoint = $1`, [LOCAL_ENDPOINT]);
    await set(`max_instances = 4, max_parallel_jobs = 1, clean_up_timeout = 5`);
    await makeNode(dataSource.manager, tenancy, 0);
  });

  const set = (columns: string) =>
    dataSource.query(`UPDATE clusters SET ${columns} WHERE cluster_id = $1`, [clusterId]);

  async function wait(runs: number): Promise<void> {
    for (let run = 0; run < runs; run += 1)
      await inTransaction(dataSource, async (tx) => {
        const [{ id } = { id: 0 }] = await tx.query<{ id: number }[]>(
          `SELECT nextval(pg_get_serial_sequence('runs', 'run_id'))::int AS id`,
        );
        await app.get(RunsRepository).submit(tx, {
          run_id: id,
          tenant_id: tenancy.tenantId,
          workspace_id: tenancy.workspaceId,
          job_conf_id: tenancy.jobConfId,
          cluster_id: clusterId,
          created_by_user_id: tenancy.userId,
          status: 'SUBMITTED',
          job_conf_snapshot: { job_conf_id: 1, name: 'job', job_type: 'SPARK_JOB', language: 'Python3', settings: {} },
          arguments: null,
          conf: null,
          correlation_id: 'test',
          workflow_job_instance_id: id,
        } as never);
      });
  }

  /** Takes a slot of each node without a run. */
  async function occupy(): Promise<void> {
    const ids = (await nodes()).map(({ node_id }) => node_id);
    await inTransaction(dataSource, (tx) => app.get(ClusterSlotsService).take(tx, ids));
  }

  function nodes(): Promise<ClusterNode[]> {
    return dataSource.query<ClusterNode[]>(
      `SELECT * FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity' ORDER BY node_number`,
      [clusterId],
    );
  }

  async function history(): Promise<(string | null)[][]> {
    const states = await dataSource.query<{ status: string; reason: string | null }[]>(
      'SELECT status, reason FROM cluster_states WHERE cluster_id = $1 ORDER BY sequence',
      [clusterId],
    );
    return states.map(({ status, reason }) => [status, reason]);
  }

  const endWorkflow = (id: number) =>
    dataSource.query(
      `UPDATE workflow_job_instances SET state = 'TERMINATED', ended_at = now(), due_at = NULL
       WHERE workflow_job_instance_id = $1`,
      [id],
    );

  const scale = () => app.get(ClusterScaler).scale(clusterId);

  const subject = () => ({ clusterId, tenantId: tenancy.tenantId });

  async function resizing(): Promise<WorkflowContext<'cluster'>> {
    const [row] = await dataSource.query<{ id: number | null }[]>(
      'SELECT resize_instance_id AS id FROM clusters WHERE cluster_id = $1',
      [clusterId],
    );
    if (!row?.id) throw new Error('No resize is under way');
    return workflowContext(row.id, subject());
  }

  const resize = (): ResizeClusterWorkflow => app.get(ResizeClusterUpWorkflow);
  const provisionNodes = async () => runStep(resize(), 'bring-nodes', await resizing());
  const finishResize = async () => runStep(resize(), 'mark-running', await resizing());

  async function report(node: Pick<ClusterNode, 'node_id'>, daemons: object = READY): Promise<void> {
    const agents = app.get(ClusterNodesService);
    await inTransaction(dataSource, (tx) => agents.recordDaemons(tx, node.node_id, { ...READY, ...daemons }));
  }

  const begin = (operation: ClusterOperation) => beginOperation(app, subject(), operation);

  it('is left to the worker that has the machines', async () => {
    await occupy();
    await wait(1);
    await scale();
    const [reader, elsewhere] = [app.get(ClusterSnapshots), new ElsewhereError('not here')];
    const here = reader.withDriver;
    reader.withDriver = () => Promise.reject(elsewhere);
    try {
      expect(await provisionNodes()).toEqual(Step.wait(elsewhere.retryAfterMs ?? 0, 'not here'));
    } finally {
      reader.withDriver = here;
    }
    expect(await provisionNodes()).toMatchObject({ kind: 'wait', problem: null });
    expect(provider.specs).toHaveLength(1);
  });

  it('grows with the waiting runs, and continues with the provisioned nodes if the provider refuses some', async () => {
    await occupy();
    await wait(3);
    await scale();
    expect((await nodes()).map(({ status, node_number }) => [node_number, status])).toEqual([
      ...[
        [0, 'RUNNING'],
        [1, 'INITIATING'],
        [2, 'INITIATING'],
        [3, 'INITIATING'],
      ],
    ]);
    provider.refusals.set(2, fault('quota'));
    await provisionNodes();
    const [, one, , three] = await nodes();
    for (const node of [one, three]) await report(node as ClusterNode);
    expect(await provisionNodes()).toEqual(Step.done);
    expect(await finishResize()).toEqual(Step.done);
    expect((await nodes()).map(({ status, node_number }) => [node_number, status])).toEqual([
      ...[
        [0, 'RUNNING'],
        [1, 'RUNNING'],
        [3, 'RUNNING'],
      ],
    ]);
    expect((await history()).slice(-2)).toEqual([
      ['RESIZING_UP', '3 runs without a slot'],
      ['RUNNING', 'Not all nodes could be added: node 2: the provider says quota'],
    ]);
    // The provisioned nodes show that machines are available again.
    await occupy();
    await scale();
    expect(await nodes()).toHaveLength(4);
  });

  it('is tried again after growing pauses', async () => {
    await occupy();
    await wait(1);
    provider.refusals.set(1, fault('capacity'));
    await setClock(dataSource, new Date());
    try {
      for (const seconds of [15, 30, 60]) {
        await scale();
        await provisionNodes();
        await provisionNodes();
        await finishResize();
        const [row] = await dataSource.query<{ pause: number }[]>(
          'SELECT extract(epoch FROM grow_after - platform_now())::float AS pause FROM clusters WHERE cluster_id = $1',
          [clusterId],
        );
        expect(row?.pause).toBe(seconds);
        await scale();
        expect(await nodes()).toHaveLength(1);
        await set(`grow_after = platform_now() - interval '1 second'`);
      }
    } finally {
      await setClock(dataSource, '0 seconds');
    }
  });

  it('requests on-demand machines once spot machines were unavailable for long enough', async () => {
    await occupy();
    await wait(1);
    await set('is_spot_instance = true');
    provider.refusals.set(1, fault('capacity'));
    const tried: boolean[] = [];
    for (const missing of ['4 minutes', '6 minutes', '61 minutes']) {
      await scale();
      tried.push((await nodes())[1]?.is_spot ?? false);
      await provisionNodes();
      await provisionNodes();
      await finishResize();
      await set(`grow_after = NULL, spot_missing_since = platform_now() - interval '${missing}'`);
    }
    await scale();
    tried.push((await nodes())[1]?.is_spot ?? false);
    expect(tried).toEqual([true, true, false, true]);
  });

  it('is cancelled by a stop, which waits for the end of the resize', async () => {
    await occupy();
    await wait(1);
    await scale();
    const called = await resizing();
    const stop = await begin('stop');
    expect((await history()).slice(-3)).toEqual([
      ['RESIZING_UP', '1 run without a slot'],
      ['RUNNING', 'The resize was cancelled: stop requested'],
      ['STOPPING', 'stop requested'],
    ]);
    // Its worker still runs the resize.
    expect(await runStep(app.get(StopClusterWorkflow), 'announce', stop)).toMatchObject({ kind: 'wait' });
    expect(await runStep(resize(), 'bring-nodes', called)).toEqual(Step.superseded);
    expect(provider.specs).toEqual([]);
    await endWorkflow(called.instanceId);
    for (const { name } of app.get(StopClusterWorkflow).steps)
      expect(await runStep(app.get(StopClusterWorkflow), name, stop)).toEqual(Step.done);
    expect(await nodes()).toMatchObject([{ node_number: 0, status: 'STOPPED' }]);
    expect((await history()).at(-1)?.[0]).toBe('STOPPED');
  });

  it('ends at its deadline with the provisioned nodes, and removes the others', async () => {
    await occupy();
    await wait(2);
    await scale();
    await provisionNodes();
    const [, one] = await nodes();
    await report(one as ClusterNode);
    await resize().compensate(await resizing(), { step: 'bring-nodes', message: 'the deadline passed' });
    expect((await nodes()).map(({ node_number }) => node_number)).toEqual([0, 1]);
    expect((await history()).at(-1)).toEqual(['RUNNING', 'Step bring-nodes failed: the deadline passed']);
  });

  it('shrinks by nodes that are idle for long, but not by one that just got a run', async () => {
    const added = [await makeNode(dataSource.manager, tenancy, 1), await makeNode(dataSource.manager, tenancy, 2)];
    const since = (minutes: number) =>
      dataSource.query(
        `UPDATE cluster_nodes SET idle_since = platform_now() - $2 * interval '1 minute' WHERE cluster_id = $1`,
        [clusterId, minutes],
      );
    await since(4);
    await scale();
    expect((await history()).at(-1)?.[0]).toBe('RUNNING');
    await since(6);
    await inTransaction(dataSource, (tx) => app.get(ClusterSlotsService).take(tx, [added[1] ?? 0]));
    await scale();
    expect((await history()).at(-1)).toEqual(['RESIZING_DOWN', '2 nodes idle']);
    expect((await nodes()).map(({ draining }) => draining)).toEqual([true, true, false]);
    const free = await inTransaction(dataSource, async (tx) => {
      const locked = await app.get(ClusterSlotsService).lock(tx, clusterId);
      return locked && app.get(ClusterSlotsService).freeSlots(tx, locked, 10);
    });
    // Neither the draining nodes nor the busy one.
    expect(free).toEqual([]);
    // No decision can mark a busy node.
    const drain = inTransaction(dataSource, (tx) =>
      app.get(ClusterNodesRepository).drain(tx, [added[1] ?? 0], { withinMs: 60_000, busyToo: false }),
    );
    expect(await drain).toEqual([]);
    await provisionNodes();
    await finishResize();
    expect((await nodes()).map(({ node_number }) => node_number)).toEqual([2]);
  });

  it('replaces nodes while it runs, up to the limit per hour', async () => {
    for (const round of [1, 2]) {
      const [node] = await nodes();
      await report(node as ClusterNode, { state: 'failed', error: `The worker ended for the ${round}. time.` });
      expect((await nodes())[0]?.status).toBe('ERROR');
      await scale();
      expect((await nodes()).map(({ status }) => status).sort()).toEqual(['ERROR', 'INITIATING']);
      await provisionNodes();
      const fresh = (await nodes()).find(({ status }) => status === 'INITIATING');
      await report(fresh as ClusterNode);
      await provisionNodes();
      await finishResize();
      expect((await nodes()).map(({ status }) => status)).toEqual(['RUNNING']);
    }
    const resized = (await history()).filter(([status]) => status?.startsWith('RESIZING'));
    // The first node is the only one: without it the cluster is not available.
    expect(resized).toEqual([
      ['RESIZING_UP', '1 of at least 1 node missing. Node 0 is lost: The worker ended for the 1. time.'],
      ['RESIZING_UP', expect.stringMatching(/is lost: The worker ended for the 2. time.$/)],
    ]);
    const [node] = await nodes();
    await report(node as ClusterNode, { state: 'failed', error: 'The worker ended for the last time.' });
    await scale();
    expect((await history()).at(-1)).toEqual([
      'ERROR',
      'A node is missing, and 2 were already replaced within the last hour (limit: 2). ' +
        `Latest loss: Node ${node?.node_number ?? ''} is lost: The worker ended for the last time.`,
    ]);
  });

  it('keeps the cluster RUNNING while one of several nodes is replaced', async () => {
    await makeNode(dataSource.manager, tenancy, 1);
    await set('min_instances = 2');
    const before = (await history()).length;
    await report((await nodes())[1] as ClusterNode, { state: 'failed', error: 'The worker ended.' });
    await scale();
    await provisionNodes();
    await report((await nodes()).find(({ status }) => status === 'INITIATING') as ClusterNode);
    await provisionNodes();
    await finishResize();
    expect((await history()).slice(before)).toEqual([]);
  });

  it('keeps a cluster without nodes out of RUNNING, and gives the reason until a node works', async () => {
    const [lost] = await nodes();
    await report(lost as ClusterNode, { state: 'failed', error: 'The worker ended.' });
    provider.refusals.set(1, fault('invalid'));
    await scale();
    await provisionNodes();
    expect(await provisionNodes()).toEqual(Step.done);
    await finishResize();
    const words = 'Not all nodes could be added: node 1: the provider says invalid';
    expect((await history()).at(-1)).toEqual(['RESIZING_UP', words]);
    expect(await nodes()).toEqual([]);
    // The next attempt waits for the pause.
    await scale();
    expect(await nodes()).toEqual([]);
    await set('grow_after = NULL');
    await scale();
    await provisionNodes();
    const [fresh] = await nodes();
    await report(fresh as ClusterNode);
    await provisionNodes();
    await finishResize();
    expect((await history()).at(-1)).toEqual(['RUNNING', 'Its nodes are as planned']);
  });

  it('is restored after a start whose machines vanished meanwhile', async () => {
    const stop = await begin('stop');
    for (const { name } of app.get(StopClusterWorkflow).steps) await runStep(app.get(StopClusterWorkflow), name, stop);
    await dataSource.query(
      `UPDATE cluster_nodes SET provider_ref = 'test', seen_at = platform_now() WHERE cluster_id = $1`,
      [clusterId],
    );
    const [before] = await nodes();
    provider.states.set(before?.token ?? '', 'gone');
    const start = await begin('start');
    const workflow = app.get(StartClusterWorkflow);
    await runStep(workflow, 'plan-nodes', start);
    expect(await runStep(workflow, 'provision-nodes', start)).toEqual(Step.wait(0));
    expect(await runStep(workflow, 'provision-nodes', start)).toEqual(Step.done);
    const [after, ...others] = await nodes();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ node_number: 0, status: 'INITIATING' });
    expect(after?.token).not.toBe(before?.token);
    const [state] = await dataSource.query<{ reason: string }[]>(
      `SELECT reason FROM node_states WHERE node_id = $1 AND status = 'DESTROYED'`,
      [before?.node_id],
    );
    expect(state?.reason).toBe('The machine has disappeared at the provider while the node was stopped');
  });

  it('is completed by another workflow if the one of the resize ended early', async () => {
    await occupy();
    await wait(1);
    await scale();
    const abandoned = await resizing();
    await endWorkflow(abandoned.instanceId);
    await scale();
    expect((await resizing()).instanceId).not.toBe(abandoned.instanceId);
    await provisionNodes();
    await report((await nodes())[1] as ClusterNode);
    await provisionNodes();
    await finishResize();
    expect((await history()).at(-1)).toEqual(['RUNNING', 'Its nodes are as planned']);
  });

  it('is retried after the time that the provider requests', async () => {
    await occupy();
    await wait(1);
    await scale();
    provider.refusals.set(1, fault('throttled', 7_000));
    expect(await provisionNodes()).toMatchObject({ kind: 'wait', ms: 7_000 });
  });

  describe('that a user requests', () => {
    const request = (bounds: { min_instances?: number; max_instances?: number }, cluster = clusterId) => {
      const scope = { tenantId: tenancy.tenantId, userId: tenancy.userId } as TenantScope;
      const selector = () => ({ id: cluster });
      return app.get(ClusterResizesService).resize(scope, { ...bounds, selector });
    };
    const latest = () =>
      dataSource.query<{ status: string; reason: string; by: number | null; step: string | null }[]>(
        `SELECT status, reason, actor_user_id AS by, step FROM cluster_states WHERE cluster_id = $1 ORDER BY sequence DESC`,
        [clusterId],
      );
    const shown = async () =>
      (await nodes()).map(({ node_number, status, draining }) => `${node_number} ${draining ? 'draining' : status}`);
    const row = async (columns: string) =>
      (await dataSource.query<object[]>(`SELECT ${columns} FROM clusters WHERE cluster_id = $1`, [clusterId]))[0];
    /** Ends the run on each of the nodes. */
    const release = (ids: number[]) => inTransaction(dataSource, (tx) => app.get(ClusterSlotsService).free(tx, ids));

    it('adds nodes at once, in the name of the user, and is over once they are ready', async () => {
      await set(`grow_after = platform_now() + interval '1 hour', grow_failures = 9`);
      expect(await request({ min_instances: 3, max_instances: 6 })).toMatchObject({
        ...{ min_instances_before: 1, max_instances_before: 4, min_instances: 3, max_instances: 6 },
        ...{ instances: 1, instances_to_add: 2, instances_to_remove: 0, cluster_status: 'RUNNING' },
      });
      await scale();
      expect(await shown()).toEqual(['0 RUNNING', '1 INITIATING', '2 INITIATING']);
      expect((await latest())[0]).toMatchObject({
        ...{ status: 'RESIZING_UP', reason: '2 of at least 3 nodes missing', by: tenancy.userId },
      });
      // A resize does not wait for the end of another one.
      await request({ min_instances: 4 });
      await scale();
      expect(await shown()).toHaveLength(4);
      await provisionNodes();
      for (const node of (await nodes()).slice(1)) await report(node);
      await provisionNodes();
      await finishResize();
      expect((await latest())[0]).toMatchObject({ status: 'RUNNING', reason: 'Its nodes are as planned' });
      await scale();
      expect(await row('min_instances, max_instances, resize_request')).toEqual({
        ...{ min_instances: 4, max_instances: 6, resize_request: null },
      });
    });

    it('fails with the words of the provider, and never ends a cluster whose nodes work', async () => {
      await request({ min_instances: 4 });
      for (const number of [1, 2, 3]) provider.refusals.set(number, fault('quota'));
      for (const _attempt of [1, 2]) {
        await set('grow_after = NULL');
        await scale();
        await provisionNodes();
        await provisionNodes();
        await finishResize();
        expect((await latest())[0]).toMatchObject({
          status: 'RUNNING',
          reason: expect.stringMatching(/^Not all nodes could be added: node 1: the provider says quota; /) as string,
        });
      }
      expect(await shown()).toEqual(['0 RUNNING']);
      // A lost node is replaced as ever.
      await set('grow_after = NULL');
      await report((await nodes())[0] as ClusterNode, { state: 'failed', error: 'The worker ended.' });
      await scale();
      expect((await latest())[0]?.reason).toMatch(/^1 of at least 1 node missing/);
    });

    it('removes idle nodes at once, and busy ones, which get no more runs, after their runs', async () => {
      const ids = [(await nodes())[0]?.node_id ?? 0];
      for (const number of [1, 2, 3]) ids.push(await makeNode(dataSource.manager, tenancy, number));
      await set('max_parallel_jobs = 2, min_instances = 2');
      await inTransaction(dataSource, (tx) =>
        app.get(ClusterSlotsService).take(
          tx,
          [0, 0, 1, 2].map((at) => ids[at] ?? 0),
        ),
      );
      await wait(5);
      expect(await request({ min_instances: 1, max_instances: 1 })).toMatchObject({
        instances: 4,
        instances_to_remove: 3,
      });
      await scale();
      expect(await shown()).toEqual(['0 RUNNING', '1 draining', '2 draining', '3 draining']);
      expect((await latest())[0]).toMatchObject({
        ...{ status: 'RESIZING_DOWN', reason: '3 nodes above the maximum of 1', by: tenancy.userId },
      });
      const free = await inTransaction(dataSource, async (tx) => {
        const locked = await app.get(ClusterSlotsService).lock(tx, clusterId);
        return locked && app.get(ClusterSlotsService).freeSlots(tx, locked, 10);
      });
      expect(free).toEqual([]);
      expect(await provisionNodes()).toEqual(Step.done);
      await finishResize();
      // The runs hold up the nodes, and not the cluster.
      expect((await latest())[0]).toMatchObject({
        status: 'RUNNING',
        reason: 'Its other nodes are as planned; 2 nodes are removed once their jobs have ended',
      });
      expect(await shown()).toEqual(['0 RUNNING', '1 draining', '2 draining']);
      await scale();
      await expect(resizing()).rejects.toThrow('No resize is under way');
      await release([ids[2] ?? 0]);
      await scale();
      await provisionNodes();
      await finishResize();
      expect(await shown()).toEqual(['0 RUNNING', '1 draining']);
      await release([ids[1] ?? 0]);
      await scale();
      await provisionNodes();
      await finishResize();
      expect(await shown()).toEqual(['0 RUNNING']);
    });

    it('says when a node that leaves has no more runs', async () => {
      const woken = jest.fn();
      const stop = app.get(PgListener).on('scaling', woken);
      await occupy();
      const ids = (await nodes()).map(({ node_id }) => node_id);
      await dataSource.query('UPDATE cluster_nodes SET draining = true WHERE cluster_id = $1', [clusterId]);
      await release(ids);
      await soon(() => Promise.resolve(expect(woken).toHaveBeenCalledWith(String(clusterId))));
      stop();
    });

    it('loses neither of two at once', async () => {
      await set('max_instances = 5');
      await Promise.all([request({ min_instances: 3 }), request({ max_instances: 8 })]);
      expect(await row('min_instances, max_instances')).toEqual({ min_instances: 3, max_instances: 8 });
      const refused = await Promise.allSettled([
        request({ min_instances: 7, max_instances: 8 }),
        request({ min_instances: 1, max_instances: 2 }),
      ]);
      expect(refused.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
      const [first, second] = refused.map((one) => one.status === 'fulfilled' && one.value);
      // The later one sees the bounds of the earlier one.
      expect([first && first.min_instances_before, second && second.min_instances_before].toSorted()).toEqual(
        first && first.min_instances_before === 3 ? [3, 7] : [1, 3],
      );
    });

    it('sets the fixed number of workers of a CLUSTER', async () => {
      await set(`cluster_type = 'CLUSTER', min_instances = NULL, max_instances = NULL, num_of_workers = 2`);
      await dataSource.query(`UPDATE cluster_nodes SET role = 'master' WHERE cluster_id = $1`, [clusterId]);
      expect(await request({ min_instances: 3, max_instances: 3 })).toMatchObject({
        ...{ min_instances_before: 2, max_instances_before: 2, instances: 0, instances_to_add: 3 },
      });
      expect(await row('num_of_workers, min_instances')).toEqual({ num_of_workers: 3, min_instances: 3 });
      await request({ max_instances: 5 });
      expect(await row('num_of_workers, min_instances, max_instances')).toEqual({
        ...{ num_of_workers: 3, min_instances: 3, max_instances: 5 },
      });
    });

    it('says which bound to send if the other one is out of range for a resize', async () => {
      await set(`cluster_type = 'CLUSTER', min_instances = NULL, max_instances = NULL, num_of_workers = 50`);
      await expect(request({ min_instances: 10 })).rejects.toMatchObject({
        code: 'CLUSTER.INSTANCES_INVALID',
        message: 'The cluster has 50 workers, and a resize takes at most 30. Send max_instances, too.',
      });
      await expect(request({ max_instances: 30 })).rejects.toMatchObject({
        message: 'min_instances, 50, would be greater than max_instances, 30. Send both.',
      });
      await request({ min_instances: 10, max_instances: 30 });
      expect(await row('min_instances, max_instances')).toEqual({ min_instances: 10, max_instances: 30 });
    });

    it('does nothing if the cluster has these bounds', async () => {
      await set(`grow_failures = 3, last_active_at = NULL`);
      const { min_instances, max_instances } = (await row('min_instances, max_instances')) as {
        min_instances: number;
        max_instances: number;
      };
      await request({ min_instances, max_instances });
      expect(await row('grow_failures, last_active_at, resize_request')).toEqual({
        ...{ grow_failures: 3, last_active_at: null, resize_request: null },
      });
    });

    it('replaces a node that it made ready and that is lost before the others are there', async () => {
      await request({ min_instances: 3 });
      await scale();
      await provisionNodes();
      await report((await nodes())[1] as ClusterNode);
      await scale();
      expect(await row('resize_request')).toMatchObject({ resize_request: { min_before: 2 } });
    });

    it('is over when the cluster stops', async () => {
      await request({ min_instances: 3 });
      await begin('stop');
      expect(await row('status, resize_request')).toEqual({ status: 'STOPPING', resize_request: null });
    });

    it.each([
      ['INITIATING', /Wait until it is RUNNING\.$/],
      ['STOPPED', /Start it with startCluster and resize it then, or destroy it .* with updateCluster\.$/],
      ['ERROR', /Change min_instances and max_instances with updateCluster\.$/],
    ] as const)('is refused in %s, with what to do instead', async (status, remedy) => {
      await setClusterStatus(dataSource.manager, clusterId, status);
      await expect(request({ min_instances: 2 })).rejects.toMatchObject({
        code: 'CLUSTER.INVALID_STATE',
        message: expect.stringMatching(remedy) as string,
        details: { cluster_status: status, needed: ['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'] },
      });
      expect(await row('min_instances, resize_request')).toEqual({ min_instances: 1, resize_request: null });
    });

    it('is refused with bounds that contradict each other, as a definition is', async () => {
      await expect(request({ min_instances: 5 })).rejects.toMatchObject({ code: 'CLUSTER.INSTANCES_INVALID' });
      await expect(request({})).rejects.toMatchObject({ code: 'REQUEST.EMPTY_UPDATE' });
    });
  });

  it('depends on no more waiting runs than the maximum size needs', async () => {
    await wait(12);
    const [seen] = await app.get(ScalingRepository).page(dataSource.manager, clusterId - 1, 1);
    expect(seen).toMatchObject({ clusterId, facts: { waitingRuns: 5, maxInstances: 4 } });
    await setClusterStatus(dataSource.manager, clusterId, 'STOPPED');
    expect(await app.get(ScalingRepository).find(dataSource.manager, clusterId)).toBeNull();
  });
});
