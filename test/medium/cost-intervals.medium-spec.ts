import { CostIntervalsRepository } from '../../src/modules/execution/costs/cost-intervals.repository';
import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { explainedDatabase, sumOf } from './harness/read-blocks';
import { wholeApi } from './harness/test-api';
import { vacuumWhole } from './harness/vacuum';

const PRICES = '2026-01-01:0.05:USD,2026-03-01:0.06:USD,2026-04-01:0.04:EUR';
const MAY = 'from=2026-05-10&until=2026-05-12';
const HOUR = 3_600_000;

interface Interval {
  ledger_entry_id: number | null;
  node_id: number;
  cluster_id: number;
  from_date: string;
  to_date: string;
  running_until: string | null;
  unit_price: number | null;
  cost: { node_ms: number; ycu: number; pricing: string; amount: number | null; currency: string | null };
}

// Real: the whole API and PostgreSQL. Nodes have histories but no machines.
describe('the intervals of the ledger', () => {
  const api = wholeApi({ BILLING_UNIT_PRICES: PRICES });
  const people = new People(api);
  let lives: NodeLives;
  let mine: Tenancy;
  let foreign: Tenancy;
  let admin: Caller;
  let stranger: Caller;
  let second: number;
  const nodes: Record<string, number> = {};

  const at = (time: string) => setClock(api.database, new Date(time));
  const start = async (name: string, of: Pick<Tenancy, 'tenantId' | 'clusterId'>, price = 2) => {
    nodes[name] = await lives.plan(of, { machine_price_ycu: price });
    await lives.move(nodes[name], 'RUNNING');
  };
  const stop = (name: string) => lives.move(nodes[name]!, 'DESTROYED');
  const read = async (query: string, who = admin) => (await who.call('GET', `/costs/intervals?${query}`)).body;
  const nameOf = ({ node_id: id }: Interval) => Object.keys(nodes).find((name) => nodes[name] === id);
  const shown = (intervals: Interval[]) =>
    intervals.map((one) => [nameOf(one), one.from_date.slice(5, 16), one.to_date.slice(5, 16)]);
  const sum = (intervals: Interval[]) => intervals.reduce((ms, { cost }) => ms + cost.node_ms, 0);

  beforeAll(async () => {
    await holdClock(api.database);
    lives = new NodeLives(api.database, makeLifecycle(api.database));
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    admin = await people.admin(mine.tenantId);
    stranger = await people.admin(foreign.tenantId);
    const [{ cluster_id: _, ...cluster }] = await api.database.query('SELECT * FROM clusters WHERE cluster_id = $1', [
      mine.clusterId,
    ]);
    const made = await insertPlain(api.database.manager, 'clusters', { ...cluster, name: 'second' });
    second = Number(made['cluster_id']);
    const other = { ...mine, clusterId: second };
    await at('2026-05-08T00:00:00Z');
    await start('long', mine);
    await start('before', other);
    await at('2026-05-09T00:00:00Z');
    await stop('before');
    await at('2026-05-10T06:00:00Z');
    await start('same', mine);
    await start('moment', other);
    await at('2026-05-10T09:00:00Z');
    for (const name of ['same', 'moment']) await stop(name);
    await start('hidden', foreign);
    await at('2026-05-12T22:00:00Z');
    await start('over', other, 5.44);
    await at('2026-05-13T00:00:00Z');
    await start('after', other);
    await at('2026-05-13T03:00:00Z');
    for (const name of ['over', 'after']) await stop(name);
    await start('still', mine);
    await at('2026-05-14T00:30:00Z');
  });

  it('are those of the period, cut at its borders, the newest first, and add up to the report', async () => {
    const list = await read(MAY);
    expect(shown(list.data)).toEqual([
      ['over', '05-12T22:00', '05-13T00:00'],
      ['moment', '05-10T06:00', '05-10T09:00'],
      ['same', '05-10T06:00', '05-10T09:00'],
      ['long', '05-10T00:00', '05-13T00:00'],
    ]);
    expect(list.data[0]).toEqual({
      ledger_entry_id: expect.any(Number),
      node_state_id: expect.any(Number),
      cluster_id: second,
      cluster_name: 'second',
      node_id: nodes['over'],
      machine_type: expect.any(String),
      machine_price_ycu: 5.44,
      is_spot: false,
      running_since: '2026-05-12T22:00:00.000Z',
      running_until: '2026-05-13T03:00:00.000Z',
      from_date: '2026-05-12T22:00:00.000Z',
      to_date: '2026-05-13T00:00:00.000Z',
      unit_price: 0.04,
      cost: { node_ms: 2 * HOUR, ycu: 10.88, pricing: 'PRICED', amount: 0.4352, currency: 'EUR' },
    });
    const report = (await admin.call('GET', `/costs?${MAY}&by=day`)).body;
    expect(list.total).toEqual(report.total.nodes);
    expect(sum(list.data)).toBe(list.total.node_ms);
    for (const { day, nodes: cost } of report.data) {
      const ofDay = await read(`from=${day}&until=${day}`);
      expect([sum(ofDay.data), ofDay.total]).toEqual([cost.node_ms, cost]);
    }
    for (const { cluster, nodes: cost } of (await admin.call('GET', `/costs?${MAY}&by=cluster`)).body.data) {
      const ofCluster = await read(`${MAY}&cluster_ids=${cluster.id}`);
      expect([sum(ofCluster.data), ofCluster.total]).toEqual([cost.node_ms, cost]);
      expect(new Set(ofCluster.data.map((one: Interval) => one.cluster_id))).toEqual(new Set([cluster.id]));
    }
  });

  it('have those of nodes that are running, until now', async () => {
    const list = await read('from=2026-05-13&until=2026-05-31');
    expect(shown(list.data)).toEqual([
      ['still', '05-13T03:00', '05-14T00:30'],
      ['after', '05-13T00:00', '05-13T03:00'],
      ['over', '05-13T00:00', '05-13T03:00'],
      ['long', '05-13T00:00', '05-14T00:30'],
    ]);
    expect(list.data.map((one: Interval) => [one.ledger_entry_id === null, one.running_until])).toEqual([
      [true, null],
      [false, '2026-05-13T03:00:00.000Z'],
      [false, '2026-05-13T03:00:00.000Z'],
      [true, null],
    ]);
    expect([list.as_of, sum(list.data)]).toEqual(['2026-05-14T00:30:00.000Z', list.total.node_ms]);
    expect((await read('from=2026-06-01&until=2026-06-30')).data).toEqual([]);
  });

  it.each(['all', 'chosen'])('are read on page by page, each once, of %s clusters', async (which) => {
    const filter = which === 'all' ? '' : `&cluster_ids=${mine.clusterId},${second}`;
    const query = `from=2026-05-08&until=2026-05-31${filter}`;
    const whole = await read(query);
    expect([whole.data.length, whole.result_set]).toEqual([
      7,
      { limit: 100, total_objects: 7, total_is_lower_bound: false, next: null },
    ]);
    const seen: Interval[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = await read(`${query}&limit=1${after && `&after=${after}`}`);
      expect([page.data.length, page.total]).toEqual([1, whole.total]);
      seen.push(...page.data);
      after = page.result_set.next;
      // Running nodes go on while somebody reads.
      await at(`2026-05-14T00:3${seen.length}:00Z`);
    }
    await at('2026-05-14T00:30:00Z');
    expect(seen).toEqual(whole.data);
  });

  it.each([
    ['2025-12-31', '2025-12-31', { pricing: 'NO_PRICE', amount: null }, null],
    ['2025-12-31', '2026-01-01', { pricing: 'PARTLY_PRICED', amount: null }, null],
    ['2026-02-28', '2026-02-28', { pricing: 'PRICED', amount: 1.2, currency: 'USD' }, 0.05],
    ['2026-02-28', '2026-03-01', { pricing: 'PRICED', amount: 2.64, currency: 'USD' }, null],
    ['2026-03-31', '2026-04-01', { pricing: 'SEVERAL_CURRENCIES', amount: null }, null],
  ])('have the prices of their time (%s to %s)', async (from, until, cost, price) => {
    if (nodes['priced'] === undefined) {
      await at('2025-12-01T00:00:00Z');
      await start('priced', mine, 1);
      await at('2026-05-01T00:00:00Z');
      await stop('priced');
      await at('2026-05-14T00:30:00Z');
    }
    const { data, total } = await read(`from=${from}&until=${until}`);
    expect([data.length, data[0].unit_price, data[0].cost]).toEqual([1, price, expect.objectContaining(cost)]);
    expect(data[0].cost).toEqual(total);
  });

  it('count a corrected stay once', async () => {
    const before = await read(MAY);
    const [entry] = await api.database.query('SELECT * FROM ledger_entries WHERE node_id = $1', [nodes['same']]);
    await api.database.query(
      `INSERT INTO ledger_entries SELECT r.* FROM jsonb_populate_record(NULL::ledger_entries, (
         SELECT to_jsonb(l) || jsonb_build_object('ledger_entry_id', 900001, 'kind', 'reversal', 'reverses_id', l.ledger_entry_id)
         FROM ledger_entries l WHERE l.ledger_entry_id = $1)) r`,
      [entry.ledger_entry_id],
    );
    await api.database.query('INSERT INTO stale_usage (cluster_id, from_date) VALUES ($1, $2)', [
      mine.clusterId,
      '2026-05-10',
    ]);
    const after = await read(MAY);
    expect(shown(after.data)).toEqual(shown(before.data).filter(([name]) => name !== 'same'));
    expect(sum(after.data)).toBe(after.total.node_ms);
  });

  it('of another tenant are not there, whatever the filter', async () => {
    for (const query of [MAY, `${MAY}&cluster_ids=${mine.clusterId},${second}`, 'from=2026-05-13&until=2026-05-31']) {
      const { data, total } = await read(query, stranger);
      const own = query.includes('cluster_ids') ? [] : ['hidden'];
      expect([data.map(nameOf), sum(data)]).toEqual([own, total.node_ms]);
    }
    const { data } = await read(`${MAY}&cluster_ids=${foreign.clusterId}`);
    expect(data).toEqual([]);
  });

  it('are for administrators', async () => {
    const member = await people.member(mine.tenantId);
    expect((await member.call('GET', `/costs/intervals?${MAY}`)).status).toBe(403);
  });

  it.each([
    ['ends before it begins', 'from=2026-05-02&until=2026-05-01', 'COST.INVALID_PERIOD'],
    ['is longer than a year', 'from=2024-05-02&until=2026-05-01', 'COST.PERIOD_TOO_LONG'],
    ...['day 1 1', '-running_since 1 1', '-running_since@1 x 1'].map((position) => [
      `is read on from ${position}`,
      `${MAY}&after=${Buffer.from(position).toString('base64url')}`,
      'REQUEST.INVALID',
    ]),
  ])('are refused if a period %s', async (_what, query, code) => {
    const { status, body } = await admin.call('GET', `/costs/intervals?${query}`);
    expect([status, body.error_code]).toEqual([400, code]);
  });

  it('are read from as few blocks whatever ran before and after the period', async () => {
    const fill = (first: string, count: number) =>
      api.database.query(
        `INSERT INTO ledger_entries SELECT r.* FROM generate_series(1, $2::int) n CROSS JOIN LATERAL jsonb_populate_record(
             NULL::ledger_entries, (
               SELECT to_jsonb(l) || jsonb_build_object('ledger_entry_id', 1000000 + nextval('test_stays'),
                 'node_state_id', 1000000 + currval('test_stays'), 'cluster_id', CASE WHEN n % 2 = 0 THEN $3::bigint ELSE $4 END,
                 'began_at', $1::timestamptz + n * interval '1 minute',
                 'ended_at', $1::timestamptz + (n + 5) * interval '1 minute')
               FROM ledger_entries l WHERE l.node_id = $5 AND l.ledger_entry_id < 900000)) r`,
        [first, count, mine.clusterId, second, nodes['over']],
      );
    const blocksOf = async (clusterIds: number[] | null) => {
      const { dataSource, blocks } = explainedDatabase(api.database);
      const intervals = new CostIntervalsRepository(dataSource);
      const scope = { tenantId: mine.tenantId, userId: mine.userId, username: 'mine', clusterIds };
      const period = { from: '2026-05-10', until: '2026-05-12', at: new Date('2027-06-01T00:00:00Z') };
      const first = await intervals.page(scope, period, [], { limit: 3, after: null });
      const { began_at: beganAt, node_state_id: nodeStateId } = first.at(-1)!;
      await intervals.page(scope, period, [], { limit: 3, after: { beganAt, nodeStateId } });
      return sumOf(blocks);
    };
    await api.database.query('CREATE SEQUENCE test_stays');
    await fill('2024-01-01T00:00:00Z', 1_000);
    await vacuumWhole(api.database, 'ledger_entries');
    const [few, fewOfCluster] = [await blocksOf(null), await blocksOf([second])];
    await fill('2024-02-01T00:00:00Z', 50_000);
    await fill('2026-07-01T00:00:00Z', 50_000);
    await fill('2026-05-11T00:00:00Z', 1_000);
    await vacuumWhole(api.database, 'ledger_entries');
    expect(await blocksOf(null)).toBeLessThan(few + 150);
    expect(await blocksOf([second])).toBeLessThan(fewOfCluster + 150);
  });
});
