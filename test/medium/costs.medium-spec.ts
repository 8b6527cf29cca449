import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { wholeApi } from './harness/test-api';

const PRICES = '2026-01-01:0.05:USD,2026-03-01:0.06:USD,2026-04-01:0.04:EUR';

// Real: the whole API and PostgreSQL. Nodes have histories but no machines, runs no processes.
describe('costs', () => {
  const api = wholeApi({ BILLING_UNIT_PRICES: PRICES });
  const people = new People(api);
  let lives: NodeLives;
  let mine: Tenancy;
  let foreign: Tenancy;
  let caller: Caller;

  beforeAll(async () => {
    await holdClock(api.database);
    lives = new NodeLives(api.database, makeLifecycle(api.database));
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    caller = await people.as(mine.userId, mine.tenantId);
  });

  const at = (time: string) => setClock(api.database, new Date(time));
  const slots = (count: number, { clusterId } = mine) =>
    api.database.query('UPDATE clusters SET max_parallel_jobs = $2 WHERE cluster_id = $1', [clusterId, count]);
  const run = async (nodeId: number | null, from: string, until: string | null, of: Partial<Tenancy> = {}) => {
    const { tenantId, workspaceId, clusterId, jobConfId, userId } = { ...mine, ...of };
    const { run_id: id } = await insertPlain<{ run_id: number }>(api.database.manager, 'runs', {
      tenant_id: tenantId,
      workspace_id: workspaceId,
      cluster_id: clusterId,
      job_conf_id: jobConfId,
      created_by_user_id: userId,
      node_id: nodeId,
      status: until === null ? 'RUNNING' : 'DONE',
      job_conf_snapshot: { name: 'sum', job_type: 'SPARK_JOB', language: 'Python3', job_conf_id: jobConfId },
      from_date: new Date(from),
      assigned_at: nodeId === null ? null : new Date(from),
      ended_at: until === null ? null : new Date(until),
    });
    return Number(id);
  };
  const costOf = async (runId: number) =>
    (await caller.call('GET', `/workspace/${mine.workspaceId}/run/${runId}/cost`)).body;

  it('of a run are its slot of the RUNNING time of its node, to the millisecond', async () => {
    await slots(4);
    await at('2026-02-10T08:00:00Z');
    const node = await lives.plan(mine, { machine_price_ycu: 5.44 });
    await lives.move(node, 'RUNNING');
    const half = await run(node, '2026-02-10T09:00:00Z', '2026-02-10T09:30:00.002Z');
    const late = await run(node, '2026-02-10T09:50:00Z', '2026-02-10T10:10:00Z');
    const waiting = await run(null, '2026-02-10T09:50:00Z', null);
    await at('2026-02-10T10:00:00Z');
    await lives.move(node, 'DESTROYED');

    // (5,400,000 + 2) / 4 is cut to 1,350,000, less 900,000 until the run began.
    expect(await costOf(half)).toEqual({
      run_id: half,
      cluster_id: mine.clusterId,
      start_date: '2026-02-10T09:00:00.000Z',
      end_date: '2026-02-10T09:30:00.002Z',
      cost: { node_ms: 450_000, ycu: 0.68, pricing: 'PRICED', amount: 0.034, currency: 'USD' },
      intervals: [
        {
          node_state_id: expect.any(Number),
          node_id: node,
          machine_type: expect.any(String),
          machine_price_ycu: 5.44,
          is_spot: false,
          slots: 4,
          running_since: '2026-02-10T08:00:00.000Z',
          from_date: '2026-02-10T09:00:00.000Z',
          to_date: '2026-02-10T09:30:00.002Z',
          share_ms: 450_000,
        },
      ],
      is_truncated: false,
    });
    // The node was no longer RUNNING when the run ended.
    expect((await costOf(late)).cost.node_ms).toBe(150_000);
    expect(await costOf(waiting)).toMatchObject({
      start_date: null,
      cost: { node_ms: 0, ycu: 0, pricing: 'PRICED', amount: 0, currency: 'EUR' },
      intervals: [],
    });
  });

  it('count a running run on a running node until now, and keep what was true when the node began', async () => {
    await slots(2);
    await at('2026-02-11T23:00:00Z');
    const node = await lives.plan(mine);
    await lives.move(node, 'RUNNING');
    await slots(10);
    const id = await run(node, '2026-02-11T23:30:00Z', null);
    await at('2026-02-12T01:00:00Z');
    const { cost, intervals, end_date: end } = await costOf(id);
    expect([end, cost.node_ms]).toEqual([null, 45 * 60_000]);
    expect(intervals.map((one: { share_ms: number }) => one.share_ms)).toEqual([15 * 60_000, 30 * 60_000]);
    await at('2026-02-12T01:00:02Z');
    expect((await costOf(id)).cost.node_ms).toBe(45 * 60_000 + 1_000);
    await lives.move(node, 'DESTROYED');
  });

  it('have a part of each worker if the node is the master of a cluster', async () => {
    await slots(2);
    await at('2026-02-13T00:00:00Z');
    const [master, worker] = [await lives.plan(mine), await lives.plan(mine)];
    const query = 'UPDATE cluster_nodes SET role = $2 WHERE node_id = $1';
    await api.database.query(query, [master, 'master']);
    await api.database.query(query, [worker, 'worker']);
    await lives.move(master, 'RUNNING');
    await at('2026-02-13T00:30:00Z');
    await lives.move(worker, 'RUNNING');
    await at('2026-02-13T02:00:00Z');
    for (const node of [master, worker]) await lives.move(node, 'DESTROYED');
    const id = await run(master, '2026-02-13T00:00:00Z', '2026-02-13T01:00:00Z');
    expect((await costOf(id)).intervals.map((one: Record<string, unknown>) => [one.node_id, one.share_ms])).toEqual([
      [master, 30 * 60_000],
      [worker, 15 * 60_000],
    ]);
  });

  it.each([
    ['before the first price', '2025-12-01', '2025-12-01', { pricing: 'NO_PRICE', amount: null, currency: null }],
    ['over the first price', '2025-12-31', '2026-01-01', { pricing: 'PARTLY_PRICED', amount: null, currency: null }],
    ['over a price', '2026-02-28', '2026-03-01', { pricing: 'PRICED', amount: 0.11, currency: 'USD' }],
    ['over a currency', '2026-03-31', '2026-04-01', { pricing: 'SEVERAL_CURRENCIES', amount: null, currency: null }],
  ])('%s say if there is a price', async (_what, first, last, expected) => {
    await slots(1);
    await at(`${first}T23:00:00Z`);
    const node = await lives.plan(mine);
    await lives.move(node, 'RUNNING');
    const until = new Date(Date.parse(`${first}T23:00:00Z`) + (first === last ? 1 : 2) * 3_600_000).toISOString();
    await at(until);
    await lives.move(node, 'DESTROYED');
    const id = await run(node, `${first}T23:00:00Z`, until);
    expect((await costOf(id)).cost).toMatchObject(expected);
  });

  it('of a run are not found in another workspace or tenant', async () => {
    const id = await run(null, '2026-02-10T09:50:00Z', null);
    const admin = await people.admin(mine.tenantId);
    const other = await people.workspace(admin);
    expect((await admin.call('GET', `/workspace/${other}/run/${id}/cost`)).status).toBe(404);
    const stranger = await people.as(foreign.userId, foreign.tenantId);
    expect((await stranger.call('GET', `/workspace/${foreign.workspaceId}/run/${id}/cost`)).status).toBe(404);
    expect((await stranger.call('GET', `/workspace/${mine.workspaceId}/run/${id}/cost`)).status).toBe(404);
    const member = await people.member(mine.tenantId);
    expect((await member.call('GET', `/workspace/${mine.workspaceId}/run/${id}/cost`)).status).toBe(403);
  });
});
