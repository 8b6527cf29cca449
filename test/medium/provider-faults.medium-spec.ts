import type { DataSource } from 'typeorm';
import type { ComputeDriverError, FaultKind } from '../../libs/compute-drivers/compute-driver';
import { LOCAL_ENDPOINT } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterNodesService } from '../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import type { ClusterOperation } from '../../src/modules/execution/clusters/model/cluster-state';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { DestroyClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/destroy-cluster.workflow';
import { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import { StopClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/stop-cluster.workflow';
import { Step, type WorkflowContext } from '../../src/platform/background/workflows/workflow-definition';
import { CredentialsConfsService } from '../../src/modules/infrastructure/environments/credentials/credentials-confs.service';
import { beginOperation, runStep } from './harness/cluster-workflow';
import { WorkerApp } from './harness/worker-app';
import { makeTenancy } from './harness/records';
import { setClusterStatus, setNodeStatus } from './harness/statuses';
import { fault, ScriptedProvider } from './harness/scripted-provider';
import type { TenantScope } from '../../src/platform/kernel/auth/principal';
import { ClusterHistoriesService } from '../../src/modules/execution/clusters/lifecycle/cluster-histories.service';
import { START_CLUSTER } from '../../src/modules/execution/clusters/lifecycle/cluster-workflows';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import { autocommit } from '../harness/autocommit';

const PAGE = { limit: 100, pageNumber: 1 };

// Real: the worker's services and PostgreSQL. Left out: the provider, which the tests script.
describe('a provider with faults of every kind', () => {
  const app = new WorkerApp();
  let dataSource: DataSource;
  let provider: ScriptedProvider;
  let clusterId: number;
  let tenantId: string;
  let made = 0;

  beforeAll(async () => {
    ({ dataSource } = app);
    const call: ClusterSnapshots['withDriver'] = (_facts, _caller, use) => use(provider as never, {} as never);
    app.get(ClusterSnapshots).withDriver = call;
  });

  beforeEach(async () => {
    made += 1;
    provider = new ScriptedProvider();
    ({ clusterId, tenantId } = await makeTenancy(dataSource.manager, `tenant ${made}`));
    await dataSource.query(`UPDATE cloud_envs SET endpoint = $1`, [LOCAL_ENDPOINT]);
    await setClusterStatus(dataSource.manager, clusterId, 'STOPPED');
  });

  const begin = (operation: ClusterOperation) => beginOperation(app, { clusterId, tenantId }, operation);

  const start = () => app.get(StartClusterWorkflow);
  const provision = (context: WorkflowContext<'cluster'>) => runStep(start(), 'provision-nodes', context);
  const awaitNodes = (context: WorkflowContext<'cluster'>) => runStep(start(), 'await-nodes', context);

  async function planned(): Promise<WorkflowContext<'cluster'>> {
    const context = await begin('start');
    expect(await runStep(start(), 'plan-nodes', context)).toEqual(Step.done);
    return context;
  }

  /** Registers the agents of the nodes. */
  async function isUp(): Promise<void> {
    const { manager } = dataSource;
    await setClusterStatus(manager, clusterId, 'RUNNING');
    for (const { node_id } of await app.get(ClusterNodesRepository).ofCluster(clusterId))
      await setNodeStatus(manager, node_id, 'RUNNING');
    await dataSource.query(
      `UPDATE cluster_nodes SET agent_id = 'a', last_seen_at = platform_now() WHERE cluster_id = $1`,
      [clusterId],
    );
  }

  const states = async (): Promise<(string | null)[][]> => {
    const sql = 'SELECT status, reason FROM cluster_states WHERE cluster_id = $1 ORDER BY sequence';
    const found = await dataSource.query<{ status: string; reason: string | null }[]>(sql, [clusterId]);
    return found.map(({ status, reason }) => [status, reason]);
  };

  async function node() {
    const [found] = await dataSource.query<Record<string, unknown>[]>(
      'SELECT * FROM cluster_nodes WHERE cluster_id = $1 ORDER BY node_id DESC LIMIT 1',
      [clusterId],
    );
    return found ?? {};
  }

  it('receives every setting of the cluster that concerns its machines', async () => {
    const settings = [
      ...[
        'enable_public_ip = true',
        'block_project_ssh_keys = false',
        "cloud_identity = 'jobs@p'",
        'is_spot_instance = true',
      ],
      ...[
        `labels = '{"team": "data"}'`,
        'is_turbo_enabled = true',
        'disk_type_id = 10',
        'disk_size = 20',
        'number_of_disks = 2',
      ],
    ];
    await dataSource.query(`UPDATE clusters SET ${settings.join()} WHERE cluster_id = $1`, [clusterId]);
    expect(await provision(await planned())).toEqual(Step.done);
    const disk = { gib: 20, type: 'local-lvm', iops: null, throughputMb: null, encrypted: false };
    expect(provider.specs).toEqual([
      expect.objectContaining({
        ...{ enablePublicIp: true, blockProjectSshKeys: false, identity: 'jobs@p', market: 'spot' },
        ...{ userLabels: { team: 'data' }, disks: [disk, disk] },
        boot: expect.objectContaining({ accelerator: 'turbo' }) as object,
      }),
    ]);
  });

  it('gets no request, neither to start nor to destroy, if machines could not reach the platform', async () => {
    const facts = app.get(ClusterSnapshots);
    const scripted = facts.withDriver;
    Reflect.deleteProperty(facts, 'withDriver');
    const revealed = jest.spyOn(app.get(CredentialsConfsService), 'reveal');
    const used = jest.spyOn(app.get(Drivers), 'forEnvironment');
    try {
      await dataSource.query(`UPDATE cloud_envs SET endpoint = 'https://pve.example.org:8006'`);
      const context = await planned();
      const words = 'Cloud machines cannot reach the platform';
      await expect(provision(context)).rejects.toThrow(words);
      await start().compensate(context, { step: 'provision-nodes', message: words });
      expect((await states()).at(-1)).toEqual(['ERROR', `Step provision-nodes failed: ${words}`]);
      const destroy = await begin('destroy');
      const workflow = app.get(DestroyClusterWorkflow);
      for (const { name } of workflow.steps) expect(await runStep(workflow, name, destroy)).toEqual(Step.done);
      expect((await states()).at(-1)?.[0]).toBe('DESTROYED');
      expect([revealed.mock.calls, used.mock.calls]).toEqual([[], []]);
    } finally {
      facts.withDriver = scripted;
      jest.restoreAllMocks();
    }
  });

  it('replaces nodes that went down while the cluster starts, if it can', async () => {
    const revived: string[] = [];
    let refusal: ComputeDriverError | null = null;
    const onSite = {
      reference: () => Promise.resolve('test:on-site'),
      assertHere: () => Promise.resolve(),
      revive: ({ nodeToken }: { nodeToken: string }) =>
        refusal ? Promise.reject(refusal) : Promise.resolve(void revived.push(nodeToken)),
    };
    Object.assign(provider, { onSite });
    const context = await planned();
    await provision(context);
    provider.state = 'failed';
    provider.fault = fault('transient');
    for (let look = 0; look < 2; look += 1) expect(await awaitNodes(context)).toMatchObject({ kind: 'wait' });
    expect(revived).toEqual(Array(2).fill((await node())['token']));
    refusal = fault('transient');
    expect(await awaitNodes(context)).toMatchObject({ kind: 'wait' });
    refusal = fault('invalid');
    await expect(awaitNodes(context)).rejects.toThrow('failed at the provider: the provider says invalid');
  });

  it('gets exactly the same request for a machine after a wait or a retry', async () => {
    provider.faults = [fault('throttled', 7_000), fault('transient')];
    const context = await planned();
    expect(await provision(context)).toEqual(Step.wait(7_000, 'the provider says throttled'));
    expect((await node())['accepted_at']).toBeNull();
    await expect(provision(context)).rejects.toMatchObject({ kind: 'transient' });
    expect(await provision(context)).toEqual(Step.done);
    const [first, ...others] = provider.specs.map((spec) => JSON.stringify(spec));
    expect(others).toEqual([first, first]);
    expect(await node()).toMatchObject({
      ...{ provider_ref: expect.stringMatching(/^test:/) as string, accepted_at: expect.any(Date) as Date },
      ...{ attempt: 1, place: { account: null, hosts: [] }, bootstrap_token: null, error: null },
    });
  });

  it('gets no start request for a machine that it accepted but may not list yet', async () => {
    await dataSource.query('UPDATE clusters SET min_instances = 2, max_instances = 2 WHERE cluster_id = $1', [
      clusterId,
    ]);
    provider.faults = [null, fault('throttled')];
    const context = await planned();
    expect(await provision(context)).toMatchObject({ kind: 'wait' });
    expect(await provision(context)).toEqual(Step.done);
    const [first, second, ...again] = provider.specs.map((spec) => JSON.stringify(spec));
    expect([again, provider.started]).toEqual([[first, second], []]);
    // Once it was listed, it is started, because it may have been stopped.
    await awaitNodes(context);
    await provision(context);
    expect(provider.started).toHaveLength(2);
  });

  it.each<FaultKind>(['capacity', 'quota', 'denied', 'invalid'])('ends the start for good: %s', async (kind) => {
    provider.faults = [fault(kind)];
    const context = await planned();
    const message = `the provider says ${kind}`;
    await expect(provision(context)).rejects.toMatchObject({ name: 'PermanentError', message });
    expect(await node()).toMatchObject({ error: message });
    await start().compensate(context, { step: 'provision-nodes', message });
    const [cluster] = await dataSource.query<object[]>(
      `SELECT c.status, s.reason FROM clusters c JOIN cluster_states s USING (cluster_id)
       WHERE cluster_id = $1 AND s.end_time = 'infinity'`,
      [clusterId],
    );
    expect(cluster).toEqual({ status: 'ERROR', reason: `Step provision-nodes failed: ${message}` });
    const history = await dataSource.query<{ reason: string }[]>(
      `SELECT reason FROM node_states WHERE cluster_id = $1 AND status = 'ERROR'`,
      [clusterId],
    );
    expect(history).toEqual([{ reason: message }]);
  });

  it('may not list a machine yet that it has just accepted', async () => {
    const context = await planned();
    await provision(context);
    provider.state = 'gone';
    expect(await awaitNodes(context)).toMatchObject({ kind: 'wait' });
    await dataSource.query(`UPDATE cluster_nodes SET accepted_at = platform_now() - interval '5 minutes 1 second'`);
    await expect(awaitNodes(context)).rejects.toThrow('The machine of node 0 has disappeared at the provider.');
  });

  it('loses a machine that it listed before', async () => {
    const context = await planned();
    await provision(context);
    for (const state of ['pending', 'running', 'stopping'] as const) {
      provider.state = state;
      expect(await awaitNodes(context)).toMatchObject({ kind: 'wait' });
    }
    expect(await node()).toMatchObject({ ip_address: '10.0.0.7', seen_at: expect.any(Date) as Date });
    provider.state = 'gone';
    await expect(awaitNodes(context)).rejects.toThrow('The machine of node 0 has disappeared at the provider.');
  });

  it('reclaims a spot machine before it is ready', async () => {
    const context = await planned();
    await provision(context);
    provider.state = 'interrupted';
    await expect(awaitNodes(context)).rejects.toThrow(
      'The machine of node 0 has been interrupted at the provider: the provider says capacity',
    );
  });

  it('gets time to end machines', async () => {
    await planned();
    await isUp();
    for (const [operation, workflow, doing, done] of [
      ['stop', app.get(StopClusterWorkflow), 'stop-nodes', 'STOPPED'],
      ['destroy', app.get(DestroyClusterWorkflow), 'destroy-nodes', 'DESTROYED'],
    ] as const) {
      const context = await begin(operation);
      await runStep(workflow, 'announce', context);
      provider.isSlow = true;
      expect(await runStep(workflow, doing, context)).toMatchObject({ kind: 'wait' });
      expect((await node())['status']).not.toBe(done);
      provider.isSlow = false;
      expect(await runStep(workflow, doing, context)).toEqual(Step.done);
      expect((await node())['status']).toBe(done);
      await runStep(workflow, operation === 'stop' ? 'mark-stopped' : 'mark-destroyed', context);
    }
  });

  it('destroys machines that cannot be stopped, and the next start creates new ones', async () => {
    await planned();
    await isUp();
    provider.canStopIt = false;
    const workflow = app.get(StopClusterWorkflow);
    const context = await begin('stop');
    for (const { name } of workflow.steps) expect(await runStep(workflow, name, context)).toEqual(Step.done);
    const before = await node();
    expect(before['status']).toBe('DESTROYED');
    await planned();
    expect(await node()).toMatchObject({ node_number: 0, status: 'INITIATING' });
    expect((await node())['token']).not.toBe(before['token']);
  });

  it('starts a machine whose agent registers once, with the token it was sent, while the start lasts', async () => {
    const context = await planned();
    await provision(context);
    const token = provider.specs[0]?.boot.bootstrapToken ?? '';
    const agents = app.get(ClusterNodesService);
    const expiry = (sql: string) =>
      dataSource.query(`UPDATE cluster_nodes SET bootstrap_expires_at = ${sql} WHERE cluster_id = $1`, [clusterId]);
    const [{ left } = { left: 0 }] = await dataSource.query<{ left: number }[]>(
      `SELECT extract(epoch FROM bootstrap_expires_at - platform_now())::int AS left FROM cluster_nodes WHERE cluster_id = $1`,
      [clusterId],
    );
    expect(Math.abs(left - 15 * 60)).toBeLessThan(60);
    await expiry(`platform_now() - interval '1 second'`);
    await expect(agents.register(token, { agentId: 'agent', protocolVersion: null })).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
    await app.get(ClusterNodesRepository).renewBootstrapTokens(autocommit(dataSource.manager), clusterId, 60_000);
    const { nodeToken } = await agents.register(token, { agentId: 'agent', protocolVersion: null });
    await agents.authenticate(nodeToken);
    await expect(agents.register(token, { agentId: 'agent', protocolVersion: null })).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
    await expiry('NULL');
    await expect(agents.register(token, { agentId: 'agent', protocolVersion: null })).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  describe('refuses some nodes of a start and', () => {
    const entries = async (nodeNumber: number) => {
      const { data } = await app.get(ClusterHistoriesService).nodeStates(scope(), { id: clusterId }, nodeNumber, PAGE);
      return data;
    };
    const scope = () => ({ tenantId, userId: 1 }) as unknown as TenantScope;

    async function errorsOf(nodeNumber: number): Promise<string[]> {
      const entry = (await entries(nodeNumber)).find(({ node_status }) => node_status === 'ERROR');
      if (!entry) throw new Error(`Node ${nodeNumber} was never in ERROR`);
      const { data } = await app.get(ClusterHistoriesService).errors(scope(), clusterId, entry.node_status_id, PAGE);
      return data.map(({ error }) => error);
    }

    async function fail(...refused: [number, ComputeDriverError][]): Promise<void> {
      await dataSource.query('UPDATE clusters SET min_instances = 3, max_instances = 3 WHERE cluster_id = $1', [
        clusterId,
      ]);
      for (const [nodeNumber, refusal] of refused) provider.refusals.set(nodeNumber, refusal);
      const { instanceId } = await begin('start');
      await app.get(WorkflowRunner).continue(START_CLUSTER, instanceId, start());
    }

    it('has its message about a node reported for this node only', async () => {
      await fail([2, fault('quota')]);
      expect(await errorsOf(2)).toEqual(['provision-nodes: the provider says quota']);
      for (const other of [0, 1])
        expect(await errorsOf(other)).toEqual(['provision-nodes: Node 2: the provider says quota']);
      const reasons = await Promise.all([0, 1, 2].map(async (number) => (await entries(number))[1]?.reason));
      const ofOthers = 'Step provision-nodes failed: Node 2: the provider says quota';
      expect(reasons).toEqual([ofOthers, ofOthers, 'the provider says quota']);
    });

    it('has the message of each node reported, and a common one once', async () => {
      await fail([0, fault('capacity')], [1, fault('transient')], [2, fault('denied')]);
      expect(await errorsOf(0)).toEqual(['provision-nodes: the provider says capacity']);
      expect(await errorsOf(1)).toEqual(['provision-nodes: the provider says transient']);
      expect(await errorsOf(2)).toEqual(['provision-nodes: the provider says denied']);
      await setClusterStatus(dataSource.manager, clusterId, 'STOPPED');
      await fail(...[0, 1, 2].map((number): [number, ComputeDriverError] => [number, fault('denied')]));
      expect(await errorsOf(1)).toEqual(['provision-nodes: the provider says denied']);
    });

    it('leaves entries that name the nodes, the reason, their number and the step', async () => {
      await fail([2, fault('quota')]);
      const { data } = await app.get(ClusterHistoriesService).states(scope(), { id: clusterId }, PAGE);
      const [failed, began] = data;
      const why = 'Step provision-nodes failed: Node 2: the provider says quota';
      expect(failed).toMatchObject({ cluster_status: 'ERROR', current_node_size: 0, reason: why, step: 'compensate' });
      expect(began).toMatchObject({ cluster_status: 'INITIATING', reason: 'start requested', step: null });
      const steps = (await entries(2)).map(({ node_status, step }) => [node_status, step]);
      expect(steps).toEqual([
        ['DESTROYED', 'compensate'],
        ['ERROR', 'compensate'],
        ['INITIATING', 'plan-nodes'],
      ]);
      const all = await Promise.all([0, 1, 2].map(entries));
      for (const { reason } of all.flat()) expect(reason).toEqual(expect.stringMatching(/./));
    });
  });
});
