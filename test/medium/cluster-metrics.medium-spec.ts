import type { NodeUtilization } from '../../libs/contracts/agent-protocol';
import { Config } from '../../src/config/config';
import { ClusterMetricsService } from '../../src/modules/execution/clusters/nodes/cluster-metrics.service';
import { AGED_UTILIZATION } from '../../src/modules/execution/clusters/nodes/node-utilization.repository';
import { LOGGER, type Logger } from '../../src/platform/kernel/logging/logger';
import { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { setClock } from './harness/clock';
import { type Caller, People } from './harness/people';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setNodeStatus } from './harness/statuses';
import { TestAgent } from './harness/test-agent';
import { soon, wholeApi, type TestAnswer } from './harness/test-api';

const MINUTE = 60_000;
/** The start of a minute and of a quarter of an hour. */
const START = new Date('2030-01-15T10:00:00Z').getTime();
const HAS = { cores: 4, memory_mb: 8_000, busy_slots: 2 };
const LARGEST = 2 ** 31 - 1;

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('metrics of a cluster', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let member: Caller;
  let tenancies = 0;

  beforeEach(async () => {
    await setClock(api.database, '0 seconds');
    tenancies += 1;
    tenancy = await makeTenancy(api.database.manager, `metrics${tenancies}`);
    await api.database.query('UPDATE clusters SET max_parallel_jobs = 5 WHERE cluster_id = $1', [tenancy.clusterId]);
    member = await people.member(tenancy.tenantId);
  });

  const changeNode = async (nodeId: number, columns: Record<string, unknown>) => {
    const changes = Object.keys(columns).map((column, at) => `${column} = $${at + 2}`);
    const sql = `UPDATE cluster_nodes SET ${changes.join(', ')} WHERE node_id = $1`;
    await api.database.query(sql, [nodeId, ...Object.values(columns)]);
  };

  const node = async (number: number, columns: Record<string, unknown> = {}): Promise<number> => {
    const nodeId = await makeNode(api.database.manager, tenancy, number);
    await changeNode(nodeId, { ...HAS, ...columns });
    return nodeId;
  };

  const at = (minutes: number) => setClock(api.database, new Date(START + minutes * MINUTE));

  const using = (millicores: number, more: Partial<NodeUtilization> = {}): NodeUtilization => ({
    millicores: { average: millicores, max: millicores + 100 },
    memory_mb: { average: 2_000, max: 3_000 },
    disk_mb: { average: 10_000, max: 10_000, total: 40_000 },
    ...more,
  });

  const record = (reports: [number, NodeUtilization][]) =>
    api.app.get(ClusterMetricsService, { strict: false }).record(new Map(reports));

  const ask = (query = '', caller = member): Promise<TestAnswer> =>
    caller.call('GET', `/cluster/${tenancy.clusterId}/metrics${query}`);

  const metrics = async (query = ''): Promise<TestAnswer['body']> => {
    const answer = await ask(query);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };

  const kept = async (nodeId: number): Promise<Record<number, number>> => {
    const found = await api.database.query<{ step_seconds: number; kept: number }[]>(
      'SELECT step_seconds, count(*)::int AS kept FROM node_utilization WHERE node_id = $1 GROUP BY 1',
      [nodeId],
    );
    return Object.fromEntries(found.map(({ step_seconds, kept: count }) => [step_seconds, count]));
  };

  it('combine the reports of its nodes with the slots that the platform knows', async () => {
    const agent = await TestAgent.ofNewNode(api, tenancy);
    await changeNode(agent.nodeId, HAS);
    // A report counts for the node of its token, whichever node it names.
    const utilization = { ...using(1_500), node_id: await node(1) };
    const body = { version: 0, wait_ms: 0, utilization };
    const polled = await agent.send('POST', '/poll', { body });
    expect(await polled.json()).toMatchObject({ takes_utilization: true });
    await soon(async () => {
      const { nodes, ...rest } = await metrics();
      expect(rest).toEqual({ cluster_id: tenancy.clusterId, period: 'hour', step_seconds: 60 });
      expect(nodes).toMatchObject([
        {
          ...{ node_number: 0, role: 'single', node_status: 'RUNNING', to_date: 'infinity' },
          points: [
            {
              cores: { used: 1.5, used_max: 1.6, free: 2.5 },
              memory_mb: { used: 2_000, used_max: 3_000, free: 6_000 },
              disk_mb: { used: 10_000, used_max: 10_000, free: 30_000 },
              slots: { used: 2, used_max: 2, free: 3 },
            },
          ],
        },
        { node_number: 1, points: [] },
      ]);
    });
  });

  it('are averages and maxima by minutes and by quarters of hours', async () => {
    const nodeId = await node(0);
    for (const [minutes, millicores] of [
      ...[[0, 100] as const, [0.5, 300] as const],
      ...[[14, 800] as const, [15, 2_000] as const],
    ]) {
      await at(minutes);
      await changeNode(nodeId, { busy_slots: minutes < 1 ? 1 : 3 });
      await record([[nodeId, using(millicores)]]);
    }
    const pointsOf = async (query: string) => {
      const { nodes } = await metrics(query);
      return nodes[0].points.map(({ time, cores, slots }: TestAnswer['body']) => [
        (Date.parse(time) - START) / MINUTE,
        ...Object.values(cores),
        ...Object.values(slots),
      ]);
    };
    expect(await pointsOf('?period=HOUR')).toEqual([
      [0, 0.2, 0.4, 3.8, 1, 1, 4],
      [14, 0.8, 0.9, 3.2, 3, 3, 2],
      [15, 2, 2.1, 2, 3, 3, 2],
    ]);
    expect(await pointsOf('?period=day')).toEqual([
      [0, 0.4, 0.9, 3.6, 1.667, 3, 3.333],
      [15, 2, 2.1, 2, 3, 3, 2],
    ]);
    await at(61);
    expect((await pointsOf('')).map(([minute]: number[]) => minute)).toEqual([14, 15]);
    await at(24 * 60 + 1);
    expect(await pointsOf('')).toEqual([]);
    expect((await pointsOf('?period=day')).map(([minute]: number[]) => minute)).toEqual([15]);
  });

  it('need the same space however long a node runs', async () => {
    const nodeId = await node(0);
    for (let minutes = 0; minutes < 150; minutes += 1) {
      await at(minutes);
      await record([[nodeId, using(minutes)]]);
    }
    expect(await kept(nodeId)).toEqual({ 60: 60, 900: 10 });
    const { nodes } = await metrics();
    expect(nodes[0].points).toHaveLength(60);
    expect(nodes[0].points[0]).toMatchObject({ cores: { used: 0.09, used_max: 0.19 } });
    for (let quarters = 10; quarters < 110; quarters += 1) {
      await at(quarters * 15);
      await record([[nodeId, using(1)]]);
    }
    expect(await kept(nodeId)).toEqual({ 60: 60, 900: 96 });
    expect((await metrics('?period=day')).nodes[0].points).toHaveLength(96);
  });

  it('limit the usage of a node to its size, whatever it reports', async () => {
    const [liar, worker] = [await node(0, { busy_slots: 9 }), await node(1, { role: 'worker' })];
    const all = { average: LARGEST, max: LARGEST };
    const lies = { millicores: all, memory_mb: all, disk_mb: { average: LARGEST, max: 0, total: 7 } };
    await record([
      [liar, lies],
      [worker, { ...lies, millicores: { average: 3_000, max: 0 } }],
    ]);
    await record([[liar, lies]]);
    const full = (has: number) => ({ used: has, used_max: has, free: 0 });
    const { nodes } = await metrics();
    expect(nodes).toMatchObject([
      { points: [{ cores: full(4), memory_mb: full(8_000), disk_mb: full(7), slots: full(5) }] },
      { points: [{ cores: { used: 3, used_max: 3, free: 1 }, slots: full(0) }] },
    ]);
  });

  it('count no free slots of a node that is draining', async () => {
    const nodeId = await node(0, { draining: true });
    await record([[nodeId, using(1)]]);
    expect((await metrics()).nodes[0].points[0].slots).toEqual({ used: 2, used_max: 2, free: 0 });
  });

  it.each<[string, object]>([
    ['less than nothing', { millicores: { average: -1, max: 0 } }],
    ['no number', { millicores: { average: null, max: 0 } }],
    ['a part of one', { memory_mb: { average: 0.5, max: 1 } }],
    ['too large a number', { disk_mb: { average: 1, max: 1, total: 2 ** 31 } }],
  ])('ignore a poll with %s', async (_what, lie) => {
    const agent = await TestAgent.ofNewNode(api, tenancy);
    const body = { version: 0, wait_ms: 0, utilization: { ...using(1), ...lie } };
    expect((await agent.send('POST', '/poll', { body })).status).toBe(400);
  });

  it('are not shown to another tenant', async () => {
    await node(0);
    const foreign = await people.tenant();
    const platformAdmin = await people.as(await people.user([['PLATFORM ADMIN', null]]), foreign);
    for (const stranger of [await people.admin(foreign), platformAdmin])
      expect(await ask('', stranger)).toMatchObject({ status: 404, body: { error_code: 'CLUSTER.NOT_FOUND' } });
  });

  it('refuse another period', async () => {
    for (const query of ['?period=week', '?node_number=-1', '?node=1']) expect((await ask(query)).status).toBe(400);
  });

  it('list removed nodes within the period, after the current ones', async () => {
    const [old, replaced] = [await node(0), await node(1)];
    await at(0);
    for (const nodeId of [old, replaced]) await record([[nodeId, using(1)]]);
    for (const [nodeId, minutes] of [[old, -30] as const, [replaced, 10] as const]) {
      await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
      await changeNode(nodeId, { to_date: new Date(START + minutes * MINUTE) });
    }
    await node(1);
    await at(20);
    await record([[old, using(1)]]);
    const shown = async (query: string) =>
      (await metrics(query)).nodes.map(({ node_number, node_status, points }: TestAnswer['body']) => [
        ...[node_number, node_status, points.length],
      ]);
    const now = [1, 'RUNNING', 0];
    expect(await shown('')).toEqual([now, [1, 'DESTROYED', 1], [0, 'DESTROYED', 1]]);
    await at(45);
    expect(await shown('')).toEqual([now, [1, 'DESTROYED', 1]]);
    expect(await shown('?period=day&node_number=0')).toEqual([[0, 'DESTROYED', 1]]);
  });

  it('are deleted after a day', async () => {
    const [gone, there] = [await node(0), await node(1)];
    await at(0);
    await record([[gone, using(1)]]);
    await at(24 * 60 + 1);
    await record([[there, using(1)]]);
    const sweeper = new RetentionSweeper(
      AGED_UTILIZATION,
      api.database,
      api.app.get(Config),
      api.app.get<Logger>(LOGGER),
    );
    await sweeper.reconcile(new AbortController().signal);
    expect([await kept(gone), await kept(there)]).toEqual([{}, { 60: 1, 900: 1 }]);
  });

  it('of a thousand nodes are recorded by one statement, and a response is limited', async () => {
    const { manager } = api.database;
    const { node_id: _id, ...row } = await insertPlain(manager, 'cluster_nodes', {
      ...{ ...HAS, tenant_id: tenancy.tenantId, cluster_id: tenancy.clusterId, node_number: 0, role: 'single' },
      ...{ status: 'RUNNING', bootstrap_token_hash: null, machine_type_id: 1 },
    });
    const columns = Object.keys(row).filter((column) => !['node_number', 'token'].includes(column));
    const made = await manager.query<{ node_id: number }[]>(
      `WITH made AS (
         INSERT INTO cluster_nodes (node_number, token, ${columns.join(', ')})
         SELECT n, gen_random_uuid(), ${columns.join(', ')} FROM cluster_nodes, generate_series(1, 999) n
         WHERE cluster_id = $1 RETURNING *),
       entry AS (INSERT INTO node_states (node_id, cluster_id, sequence, status, reason, start_time)
         SELECT node_id, cluster_id, 1, status, 'As a test has it', platform_clock() FROM made)
       SELECT node_id FROM made`,
      [tenancy.clusterId],
    );
    const sent = jest.spyOn(api.database, 'query');
    await record(made.map(({ node_id }) => [node_id, using(1)]));
    // Statements of the API's background work may come in between.
    const recorded = sent.mock.calls.filter(([statement]) => statement.includes('INSERT INTO node_utilization'));
    expect(recorded).toHaveLength(1);
    const { nodes } = await metrics();
    expect(nodes).toHaveLength(128);
    expect(nodes[127]).toMatchObject({ node_number: 127, points: [{ cores: { used: 0.001 } }] });
    expect((await metrics('?node_number=900')).nodes).toMatchObject([{ node_number: 900, points: [{}] }]);
  });
});
