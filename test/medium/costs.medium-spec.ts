import { CostReportsRepository } from '../../src/modules/execution/costs/cost-reports.repository';
import { RunSharesRepository } from '../../src/modules/execution/costs/run-shares.repository';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';
import { vacuumWhole } from './harness/vacuum';
import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { explainedDatabase, sumOf } from './harness/read-blocks';
import { wholeApi } from './harness/test-api';

const PRICES = '2026-01-01:0.05:USD,2026-03-01:0.06:USD,2026-04-01:0.04:EUR';

interface Line extends Record<'runs' | 'idle' | 'nodes', { node_ms: number } | null> {
  day: string | null;
  workspace: { id: number } | null;
  cluster: { id: number } | null;
  user: { user_id: number; username: string } | null;
  run: { id: number } | null;
}

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
      resource: 'job',
      name: 'sum',
      cluster_id: mine.clusterId,
      start_date: '2026-02-10T09:00:00.000Z',
      end_date: '2026-02-10T09:30:00.002Z',
      cost: { node_ms: 450_000, ycu: 0.68, pricing: 'PRICED', amount: 0.034, currency: 'USD' },
      memory: null,
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

  describe('of a period', () => {
    const query = 'from=2026-05-01&until=2026-05-31';
    let admin: Caller;
    let other: number;
    let node: number;
    let dear: number;
    let cheap: number;

    beforeAll(async () => {
      admin = await people.admin(mine.tenantId);
      other = await people.workspace(admin);
      await slots(2);
      await at('2026-05-10T20:00:00Z');
      node = await lives.plan(mine, { machine_price_ycu: 2 });
      await lives.move(node, 'RUNNING');
      dear = await run(node, '2026-05-10T22:00:00Z', '2026-05-11T02:00:00Z');
      cheap = await run(node, '2026-05-10T21:00:00Z', '2026-05-10T22:00:00Z', { workspaceId: other });
      await at('2026-05-11T04:00:00Z');
      await lives.move(node, 'DESTROYED');
    });

    const report = async (more: string, who = admin) => (await who.call('GET', `/costs?${query}${more}`)).body;
    const hours = ({ runs, idle, nodes }: Pick<Line, 'runs' | 'idle' | 'nodes'>) =>
      [runs, idle, nodes].map((cost) => cost && cost.node_ms / 3_600_000);
    const sumUp = () => inTransaction(api.database, (tx) => new RunSharesRepository().sumUp(tx, 1_000));

    it.each(['before', 'after'])(
      'add up to the time of nodes by day, cluster, workspace, user and run %s they are summed up',
      async (when) => {
        if (when === 'after') await sumUp();
        const days = await report('&by=day');
        expect(days.data.map(({ day, ...line }: Line) => [day, ...hours(line)])).toEqual([
          ['2026-05-11', 1, 3, 4],
          ['2026-05-10', 1.5, 2.5, 4],
        ]);
        expect(hours(days.total)).toEqual([2.5, 5.5, 8]);
        expect(days.total.idle).toMatchObject({ ycu: 11, pricing: 'PRICED', amount: 0.44, currency: 'EUR' });
        const [cluster] = (await report('&by=cluster')).data;
        expect([cluster.cluster.id, ...hours(cluster)]).toEqual([mine.clusterId, 2.5, 5.5, 8]);
        const workspaces = await report('&by=workspace');
        expect(workspaces.data.map(({ workspace, ...line }: Line) => [workspace?.id, ...hours(line)])).toEqual([
          [mine.workspaceId, 2, null, null],
          [other, 0.5, null, null],
        ]);
        const [user] = (await report('&by=user')).data;
        expect([user.user, ...hours(user)]).toEqual([{ user_id: mine.userId, username: 'mine' }, 2.5, null, null]);
        const runs = await report('&by=run');
        expect(runs.data.map(({ run: found, ...line }: Line) => [found, ...hours(line)])).toEqual([
          [{ id: dear, name: 'sum' }, 2, null, null],
          [{ id: cheap, name: 'sum' }, 0.5, null, null],
        ]);
        expect(runs.data.map(({ workspace, cluster, user: by }: Line) => [workspace?.id, cluster?.id, by])).toEqual([
          [mine.workspaceId, mine.clusterId, { user_id: mine.userId, username: 'mine' }],
          [other, mine.clusterId, { user_id: mine.userId, username: 'mine' }],
        ]);
        expect(hours(runs.total)).toEqual([2.5, 5.5, 8]);
      },
    );

    it.each(['day', 'workspace', 'run'])('are read on page by page by %s', async (by) => {
      const whole = await report(`&by=${by}`);
      const first = await report(`&by=${by}&limit=1`);
      const second = await report(`&by=${by}&limit=1&after=${first.result_set.next}`);
      expect([...first.data, ...second.data]).toEqual(whole.data);
      expect(first.result_set).toMatchObject({ limit: 1, total_objects: 1, total_is_lower_bound: true });
      expect(second.result_set).toEqual({ limit: 1, total_objects: null, total_is_lower_bound: false, next: null });
      expect(whole.result_set).toMatchObject({ total_objects: 2, total_is_lower_bound: false, next: null });
      expect(second.total).toEqual(whole.total);
    });

    it('are those of the workspaces that the caller may view, and then without idle time', async () => {
      const member = await people.member(mine.tenantId);
      const nothing = await report('&by=run', member);
      expect([nothing.data, ...hours(nothing.total)]).toEqual([[], 0, null, null]);
      expect((await member.call('GET', `/costs?${query}&workspace_id=${other}`)).status).toBe(403);
      const group = await people.group([], [member.userId]);
      await insertPlain(api.database.manager, 'workspace_groups', {
        tenant_id: mine.tenantId,
        workspace_id: other,
        group_id: group,
        permission_id: 0,
      });
      for (const by of ['day', 'run', 'cluster', 'user', 'workspace']) {
        const seen = await report(`&by=${by}`, member);
        expect(seen.data.map(hours)).toEqual([[0.5, null, null]]);
        expect(hours(seen.total)).toEqual([0.5, null, null]);
      }
      for (const by of ['day', 'run']) {
        const named = await report(`&by=${by}&workspace_id=${other}`, member);
        expect([named.data.map(hours), hours(named.total)]).toEqual([[[0.5, null, null]], [0.5, null, null]]);
      }
      const named = await report(`&by=run&workspace_id=${other}`);
      expect([named.data.map(hours), hours(named.total)]).toEqual([[[0.5, null, null]], [0.5, null, null]]);
    });

    it('of another tenant are not there', async () => {
      const stranger = await people.admin(foreign.tenantId);
      for (const by of ['day', 'run', 'cluster', 'user', 'workspace']) {
        const seen = await report(`&by=${by}&cluster_ids=${mine.clusterId}&created_by_ids=${mine.userId}`, stranger);
        expect([seen.data, seen.total.runs.node_ms]).toEqual([[], 0]);
      }
      const seen = await report(`&by=cluster`, stranger);
      expect([seen.data, ...hours(seen.total)]).toEqual([[], 0, null, null]);
      expect((await stranger.call('GET', `/costs?${query}&workspace_id=${mine.workspaceId}`)).status).toBe(404);
    });

    it.each([
      ['ends before it begins', 'from=2026-05-02&until=2026-05-01', 'COST.INVALID_PERIOD'],
      ['is longer than a year', 'from=2024-05-02&until=2026-05-01', 'COST.PERIOD_TOO_LONG'],
      ['has no end', 'from=2024-05-02', 'REQUEST.INVALID'],
      [
        'is read on by another order',
        `${query}&after=${Buffer.from('run 1 1').toString('base64url')}`,
        'REQUEST.INVALID',
      ],
      ['is divided by something else', `${query}&by=moon`, 'REQUEST.INVALID'],
    ])('are refused if it %s', async (_what, text, code) => {
      const { status, body } = await admin.call('GET', `/costs?${text}`);
      expect([status, body.error_code]).toEqual([400, code]);
    });

    it('are read from as few blocks with a hundred thousand runs as with a thousand', async () => {
      const fill = async (first: number, count: number) => {
        await api.database.query(
          `INSERT INTO run_cost_days (run_id, usage_date, tenant_id, workspace_id, cluster_id, user_id, is_only_day, share_ms, ycu_ms)
           SELECT $1 + n, DATE '2026-05-01' + n % 31, $3, $4, $5, $6, true, n, n * 1.5 FROM generate_series(1, $2::int) n`,
          [first, count, mine.tenantId, mine.workspaceId, mine.clusterId, mine.userId],
        );
        await api.database.query('DELETE FROM cost_days');
        await api.database.query(
          `INSERT INTO cost_days (tenant_id, usage_date, workspace_id, cluster_id, user_id, share_ms, ycu_ms)
           SELECT tenant_id, usage_date, workspace_id, cluster_id, user_id, sum(share_ms), sum(ycu_ms) FROM run_cost_days GROUP BY 1, 2, 3, 4, 5`,
        );
        for (const table of ['run_cost_days', 'cost_days']) await vacuumWhole(api.database, table);
      };
      const blocksOf = async () => {
        const { dataSource, blocks } = explainedDatabase(api.database);
        const reports = new CostReportsRepository(dataSource);
        const all = { everyone: true, workspaceId: null, clusterIds: null, createdByIds: null };
        const scope = { tenantId: mine.tenantId, userId: mine.userId, username: 'mine', ...all };
        const period = { from: '2026-05-01', until: '2026-05-31', at: new Date('2026-06-01T00:00:00Z') };
        await reports.lines(scope, period, [], { part: 'day', limit: 100, after: null });
        await reports.total(scope, period, []);
        const runs = await reports.runs(scope, period, [], { limit: 10, after: null });
        expect(runs).toHaveLength(10);
        return sumOf(blocks);
      };
      await fill(1_000_000, 1_000);
      const few = await blocksOf();
      await fill(2_000_000, 100_000);
      expect(await blocksOf()).toBeLessThan(few * 2 + 200);
    });
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
