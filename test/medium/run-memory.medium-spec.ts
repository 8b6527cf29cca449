import type { CostLine } from '../../src/modules/execution/costs/dto/cost-report.dto';
import { RunSharesRepository } from '../../src/modules/execution/costs/run-shares.repository';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';
import type { NodeRole } from '../../libs/contracts/agent-protocol';
import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

const READY = { state: 'ready', master_url: null, error: null };
const DONE = { state: 'ended', outcome: 'done', reason: 'COMPLETED', message: null, exit_code: 0, pid: 1 };
/** MiB of a node, and of each of its four slots. */
const NODE_MB = 8192;
const SLOTS = 4;

// Real: the whole API and PostgreSQL. Left out: the agents, whose reports the test sends, and machines.
describe('the memory of runs', () => {
  const api = wholeApi({ BILLING_UNIT_PRICES: '2026-02-01:0.05:USD' });
  const people = new People(api);
  let mine: Tenancy;
  let admin: Caller;
  let lives: NodeLives;

  beforeAll(async () => {
    await holdClock(api.database);
    lives = new NodeLives(api.database, makeLifecycle(api.database));
    mine = await makeTenancy(api.database.manager, 'mine');
    admin = await people.admin(mine.tenantId);
    await api.database.query('UPDATE clusters SET max_parallel_jobs = $2 WHERE cluster_id = $1', [
      mine.clusterId,
      SLOTS,
    ]);
  });

  const at = (time: string) => setClock(api.database, new Date(time));
  /** Starts a node with 5.44 compute units per hour, whose agent the test is. */
  const nodeAt = async (time: string, role: NodeRole = 'single') => {
    await at(time);
    const nodeId = await lives.plan(mine, { role, memory_mb: NODE_MB, machine_price_ycu: 5.44 });
    await lives.move(nodeId, 'RUNNING');
    // Each end frees one, although runs of the test overlap.
    await api.database.query('UPDATE cluster_nodes SET busy_slots = 100 WHERE node_id = $1', [nodeId]);
    const agent = await TestAgent.ofNode(api, nodeId);
    expect(await agent.register()).toBe(200);
    return agent;
  };
  const runAt = async (agent: TestAgent, time: string, workspaceId = mine.workspaceId) => {
    await at(time);
    const runId = await agent.assignRun({ ...mine, workspaceId });
    await api.database.query(
      `UPDATE runs SET assigned_at = $2, created_by_user_id = $3, status = 'RUNNING' WHERE run_id = $1`,
      [runId, new Date(time), mine.userId],
    );
    return runId;
  };
  const report = async (agent: TestAgent, runId: number, notes: object) => {
    const run = { ...DONE, run_id: String(runId), seq: 1, application_id: null, at: 'now', ...notes };
    return (await agent.send('POST', '/report', { body: { daemons: READY, runs: [run] } })).status;
  };
  const costOf = async (runId: number, who = admin) =>
    (await who.call('GET', `/workspace/${mine.workspaceId}/run/${runId}/cost`)).body;
  const rowOf = async (runId: number) => {
    const sql = 'SELECT requested_memory_mb, peak_memory_mb, status FROM runs WHERE run_id = $1';
    return (await api.database.query<Record<string, unknown>[]>(sql, [runId]))[0];
  };

  describe('that an agent reports', () => {
    let agent: TestAgent;

    beforeAll(async () => {
      agent = await nodeAt('2026-02-10T08:00:00Z');
    });

    it('is compared with what the run requested, over the time of its slot', async () => {
      const runId = await runAt(agent, '2026-02-10T09:00:00Z');
      expect((await costOf(runId)).memory).toBeNull();
      await at('2026-02-10T10:00:00Z');
      expect(await report(agent, runId, { requested_memory_mb: 1792, peak_memory_mb: 768 })).toBe(200);
      const { cost, memory } = await costOf(runId);
      expect(cost).toMatchObject({ node_ms: 900_000, ycu: 1.36, amount: 0.068 });
      // 1 GiB for an hour, which is half of the slot's 2 GiB.
      expect(memory).toEqual({
        requested_mb: 1792,
        peak_mb: 768,
        unused_mb: 1024,
        sufficient_mb: 768,
        unused: { measured_ms: 900_000, gib_hours: 1, ycu: 0.68, amount: 0.034 },
      });
    });

    it.each([
      ['more than was requested', { requested_memory_mb: 700, peak_memory_mb: 900 }, [700, 900, 0, null, 0]],
      ['hardly less', { requested_memory_mb: 900, peak_memory_mb: 897 }, [900, 897, 3, null, 0.0001]],
      ['a little', { requested_memory_mb: 2048, peak_memory_mb: 129 }, [2048, 129, 1919, 512, 0.063717]],
      [
        'more than the node has',
        { requested_memory_mb: 2 ** 31 - 1, peak_memory_mb: 100 },
        [NODE_MB, 100, 8092, 512, 0.068],
      ],
      [
        'a peak that no node has',
        { requested_memory_mb: 512, peak_memory_mb: 2 ** 31 - 1 },
        [512, NODE_MB, 0, null, 0],
      ],
    ])('may be %s', async (_what, claimed, [requested, peak, unused, sufficient, amount]) => {
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      await at('2026-02-10T13:00:00Z');
      expect(await report(agent, runId, claimed)).toBe(200);
      const { cost, memory } = await costOf(runId);
      expect(memory).toMatchObject({
        requested_mb: requested,
        peak_mb: peak,
        unused_mb: unused,
        sufficient_mb: sufficient,
      });
      expect(memory.unused).toMatchObject({ measured_ms: 900_000, amount });
      expect(memory.unused.amount).toBeLessThanOrEqual(cost.amount);
    });

    it.each([
      ['is negative', { requested_memory_mb: 512, peak_memory_mb: -1 }],
      ['is larger than any', { requested_memory_mb: 2 ** 31, peak_memory_mb: 5 }],
      ['is no number', { requested_memory_mb: 512, peak_memory_mb: 'five' }],
      ['is null', { requested_memory_mb: 512, peak_memory_mb: null }],
    ])('is refused if it %s', async (_what, claimed) => {
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      expect(await report(agent, runId, claimed)).toBe(400);
      expect(await rowOf(runId)).toEqual({ requested_memory_mb: null, peak_memory_mb: null, status: 'RUNNING' });
    });

    it.each([
      ['there is none', {}],
      ['it is zero', { requested_memory_mb: 512, peak_memory_mb: 0 }],
      ['it is not known what was requested', { peak_memory_mb: 5 }],
      ['only that is known', { requested_memory_mb: 512 }],
    ])('is unknown if %s', async (_what, claimed) => {
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      await at('2026-02-10T13:00:00Z');
      expect(await report(agent, runId, claimed)).toBe(200);
      expect(await rowOf(runId)).toEqual({ requested_memory_mb: null, peak_memory_mb: null, status: 'DONE' });
      expect((await costOf(runId)).memory).toBeNull();
    });

    it('is only raised, and what was requested stays', async () => {
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      for (const [seq, requested, peak] of [
        [1, 1000, 300],
        [2, 2000, 400],
        [3, 3000, 200],
      ])
        await report(agent, runId, {
          state: 'running',
          outcome: null,
          reason: null,
          seq,
          requested_memory_mb: requested,
          peak_memory_mb: peak,
        });
      expect(await report(agent, runId, { seq: 4 })).toBe(200);
      expect(await rowOf(runId)).toEqual({ requested_memory_mb: 1000, peak_memory_mb: 400, status: 'DONE' });
      // The end is on record.
      expect(await report(agent, runId, { seq: 5, requested_memory_mb: 4000, peak_memory_mb: 4000 })).toBe(200);
      expect(await rowOf(runId)).toEqual({ requested_memory_mb: 1000, peak_memory_mb: 400, status: 'DONE' });
    });

    it('is not told by the agent of another node', async () => {
      const other = await nodeAt('2026-02-10T12:00:00Z');
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      expect(await report(other, runId, { requested_memory_mb: 512, peak_memory_mb: 5 })).toBe(200);
      expect(await rowOf(runId)).toEqual({ requested_memory_mb: null, peak_memory_mb: null, status: 'RUNNING' });
    });

    it('has no price where time has none', async () => {
      const early = await nodeAt('2026-01-20T08:00:00Z');
      const runId = await runAt(early, '2026-01-20T09:00:00Z');
      await at('2026-01-20T10:00:00Z');
      await report(early, runId, { requested_memory_mb: 1792, peak_memory_mb: 768 });
      expect((await costOf(runId)).memory.unused).toEqual({
        measured_ms: 900_000,
        gib_hours: 1,
        ycu: 0.68,
        amount: null,
      });
    });

    it('of a run on a master is valued by the slot there, without workers', async () => {
      const master = await nodeAt('2026-02-20T08:00:00Z', 'master');
      await nodeAt('2026-02-20T08:00:00Z', 'worker');
      const runId = await runAt(master, '2026-02-20T09:00:00Z');
      await at('2026-02-20T10:00:00Z');
      await report(master, runId, { requested_memory_mb: 1792, peak_memory_mb: 768 });
      const { cost, memory } = await costOf(runId);
      expect(cost).toMatchObject({ node_ms: 1_800_000, amount: 0.136 });
      expect(memory.unused).toEqual({ measured_ms: 900_000, gib_hours: 1, ycu: 0.68, amount: 0.034 });
    });

    it('is seen by those who may see what the run costs', async () => {
      const runId = await runAt(agent, '2026-02-10T12:00:00Z');
      await report(agent, runId, { requested_memory_mb: 1792, peak_memory_mb: 768 });
      const member = await people.member(mine.tenantId);
      expect((await member.call('GET', `/workspace/${mine.workspaceId}/run/${runId}/cost`)).status).toBe(403);
    });
  });

  describe('in the costs of a period', () => {
    const period = 'from=2026-05-01&until=2026-05-31';
    const HALF = { gib_hours: 2, ycu: 1.36, amount: 0.068 };
    const ALL = { measured_ms: 4_500_000, gib_hours: 4, ycu: 2.72, amount: 0.136 };
    let other: number;
    let night: number;
    let full: number;
    let unmeasured: number;

    beforeAll(async () => {
      other = await people.workspace(admin);
      await api.database.query(`UPDATE runs SET status = 'DONE', ended_at = assigned_at WHERE ended_at IS NULL`);
      const agent = await nodeAt('2026-05-10T20:00:00Z');
      night = await runAt(agent, '2026-05-10T22:00:00Z');
      full = await runAt(agent, '2026-05-10T21:00:00Z', other);
      unmeasured = await runAt(agent, '2026-05-10T23:00:00Z');
      for (const [runId, end, claimed] of [
        [full, '2026-05-10T22:00:00Z', { requested_memory_mb: 700, peak_memory_mb: 900 }],
        [unmeasured, '2026-05-11T00:00:00Z', {}],
        [night, '2026-05-11T02:00:00Z', { requested_memory_mb: 1792, peak_memory_mb: 768 }],
      ] as const) {
        await at(end);
        expect(await report(agent, runId, claimed)).toBe(200);
      }
      await at('2026-05-12T00:00:00Z');
    });

    const read = async (by: string, who = admin) => (await who.call('GET', `/costs?${period}&by=${by}`)).body;
    const sumUp = () => inTransaction(api.database, (tx) => new RunSharesRepository().sumUp(tx, 1_000));

    it.each(['before', 'after'])('is added up by everything %s runs are summed up', async (when) => {
      if (when === 'after') expect(await sumUp()).toBeGreaterThan(2);
      const days = await read('day');
      expect(days.total.unused_memory).toEqual(ALL);
      // The runs of a period have more time than those of them that were measured.
      expect(days.total.runs.node_ms).toBe(5_400_000);
      const found = new Map(days.data.map((line: CostLine) => [line.day, [line.runs.node_ms, line.unused_memory]]));
      expect(found.get('2026-05-10')).toEqual([3_600_000, { measured_ms: 2_700_000, ...HALF }]);
      expect(found.get('2026-05-11')).toEqual([1_800_000, { measured_ms: 1_800_000, ...HALF }]);
      const of = async (by: string, idOf: (line: CostLine) => number | undefined) =>
        (await read(by)).data.map((line: CostLine) => [idOf(line), line.unused_memory]);
      const none = { measured_ms: 900_000, gib_hours: 0, ycu: 0, amount: 0 };
      const most = { ...ALL, measured_ms: 3_600_000 };
      expect(await of('workspace', ({ workspace }) => workspace?.id)).toEqual([
        [mine.workspaceId, most],
        [other, none],
      ]);
      expect(new Map(await of('run', ({ run }) => run?.id))).toEqual(
        new Map<number, object | null>([
          [night, most],
          [full, none],
          [unmeasured, null],
        ]),
      );
      expect(await of('user', ({ user }) => user?.user_id)).toEqual([[mine.userId, ALL]]);
      expect(await of('cluster', ({ cluster }) => cluster?.id)).toEqual([[mine.clusterId, ALL]]);
    });

    it('is of the runs that the caller may view', async () => {
      const member = await people.member(mine.tenantId);
      expect(await read('run', member)).toMatchObject({ data: [], total: { unused_memory: null, idle: null } });
      const group = await people.group([], [member.userId]);
      await insertPlain(api.database.manager, 'workspace_groups', {
        ...{ tenant_id: mine.tenantId, workspace_id: other, group_id: group, permission_id: 0 },
      });
      const seen = await read('run', member);
      expect(seen.total.unused_memory).toEqual({ measured_ms: 900_000, gib_hours: 0, ycu: 0, amount: 0 });
      const stranger = await people.admin((await makeTenancy(api.database.manager, 'foreign')).tenantId);
      expect((await read('run', stranger)).total.unused_memory).toBeNull();
    });
  });
});
