import { eventually } from '../harness/eventually';
import { Config } from '../../src/config/config';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import type { NodeStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { RunScheduler } from '../../src/modules/execution/runs/jobs/run-scheduler.service';
import { RunsRepository } from '../../src/modules/execution/runs/jobs/runs.repository';
import { JobReconciler } from '../../src/modules/execution/runs/jobs/background/job-reconciler';
import { LOGGER } from '../../src/platform/kernel/logging/logger';
import { makeTenancy, type Tenancy } from './harness/records';
import { setNodeStatus } from './harness/statuses';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const READY = { state: 'ready', master_url: null, error: null };

// Real: the whole API and PostgreSQL. Left out: the agents, whose reports the test sends.
describe('the report of an agent about its node', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let number = 0;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
  });

  async function makeAgent(role: string): Promise<TestAgent> {
    const agent = await TestAgent.unregistered(api, tenancy, number++);
    await set(agent, 'role = $2, cores = 4', role);
    expect(await agent.register()).toBe(200);
    await agent.poll();
    return agent;
  }

  const set = ({ nodeId }: TestAgent, change: string, ...values: unknown[]) =>
    api.database.query(`UPDATE cluster_nodes SET ${change} WHERE node_id = $1`, [nodeId, ...values]);

  const rowOf = async ({ nodeId }: TestAgent) =>
    (await api.database.query('SELECT * FROM cluster_nodes WHERE node_id = $1', [nodeId]))[0];

  const report = async (agent: TestAgent, notes: object): Promise<number> =>
    (await agent.send('POST', '/report', { body: { daemons: READY, runs: [], ...notes } })).status;

  const load = (fields: object) => ({ load: { pending_cores: 0, used_cores: 0, executors: 0, ...fields } });

  it('is stored for the role of the node', async () => {
    const [master, worker] = [await makeAgent('master'), await makeAgent('worker')];
    const told = load({ pending_cores: 12, used_cores: 3, executors: 2 });
    for (const agent of [master, worker]) expect(await report(agent, told)).toBe(200);
    expect(await rowOf(master)).toMatchObject({ pending_cores: 12, used_cores: null, executors: null });
    const busy = await rowOf(worker);
    expect(busy).toMatchObject({ pending_cores: null, used_cores: 3, executors: 2, idle_since: null });
    expect(await report(worker, told)).toBe(200);
    expect((await rowOf(worker)).load_at).toEqual(busy.load_at);
    expect(await report(worker, load({}))).toBe(200);
    const idle = await rowOf(worker);
    expect(idle).toMatchObject({ used_cores: 0, idle_since: expect.any(Date) as Date });
    // A report without a load changes nothing.
    expect(await report(worker, {})).toBe(200);
    expect(await rowOf(worker)).toMatchObject({ used_cores: 0, idle_since: idle.idle_since as Date });
  });

  it.each([
    ['a negative number', load({ used_cores: -1 })],
    ['half an executor', load({ executors: 1.5 })],
    ['more cores than there are', load({ pending_cores: 1_000_001 })],
    ['half a load', { load: { used_cores: 1 } }],
    ['a word', { drained: 'yes' }],
    ['a number for words', { interruption: { detail: 7, ends_at: null } }],
  ])('is refused if it is impossible: %s', async (_what, notes) => {
    const worker = await makeAgent('worker');
    expect(await report(worker, notes)).toBe(400);
    expect(await rowOf(worker)).toMatchObject({ used_cores: null, drained_at: null, interrupted_at: null });
  });

  it('counts as drained only on a draining node without a run', async () => {
    const worker = await makeAgent('worker');
    expect(await report(worker, { drained: true })).toBe(200);
    expect((await rowOf(worker)).drained_at).toBeNull();
    expect((await worker.poll()).drain).toBeUndefined();
    await set(worker, 'draining = TRUE, busy_slots = 1');
    expect((await worker.poll()).drain).toBe(true);
    expect(await report(worker, { drained: true })).toBe(200);
    expect((await rowOf(worker)).drained_at).toBeNull();
    await set(worker, 'busy_slots = 0');
    expect(await report(worker, { drained: true })).toBe(200);
    expect((await rowOf(worker)).drained_at).toEqual(expect.any(Date));
  });

  it('of an interruption stops new runs at once', async () => {
    const agent = await makeAgent('single');
    await set(agent, `status = 'RUNNING', daemons_state = 'ready'`);
    const nodes = api.app.get(ClusterNodesRepository, { strict: false });
    const free = async () => {
      const found = await nodes.withFreeSlots(autocommit(api.database.manager), tenancy.clusterId, 5, {
        limit: 10,
        fullestFirst: false,
      });
      return found.map(({ node_id }) => node_id);
    };
    expect(await free()).toContain(agent.nodeId);
    const version = Number((await rowOf(agent)).desired_version);
    const poll = agent.send('POST', '/poll', { body: { version, wait_ms: 30_000 } });
    const notice = { interruption: { detail: 'No capacity.', ends_at: '2026-01-31T08:00:00Z' } };
    expect(await report(agent, notice)).toBe(200);
    expect(await (await poll).json()).toMatchObject({ drain: true });
    expect(await free()).not.toContain(agent.nodeId);
    const { interrupted_at } = await rowOf(agent);
    expect(await report(agent, { interruption: { detail: 'Again.', ends_at: null } })).toBe(200);
    expect(await rowOf(agent)).toMatchObject({ interrupted_at: interrupted_at as Date, interruption: 'No capacity.' });
  });

  it.each<[NodeStatus, string | null, string]>([
    ['ERROR', 'No capacity.', 'SPOT_INTERRUPTED'],
    ['DESTROYED', 'No capacity.', 'SPOT_INTERRUPTED'],
    ['STOPPED', 'No capacity.', 'NODE_STOPPED'],
    ['ERROR', null, 'NODE_LOST'],
  ])('ends the runs of a node in %s, interrupted by %p, with its reason', async (status, interruption, reason) => {
    const agent = await makeAgent('single');
    const runId = await agent.assignRun(tenancy);
    await set(agent, 'interruption = $2, busy_slots = 1', interruption);
    await setNodeStatus(api.database.manager, agent.nodeId, status);
    const get = <T>(token: string | symbol | (abstract new (...args: never[]) => T)): T =>
      api.app.get<T>(token, { strict: false });
    const reconciler = new JobReconciler(
      api.database,
      get(RunsRepository),
      get(RunScheduler),
      get(Config),
      get(LOGGER),
    );
    await reconciler.reconcile(new AbortController().signal);
    const run = await eventually(
      async () =>
        (await api.database.query('SELECT * FROM runs WHERE run_id = $1 AND ended_at IS NOT NULL', [runId]))[0],
    );
    expect(run).toMatchObject({ status: 'TERMINATED', reason_code: reason });
    if (reason === 'SPOT_INTERRUPTED') expect(run.reason).toContain(interruption);
  });
});
