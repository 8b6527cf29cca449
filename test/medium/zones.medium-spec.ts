import type { DataSource } from 'typeorm';
import { LOCAL_ENDPOINT } from '../../src/modules/infrastructure/environments/cloud-environments/cloud-envs.joins';
import { ClusterLifecycle } from '../../src/modules/execution/clusters/lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import { ClusterNodesService } from '../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import type { ClusterOperation } from '../../src/modules/execution/clusters/model/cluster-state';
import { START_CLUSTER } from '../../src/modules/execution/clusters/lifecycle/cluster-workflows';
import type { ClusterNode } from '../../src/modules/execution/clusters/model/entities/cluster-node.entity';
import {
  AGED_OFFERS,
  BlockedOffersRepository,
} from '../../src/modules/execution/clusters/provisioning/blocked-offers.repository';
import { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { ClusterScaler } from '../../src/modules/execution/clusters/scaling/cluster-scaler';
import { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { ResizeClusterUpWorkflow } from '../../src/modules/execution/clusters/scaling/resize-cluster.workflow';
import { StartClusterWorkflow } from '../../src/modules/execution/clusters/provisioning/start-cluster.workflow';
import type { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import {
  Step,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
} from '../../src/platform/background/workflows/workflow-definition';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { WorkerApp } from './harness/worker-app';
import { setClusterStatus, setNodeStatus } from './harness/statuses';
import { Killed, ZonedProvider } from './harness/zoned-provider';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const REGION = 'land-1';
const ZONES = ['land-1a', 'land-1b', 'land-1c'];
const [A, B, C] = ZONES as [string, string, string];

// Real: the worker's services and PostgreSQL. Left out: the provider, whose free capacity the tests set, and agents.
describe('zones without capacity', () => {
  const app = new WorkerApp({ SPOT_FALLBACK_MINUTES: '5' });
  let dataSource: DataSource;
  let provider: ZonedProvider;
  let tenancy: Tenancy;
  let made = 0;

  beforeAll(async () => {
    ({ dataSource } = app);
    const reader = app.get(ClusterSnapshots);
    const call: ClusterSnapshots['withDriver'] = (_facts, _caller, use) => use(provider as never, {} as never);
    reader.withDriver = call;
    const read = reader.read.bind(reader);
    reader.read = async (id) => {
      const facts = await read(id);
      return { ...facts, place: { ...facts.place, region: REGION, zone: A }, zones: ZONES };
    };
    app.get(Drivers).serves = () => true;
  });

  beforeEach(async () => {
    provider = new ZonedProvider();
    tenancy = await anotherTenant();
  });

  async function anotherTenant(): Promise<Tenancy> {
    made += 1;
    const one = await makeTenancy(dataSource.manager, `tenant ${made}`);
    await dataSource.query(`UPDATE cloud_envs SET endpoint = $1`, [LOCAL_ENDPOINT]);
    await setClusterStatus(dataSource.manager, one.clusterId, 'STOPPED');
    return one;
  }

  const set = (columns: string, { clusterId } = tenancy) =>
    dataSource.query(`UPDATE clusters SET ${columns} WHERE cluster_id = $1`, [clusterId]);
  const sized = (count: number, of = tenancy) => set(`min_instances = ${count}, max_instances = ${count}`, of);

  function nodes({ clusterId } = tenancy): Promise<ClusterNode[]> {
    return app.get(ClusterNodesRepository).ofCluster(clusterId);
  }

  const where = async (of = tenancy) =>
    (await nodes(of)).map(({ node_number, attempt, place }) => [node_number, attempt, place?.zone]);

  async function begin(operation: ClusterOperation, of = tenancy): Promise<WorkflowContext<'cluster'>> {
    const lifecycle = app.get(ClusterLifecycle);
    const instanceId = await inTransaction(dataSource, async (tx) => {
      const cluster = await lifecycle.lockOrThrow(tx, of.clusterId);
      return (await lifecycle.beginOperation(tx, cluster, operation, null, 'test')).workflow_job_instance_id;
    });
    return contextOf(instanceId, of);
  }

  function contextOf(instanceId: number, { tenantId, clusterId }: Tenancy): WorkflowContext<'cluster'> {
    return {
      ...{ instanceId, subject: { kind: 'cluster', tenantId, id: clusterId }, actorUserId: null },
      ...{ requestedAt: new Date(), correlationId: 'test', signal: new AbortController().signal },
    };
  }

  function step(workflow: Workflow<'cluster'>, name: string, context: WorkflowContext<'cluster'>) {
    const found = workflow.steps.find((one) => one.name === name);
    if (!found) throw new Error(`There is no step ${name}`);
    return found.run(context);
  }

  const start = () => app.get(StartClusterWorkflow);

  async function planned(of = tenancy): Promise<WorkflowContext<'cluster'>> {
    const context = await begin('start', of);
    expect(await step(start(), 'plan-nodes', context)).toEqual(Step.done);
    return context;
  }

  /** Repeats the step, as the runner does, until it only waits for agents. */
  async function provision(context: WorkflowContext<'cluster'>, name = 'provision-nodes'): Promise<StepOutcome[]> {
    const outcomes: StepOutcome[] = [];
    for (let time = 0; time < 30; time += 1) {
      const outcome = await step(start(), name, context);
      outcomes.push(outcome);
      const all = await nodes({ ...tenancy, clusterId: context.subject.id });
      const isAsked = all.every(({ accepted_at, no_room }) => accepted_at !== null && no_room === null);
      if (outcome.kind !== 'wait' || (name === 'await-nodes' && isAsked)) return outcomes;
    }
    throw new Error('The step does not end');
  }

  const requestsIn = (zone: string) => provider.requests.filter((one) => one.endsWith(` ${zone}`));

  it('are skipped: the next one creates the machine, as another attempt', async () => {
    provider.full.add(A);
    const context = await planned();
    const [before] = await nodes();
    const first = await step(start(), 'provision-nodes', context);
    const said = 'no room in land-1a';
    expect(first).toEqual(Step.wait(0, { message: `Node 0: ${said}`, parts: { [before?.node_id ?? 0]: said } }));
    await provision(context);
    expect(provider.requests).toEqual([`0/1 ${A}`, `0/2 ${B}`]);
    expect(provider.machines).toMatchObject([{ attempt: 2, zone: B, state: 'running' }]);
    const [after] = await nodes();
    expect(after).toMatchObject({
      ...{ token: before?.token, attempt: 2, place: { region: REGION, zone: B }, no_room: null, error: null },
      ...{ seen_at: null, agent_id: null, tries: { [A]: said }, accepted_at: expect.any(Date) as Date },
    });
    expect(after?.bootstrap_token_hash).not.toBe(before?.bootstrap_token_hash);
    expect(after?.bootstrap_token_hash).not.toBeNull();
  });

  it('refuse registrations for the previous attempt', async () => {
    provider.full.add(A);
    provider.failsLater = true;
    const specs: string[] = [];
    const original = provider.provision.bind(provider);
    provider.provision = (spec) => {
      specs.push(spec.boot.bootstrapToken);
      return original(spec);
    };
    const context = await planned();
    await provision(context);
    await provision(context, 'await-nodes');
    const [old = '', now = ''] = specs;
    const register = (token: string) =>
      app.get(ClusterNodesService).register(token, { agentId: 'agent', protocolVersion: null });
    await expect(register(old)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(await register(now)).toMatchObject({ nodeToken: expect.any(String) as string });
  });

  it('may fail after accepting a machine, which is removed completely before the next request', async () => {
    Object.assign(provider, { failsLater: true, endsAfter: 2 });
    provider.full.add(A);
    await sized(2);
    const context = await planned();
    expect(await provision(context)).toEqual([Step.done]);
    const outcomes = await provision(context, 'await-nodes');
    expect(outcomes.every(({ kind }) => kind === 'wait')).toBe(true);
    expect(await where()).toEqual([
      [0, 2, B],
      [1, 2, B],
    ]);
    expect(provider.machines.map(({ zone }) => zone)).toEqual([B, B]);
    expect(provider.maxMachinesPerNode).toBe(1);
  });

  it('get one request for all nodes of a cluster, and none of other clusters of the tenant for a while', async () => {
    provider.full.add(A);
    await sized(10);
    await provision(await planned());
    expect(requestsIn(A)).toEqual([`0/1 ${A}`]);
    expect(requestsIn(B)).toHaveLength(10);
    const again = { ...tenancy, clusterId: await anotherCluster() };
    await provision(await planned(again));
    expect([requestsIn(A).length, requestsIn(B).length]).toEqual([1, 11]);
    const offers = await dataSource.query<{ zone: string; ms: number }[]>(
      `SELECT zone, extract(epoch FROM blocked_until - platform_now()) * 1000 AS ms FROM blocked_offers WHERE tenant_id = $1`,
      [tenancy.tenantId],
    );
    expect(offers.map(({ zone }) => zone)).toEqual([A]);
    expect(Number(offers[0]?.ms)).toBeGreaterThan(60_000);
    // Other tenants still send requests.
    const other = await anotherTenant();
    await provision(await planned(other));
    expect(requestsIn(A)).toHaveLength(2);
    expect(await where(other)).toEqual([[0, 2, B]]);
  });

  async function anotherCluster(): Promise<number> {
    const [row] = await dataSource.query<{ id: number }[]>(
      `WITH made AS (
         INSERT INTO clusters SELECT (json_populate_record(c, json_build_object('cluster_id',
           nextval(pg_get_serial_sequence('clusters', 'cluster_id')), 'name', c.name || ' too', 'status', 'STOPPED',
           'workflow_job_instance_id', NULL, 'min_instances', 1, 'max_instances', 1))).*
         FROM clusters c WHERE cluster_id = $1 RETURNING cluster_id)
       INSERT INTO cluster_states (cluster_id, sequence, status, reason, start_time, node_count)
       SELECT cluster_id, 1, 'STOPPED', 'As a test has it', platform_clock(), 0 FROM made
       RETURNING cluster_id::int AS id`,
      [tenancy.clusterId],
    );
    return row?.id ?? 0;
  }

  it('get requests again after that time, and the recorded offers are deleted', async () => {
    provider.full.add(A);
    await provision(await planned());
    await dataSource.query(`UPDATE blocked_offers SET blocked_until = platform_now() - interval '1 second'`);
    await setClusterStatus(dataSource.manager, tenancy.clusterId, 'STOPPED');
    await dataSource.query(`UPDATE cluster_nodes SET to_date = now() WHERE cluster_id = $1`, [tenancy.clusterId]);
    await provision(await planned());
    expect(requestsIn(A)).toHaveLength(2);
    await dataSource.query(`UPDATE blocked_offers SET blocked_until = platform_now() - interval '1 second'`);
    await app.get<RetentionSweeper>(`retention of ${AGED_OFFERS.name}`).reconcile(new AbortController().signal);
    expect(await dataSource.query('SELECT 1 FROM blocked_offers')).toEqual([]);
  });

  it('fail a start if no zone of the region has capacity, with the message of each zone', async () => {
    for (const zone of ZONES) provider.full.add(zone);
    await sized(3);
    const { instanceId } = await begin('start');
    for (let time = 0; time < 10; time += 1) await app.get(WorkflowRunner).continue(START_CLUSTER, instanceId, start());
    const [cluster] = await dataSource.query<{ status: string; reason: string }[]>(
      `SELECT c.status, s.reason FROM clusters c JOIN cluster_states s USING (cluster_id)
       WHERE cluster_id = $1 AND s.end_time = 'infinity'`,
      [tenancy.clusterId],
    );
    expect(cluster?.status).toBe('ERROR');
    expect(cluster?.reason).toMatch(/no capacity for machines of type \S+ in region land-1\./);
    expect(cluster?.reason).toContain(ZONES.map((zone) => `${zone}: no room in ${zone}`).join('; '));
    expect(provider.machines).toEqual([]);
    // One of the three nodes tried each zone, and the others used its result.
    expect(ZONES.map((zone) => requestsIn(zone).length)).toEqual([1, 1, 1]);
    // Remembered zones alone refuse no start.
    provider.full.clear();
    await setClusterStatus(dataSource.manager, tenancy.clusterId, 'STOPPED');
    await provision(await planned());
    expect(provider.machines.map(({ zone }) => zone)).toEqual([A, A, A]);
  });

  it('chosen by the platform are also skipped if they refuse the request', async () => {
    provider.full.add(A);
    provider.refusing.add(B);
    await provision(await planned());
    expect(await where()).toEqual([[0, 3, C]]);
    provider.refusing.add(A);
    const other = await anotherTenant();
    await expect(step(start(), 'provision-nodes', await planned(other))).rejects.toThrow('land-1a has no such type');
  });

  it('are not tried if the whole region or the account has no capacity', async () => {
    for (const zone of ZONES) provider.full.add(zone);
    provider.scope = 'region';
    await expect(provision(await planned())).rejects.toThrow(/in region land-1\. .* land-1a: no room in land-1a/);
    const other = await anotherTenant();
    provider.scope = 'account';
    await expect(provision(await planned(other))).rejects.toThrow('no room in land-1a');
    expect(ZONES.map((zone) => requestsIn(zone).length)).toEqual([2, 0, 0]);
    const blocked = await dataSource.query<object[]>(
      'SELECT zone FROM blocked_offers WHERE tenant_id = ANY($1::uuid[])',
      [[tenancy.tenantId, other.tenantId]],
    );
    expect(blocked).toEqual([{ zone: '' }]);
  });

  it('do not move a machine with a disk', async () => {
    const context = await planned();
    await provision(context);
    const { manager } = dataSource;
    await setClusterStatus(manager, tenancy.clusterId, 'STOPPED');
    for (const { node_id } of await nodes()) await setNodeStatus(manager, node_id, 'STOPPED');
    await dataSource.query(
      `UPDATE cluster_nodes SET agent_id = 'a', last_seen_at = platform_now(), seen_at = platform_now() WHERE cluster_id = $1`,
      [tenancy.clusterId],
    );
    provider.full.add(A);
    const words = /in land-1a, where the node's disk is\. Try again later\. no room in land-1a/;
    await expect(provision(await planned())).rejects.toThrow(words);
    expect(await where()).toEqual([[0, 1, A]]);
    expect(provider.machines).toHaveLength(1);
  });

  it('leave no stopped machine of a failed start, even if disks are kept', async () => {
    await set('keep_scratch_disk = true');
    for (const zone of ZONES) provider.full.add(zone);
    provider.failsLater = true;
    const context = await planned();
    await provision(context);
    const untilEnd = async () => {
      for (let time = 0; time < 30; time += 1) await step(start(), 'await-nodes', context);
    };
    await expect(untilEnd()).rejects.toThrow('region land-1');
    await start().compensate(context, { step: 'await-nodes', message: 'no room' });
    expect([await nodes(), provider.machines]).toEqual([[], []]);
  });

  it('or not, a failed start stops only machines whose agents reported, as others may not be listed yet', async () => {
    await set('keep_scratch_disk = true');
    await sized(2);
    const context = await planned();
    await provision(context);
    const [heard] = await nodes();
    await dataSource.query(
      `UPDATE cluster_nodes SET agent_id = 'a', last_seen_at = platform_now() WHERE node_id = $1`,
      [heard?.node_id],
    );
    await start().compensate(context, { step: 'await-nodes', message: 'too late' });
    expect((await nodes()).map(({ node_id }) => node_id)).toEqual([heard?.node_id]);
    expect(provider.machines).toEqual([expect.objectContaining({ nodeToken: heard?.token, state: 'stopped' })]);
  });

  describe('of a growing cluster', () => {
    beforeEach(async () => {
      await makeNode(dataSource.manager, tenancy, 0);
      await setClusterStatus(dataSource.manager, tenancy.clusterId, 'RUNNING');
      await set(`min_instances = 2, max_instances = 2, is_spot_instance = true`);
    });

    async function resized(): Promise<void> {
      await app.get(ClusterScaler).scale(tenancy.clusterId);
      const [row] = await dataSource.query<{ id: number | null }[]>(
        'SELECT resize_instance_id AS id FROM clusters WHERE cluster_id = $1',
        [tenancy.clusterId],
      );
      if (!row?.id) throw new Error('No resize is under way');
      for (let time = 0; time < 8; time += 1)
        await step(app.get(ResizeClusterUpWorkflow), 'bring-nodes', contextOf(row.id, tenancy));
    }

    const missing = async () => {
      const [row] = await dataSource.query<{ spot_missing_since: Date | null }[]>(
        'SELECT spot_missing_since FROM clusters WHERE cluster_id = $1',
        [tenancy.clusterId],
      );
      return row?.spot_missing_since ?? null;
    };

    it.each([false, true])(
      'are skipped before spot machines count as unavailable (reported later: %p)',
      async (later) => {
        provider.failsLater = later;
        provider.full.add(`${A} spot`);
        await resized();
        expect((await where()).at(-1)).toEqual([1, 2, B]);
        expect(provider.machines).toMatchObject([{ zone: B, state: 'running' }]);
        expect([await missing(), provider.maxMachinesPerNode]).toEqual([null, 1]);
      },
    );

    it('lead to on-demand machines, for which the zones count as available', async () => {
      for (const zone of ZONES) provider.full.add(`${zone} spot`);
      await resized();
      expect((await where()).map(([number]) => number)).toEqual([0]);
      expect(await missing()).not.toBeNull();
      await set(`spot_missing_since = platform_now() - interval '6 minutes', grow_after = NULL`);
      await resized();
      expect((await where()).at(-1)).toEqual([1, 1, A]);
      expect((await nodes()).at(-1)).toMatchObject({ is_spot: false });
    });
  });

  describe('and workers', () => {
    const restore: (() => void)[] = [];
    afterEach(() => {
      for (const one of restore.splice(0)) one();
    });

    /** Kills a worker before or after its n-th call that changes something. */
    function killAt(n: number): { calls: number } {
      const seen = { calls: 0 };
      const repositories: [object, string[]][] = [
        [app.get(ClusterNodesRepository), ['endAttempt', 'beginAttempt', 'markRequested', 'markAccepted', 'markSeen']],
        [app.get(BlockedOffersRepository), ['block']],
        [provider, ['provision', 'destroy']],
      ];
      const reach = () => {
        seen.calls += 1;
        if (seen.calls === n) throw new Killed();
      };
      for (const [owner, names] of repositories)
        for (const name of names) {
          const object = owner as Record<string, (...values: unknown[]) => Promise<unknown>>;
          const original = object[name]?.bind(owner);
          object[name] = async (...values) => {
            reach();
            const result = await original?.(...values);
            reach();
            return result;
          };
          restore.push(() => Reflect.deleteProperty(owner, name));
        }
      return seen;
    }

    async function untilUp(context: WorkflowContext<'cluster'>): Promise<void> {
      for (const name of ['provision-nodes', 'await-nodes'])
        for (let time = 0; ; time += 1)
          try {
            await provision(context, name);
            break;
          } catch (error) {
            if (!(error instanceof Killed) || time > 20) throw error;
          }
    }

    it.each([false, true])(
      'that are killed between any two steps leave one machine in the end (told later: %p)',
      async (later) => {
        let [n, isDone] = [1, false];
        for (; !isDone; n += 1) {
          provider = new ZonedProvider();
          Object.assign(provider, { failsLater: later, endsAfter: 1 });
          provider.full.add(A);
          tenancy = await anotherTenant();
          const context = await planned();
          const seen = killAt(n);
          await untilUp(context);
          isDone = seen.calls < n;
          for (const one of restore.splice(0)) one();
          expect({ n, zones: provider.machines.map(({ zone, state }) => `${zone} ${state}`) }).toEqual({
            n,
            zones: [`${B} running`],
          });
          expect(provider.maxMachinesPerNode).toBe(1);
          const [node] = await nodes();
          expect(node).toMatchObject({ place: { zone: B }, provider_ref: `m-${node?.token}-${node?.attempt}` });
        }
        expect(n).toBeGreaterThan(10);
      },
    );

    it.each([1, 2, 3])('that run concurrently do not create two machines (seed %p)', async (seed) => {
      let state = seed;
      provider.aroundCalls = () => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return new Promise((resolve) => setTimeout(resolve, state % 7));
      };
      provider.full.add(A);
      provider.endsAfter = 1;
      await sized(4);
      const context = await planned();
      await Promise.all([untilAccepted(context), untilAccepted(context)]);
      await provision(context, 'await-nodes');
      expect(provider.machines.map(({ zone }) => zone)).toEqual([B, B, B, B]);
      expect(provider.maxMachinesPerNode).toBe(1);
      const machines = new Map(provider.machines.map(({ nodeToken, attempt }) => [nodeToken, attempt]));
      for (const { token, attempt } of await nodes()) expect(machines.get(token)).toBe(attempt);
    });

    async function untilAccepted(context: WorkflowContext<'cluster'>): Promise<void> {
      for (let time = 0; time < 30; time += 1)
        try {
          if ((await step(start(), 'provision-nodes', context)).kind === 'done') return;
        } catch (error) {
          // The other worker holds the machine, so the runner would repeat the step.
          if (!(error instanceof Error) || !error.message.includes('not gone yet')) throw error;
        }
      throw new Error('The step does not end');
    }
  });
});
