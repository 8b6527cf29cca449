import { setTimeout as delay } from 'node:timers/promises';
import type { BilledInvoiceRead } from '../../src/modules/execution/billing/dto/billing.dto';
import { correctLedger, rebuildUsage, verifyBilling } from '../../src/modules/execution/billing/billing-checks';
import { ClusterSubscriber } from '../../src/modules/execution/clusters';
import { makeBilling } from './harness/billed';
import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { type Caller, People } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { wholeApi } from './harness/test-api';

const BASE = '/platform/billing';
const PRICES = '2026-01-01:0.05:USD,2026-02-15:0.10:USD,2026-03-01:7:JPY';
const MACHINE_TYPE = { machine_type_id: 1486 };

// Real: the whole API, PostgreSQL, transitions. Left out: machines, and the worker's loop: passes are run by hand.
describe('billing', () => {
  const api = wholeApi({ BILLING_UNIT_PRICES: PRICES });
  const people = new People(api);
  let caller: Caller;
  let billing: ReturnType<typeof makeBilling>;
  let lives: NodeLives;
  let made = 0;
  let tenancy: Tenancy;

  beforeAll(async () => {
    caller = await people.as(await people.user([['PLATFORM BILLING', null]]));
    await holdClock(api.database);
    billing = makeBilling(api.database);
    lives = new NodeLives(api.database, makeLifecycle(api.database));
  });

  beforeEach(async () => {
    made += 1;
    tenancy = await makeTenancy(api.database.manager, `billed-${made}`);
  });

  /** Sets the clock to a moment of 2026, such as `02-28 23:00`. */
  const at = (moment: string) => setClock(api.database, new Date(`2026-${moment.replace(' ', 'T')}:00Z`));

  const plan = (billed: Parameters<NodeLives['plan']>[1] = {}) => lives.plan(tenancy, { ...MACHINE_TYPE, ...billed });

  /** Adds a node that was RUNNING from one moment to another, or until now. */
  async function ran(
    from: string,
    until: string | null,
    billed: Parameters<NodeLives['plan']>[1] = {},
  ): Promise<number> {
    await at(from);
    const nodeId = await plan(billed);
    await lives.move(nodeId, 'RUNNING');
    if (until === null) return nodeId;
    await at(until);
    await lives.move(nodeId, 'DESTROYED');
    return nodeId;
  }

  async function usage(from: string, until: string, more: Record<string, string> = {}) {
    const query = new URLSearchParams({
      tenant_ids: tenancy.tenantId,
      start_date: `2026-${from}`,
      end_date: `2026-${until}`,
      ...more,
    });
    const { status, body } = await caller.call('GET', `${BASE}/usage?${String(query)}`);
    expect(status).toBe(200);
    return body;
  }

  async function invoice(from: string, until: string, more: Record<string, string> = {}) {
    const query = new URLSearchParams({
      tenant_ids: tenancy.tenantId,
      start_month_year: `2026-${from}`,
      end_month_year: `2026-${until}`,
      ...more,
    });
    return caller.call('GET', `${BASE}/invoice?${String(query)}`);
  }

  /** Checks the same before and after the sums are stored, and after they are rebuilt. */
  async function inEveryState(check: () => Promise<void>): Promise<void> {
    await check();
    await billing.reconcile();
    expect(await staleMarks()).toBe(0);
    await check();
    await rebuildUsage(api.database, billing.ledger, billing.usage);
    await check();
  }

  async function staleMarks(): Promise<number> {
    const [row] = await api.database.query<{ count: number }[]>(
      'SELECT count(*) FROM stale_usage WHERE cluster_id = $1',
      [tenancy.clusterId],
    );
    return row!.count;
  }

  const brief = (lines: Record<string, unknown>[]) =>
    lines.map(({ usage_date, node_count, running_seconds, ycu }) => [usage_date, node_count, running_seconds, ycu]);

  it('has a line for each day, with all billed properties', async () => {
    await ran('01-10 22:30', '01-12 01:00', { machine_price_ycu: 5.44, labels: { team: 'a' } });
    await inEveryState(async () => {
      const lines = await usage('01-01', '01-31');
      expect(lines[0]).toEqual({
        usage_date: '2026-01-10',
        tenant_id: tenancy.tenantId,
        tenant_name: `billed-${made}`,
        cluster_id: tenancy.clusterId,
        cluster_name: `billed-${made}`,
        cloud_provider: 'OnPrem',
        machine_type_id: 1486,
        machine_type: expect.any(String),
        labels: { team: 'a' },
        node_count: 1,
        running_seconds: 5_400,
        ycu: 8.16,
      });
      expect(brief(lines)).toEqual([
        ['2026-01-10', 1, 5_400, 8.16],
        ['2026-01-11', 1, 86_400, 130.56],
        ['2026-01-12', 1, 3_600, 5.44],
      ]);
      expect(brief(await usage('01-11', '01-11'))).toEqual([['2026-01-11', 1, 86_400, 130.56]]);
    });
  });

  it('counts the maximum of concurrent nodes, not consecutive ones', async () => {
    await ran('01-10 08:00', '01-10 09:00');
    await ran('01-10 10:00', null);
    await at('01-10 10:30');
    const overlapping = await plan();
    await lives.move(overlapping, 'RUNNING');
    await at('01-10 10:45');
    await lives.move(overlapping, 'DESTROYED');
    await at('01-11 12:00');
    await inEveryState(async () => {
      expect((await usage('01-10', '01-11')).map((line: { node_count: number }) => line.node_count)).toEqual([2, 1]);
    });
  });

  it('counts a node and its immediate successor as one', async () => {
    const first = await ran('01-10 08:00', null);
    await at('01-10 09:00');
    const second = await plan();
    await lives.move(second, 'RUNNING');
    await lives.move(first, 'DESTROYED');
    await at('01-10 10:00');
    await lives.move(second, 'DESTROYED');
    await inEveryState(async () => expect(brief(await usage('01-10', '01-10'))).toEqual([['2026-01-10', 1, 7_200, 2]]));
  });

  it('counts a node that still runs, past midnight too', async () => {
    const nodeId = await ran('01-30 23:00', null);
    await at('02-02 01:30');
    const expected = [
      ['2026-01-30', 1, 3_600, 1],
      ['2026-01-31', 1, 86_400, 24],
      ['2026-02-01', 1, 86_400, 24],
      ['2026-02-02', 1, 5_400, 1.5],
    ];
    await inEveryState(async () => expect(brief(await usage('01-01', '02-28'))).toEqual(expected));
    await lives.move(nodeId, 'ERROR');
    await at('02-03 00:00');
    await inEveryState(async () => expect(brief(await usage('01-01', '02-28'))).toEqual(expected));
  });

  it('keeps billed usage unchanged if everything is renamed', async () => {
    await ran('01-10 10:00', '01-10 11:00', { labels: { team: 'a' } });
    const before = await usage('01-01', '01-31');
    const { tenantId, clusterId } = tenancy;
    await api.database.query(`UPDATE tenants SET name = 'other-' || name, to_date = now() WHERE tenant_id = $1`, [
      tenantId,
    ]);
    await api.database.query(`UPDATE clusters SET name = 'other', labels = '{}' WHERE cluster_id = $1`, [clusterId]);
    await api.database.query(
      `UPDATE machine_types SET name = 'other', machine_price_ycu = 9 WHERE machine_type_id = 1486`,
    );
    await inEveryState(async () => {
      expect(await usage('01-01', '01-31')).toEqual(before);
      const tenants = (await caller.call('GET', `${BASE}/tenants`)).body;
      expect(tenants).toContainEqual({ tenant_id: tenantId, name: `billed-${made}`, description: null });
    });
  });

  it('misses nothing that is written while sums are stored', async () => {
    await ran('01-10 08:00', '01-10 09:00');
    await at('01-10 10:00');
    const nodeId = await plan();
    await lives.move(nodeId, 'RUNNING');
    await at('01-10 11:00');
    // The sum is calculated after the entry is written, but before it is visible to others.
    await lives.move(nodeId, 'DESTROYED', async () => {
      await rebuildUsage(api.database, billing.ledger, billing.usage);
      expect(await staleMarks()).toBe(0);
    });
    expect(await staleMarks()).toBe(1);
    await at('01-12 00:00');
    await inEveryState(async () => expect(brief(await usage('01-10', '01-12'))).toEqual([['2026-01-10', 1, 7_200, 2]]));
  });

  it('stores sums for several clusters in concurrent passes', async () => {
    await ran('01-10 08:00', '01-10 09:00');
    await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        await delay(index);
        await rebuildUsage(api.database, billing.ledger, billing.usage);
      }),
    );
    expect(brief(await usage('01-10', '01-10'))).toEqual([['2026-01-10', 1, 3_600, 1]]);
  });

  it('filters by provider, cluster, machine type and labels', async () => {
    await ran('01-10 08:00', '01-10 09:00', { labels: { team: 'a', stage: 'prod' } });
    await ran('01-10 08:00', null, { labels: { team: 'b' } });
    await at('01-10 10:00');
    const count = async (more: Record<string, string>) => (await usage('01-10', '01-10', more)).length;
    await inEveryState(async () => {
      expect(await count({})).toBe(2);
      expect(await count({ labels: '{"team":"a"}' })).toBe(1);
      expect(await count({ labels: '{"team":"b"}' })).toBe(1);
      expect(await count({ labels: '{"team":"a","stage":"test"}' })).toBe(0);
      expect(await count({ labels: '{}' })).toBe(2);
      expect(await count({ cloud_providers: 'proxmox' })).toBe(2);
      expect(await count({ cloud_providers: 'GCP,AWS' })).toBe(0);
      expect(await count({ cluster_ids: String(tenancy.clusterId) })).toBe(2);
      expect(await count({ cluster_ids: '999999' })).toBe(0);
      expect(await count({ machine_type_ids: '1486,1487' })).toBe(2);
      expect(await count({ machine_type_ids: '1487' })).toBe(0);
    });
  });

  it('lists the billed clusters and machine types', async () => {
    await ran('01-10 08:00', '01-11 09:00', { labels: { team: 'a', stage: 'prod' } });
    await ran('01-12 08:00', null, { labels: { team: 'b' } });
    await at('01-14 10:00');
    const get = async (path: string) => (await caller.call('GET', `${BASE}${path}tenant_ids=${tenancy.tenantId}`)).body;
    const cluster = { cluster_id: tenancy.clusterId, tenant_id: tenancy.tenantId, cloud_provider: 'OnPrem' };
    await inEveryState(async () => {
      expect(await get('/date/range?')).toEqual({ start_date: '2026-01-10', end_date: '2026-01-14' });
      expect(await get('/clusters?')).toEqual([{ ...cluster, name: `billed-${made}` }]);
      expect(await get('/clusters?cloud_providers=AWS&')).toEqual([]);
      expect(await get('/machine_types?')).toEqual([
        { machine_type_id: 1486, name: expect.any(String), cloud_provider: 'OnPrem' },
      ]);
      expect(await get('/labels?')).toEqual({ stage: ['prod'], team: ['a', 'b'] });
      expect(await get('/labels?cluster_ids=999999&')).toEqual({});
    });
  });

  it('lists the billed values that have a price', async () => {
    const early = { date: '2025-12-31', ids: `tenant_ids=${tenancy.tenantId}` };
    await setClock(api.database, new Date(`${early.date}T10:00:00Z`));
    const nodeId = await plan();
    await lives.move(nodeId, 'RUNNING');
    await setClock(api.database, new Date(`${early.date}T11:00:00Z`));
    await lives.move(nodeId, 'DESTROYED');
    const range = (billed: string) => caller.call('GET', `${BASE}/date/range?billing=${billed}&${early.ids}`);
    await inEveryState(async () => {
      expect((await range('usage')).body).toEqual({ start_date: early.date, end_date: early.date });
      expect((await range('invoice')).status).toBe(404);
      expect((await caller.call('GET', `${BASE}/clusters?billing=invoice&${early.ids}`)).body).toEqual([]);
    });
    await ran('03-05 10:00', '03-05 11:00');
    await inEveryState(async () => {
      expect((await range('usage')).body).toEqual({ start_date: early.date, end_date: '2026-03-05' });
      expect((await range('invoice')).body).toEqual({ start_date: '2026-03-05', end_date: '2026-03-05' });
    });
  });

  describe('an invoice', () => {
    it('has a line for each price, exact to the smallest unit of its currency', async () => {
      await ran('02-14 22:00', '02-15 01:20', { machine_price_ycu: 5.44 });
      await ran('03-10 00:00', '03-10 00:30', { machine_price_ycu: 5.44 });
      await inEveryState(async () => {
        const { status, body } = await invoice('02-20', '03-01');
        expect(status).toBe(200);
        const line = ({
          month_year,
          running_seconds,
          ycu,
          unit_price,
          amount,
          currency,
          node_count,
        }: BilledInvoiceRead) => [month_year, node_count, running_seconds, ycu, unit_price, amount, currency].join(' ');
        expect(body.map(line)).toEqual([
          // 2 h x 5.44 = 10.88 units: 0.544 USD
          '2026-02-01 1 7200 10.88 0.05 0.54 USD',
          // 1 h 20 min x 5.44 = 7.2533… units: 0.72533… USD
          '2026-02-01 1 4800 7.253333 0.1 0.73 USD',
          // 30 min x 5.44 = 2.72 units: 19.04 JPY
          '2026-03-01 1 1800 2.72 7 19 JPY',
        ]);
      });
    });

    it('equals the example in docs/billing.md', async () => {
      const billed = { machine_price_ycu: 5.44, labels: { team: 'a' } };
      await at('06-10 22:30');
      const [first, second] = [await plan(billed), await plan(billed)];
      await lives.move(first, 'RUNNING');
      await at('06-10 23:00');
      await lives.move(second, 'RUNNING');
      await setClock(api.database, new Date('2026-06-10T23:10:00.500Z'));
      await lives.move(second, 'DESTROYED');
      await at('06-11 01:00');
      await lives.move(first, 'DESTROYED');
      await inEveryState(async () => {
        expect(brief(await usage('06-01', '06-30'))).toEqual([
          ['2026-06-10', 2, 6_001, 9.067422],
          ['2026-06-11', 1, 3_600, 5.44],
        ]);
        const [line] = (await invoice('06-01', '06-01')).body;
        expect([line.node_count, line.running_seconds, line.ycu]).toEqual([2, 9_601, 14.507422]);
        // At 7 JPY, the current price in this test: 101.55…
        expect(line.amount).toBe(102);
      });
    });

    it('rounds halves up, and smaller fractions down', async () => {
      // 0.1 units: 0.005 USD; and a millisecond less.
      await ran('01-10 00:00', '01-10 00:06', { labels: { half: 'yes' } });
      await at('01-11 00:00');
      const nodeId = await plan({ labels: { half: 'no' } });
      await lives.move(nodeId, 'RUNNING');
      await setClock(api.database, new Date('2026-01-11T00:05:59.999Z'));
      await lives.move(nodeId, 'DESTROYED');
      const { body } = await invoice('01-01', '01-01');
      const amounts = Object.fromEntries(body.map((line: BilledInvoiceRead) => [line.labels['half'], line.amount]));
      expect(amounts).toEqual({ yes: 0.01, no: 0 });
    });

    it('counts the maximum of nodes over all days, and includes the current month until now', async () => {
      await ran('01-10 08:00', null);
      await ran('01-12 08:00', '01-12 09:00');
      await at('01-13 08:00');
      await inEveryState(async () => {
        const [line] = (await invoice('01-31', '01-01')).body;
        expect([line.node_count, line.running_seconds, line.amount]).toEqual([2, 73 * 3_600, 3.65]);
      });
    });

    it('is refused if there is usage before the first price', async () => {
      await setClock(api.database, new Date('2025-12-31T10:00:00Z'));
      const nodeId = await plan();
      await lives.move(nodeId, 'RUNNING');
      await at('01-01 10:00');
      await lives.move(nodeId, 'DESTROYED');
      const query = `tenant_ids=${tenancy.tenantId}&start_month_year=2025-12-01&end_month_year=2026-01-31`;
      await inEveryState(async () => {
        const { status, body } = await caller.call('GET', `${BASE}/invoice?${query}`);
        expect([status, body.error_code]).toEqual([400, 'BILLING.NO_UNIT_PRICE']);
        expect(body.details).toEqual({ priced_from: '2026-01-01', used_on: '2025-12-31' });
        expect((await invoice('01-01', '01-01')).body).toHaveLength(1);
      });
    });
  });

  describe('as CSV', () => {
    const csv = async (path: string) => {
      const response = await fetch(api.urlOf(path), {
        headers: { authorization: `Bearer ${caller.token}`, accept: 'text/csv' },
      });
      return { response, text: await response.text() };
    };

    it('has a header and a line for each line of usage', async () => {
      await ran('01-10 08:00', '01-10 09:00', { labels: { team: 'a "b", c' } });
      const query = `tenant_ids=${tenancy.tenantId}&start_date=2026-01-01&end_date=2026-01-31`;
      const { response, text } = await csv(`${BASE}/usage?${query}`);
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
      expect(response.headers.get('vary')).toContain('Accept');
      const [head, line, rest] = text.split('\r\n');
      expect(rest).toBe('');
      expect(head!.split(',')).toEqual(Object.keys((await usage('01-01', '01-31'))[0]));
      expect(line).toContain(`"{""team"":""a \\""b\\"", c""}",1,3600,1`);
    });

    it('has only the header if there is no usage', async () => {
      const { text } = await csv(
        `${BASE}/invoice?tenant_ids=${tenancy.tenantId}&start_month_year=2026-01-01&end_month_year=2026-01-01`,
      );
      expect(text).toMatch(/^month_year,[a-z_,]+\r\n$/);
    });
  });

  describe('the ledger', () => {
    it('refuses changes', async () => {
      await ran('01-10 08:00', '01-10 09:00');
      for (const sql of [
        `UPDATE ledger_entries SET machine_price_ycu = 0`,
        `DELETE FROM ledger_entries`,
        `TRUNCATE ledger_entries CASCADE`,
      ])
        await expect(api.database.query(sql)).rejects.toThrow('only appended to');
    });

    it('is corrected by further entries', async () => {
      class Nobody extends ClusterSubscriber {
        readonly domain = 'billing';
        readonly on = {};
      }
      const unbooked = new NodeLives(api.database, makeLifecycle(api.database, [new Nobody()]));
      await ran('01-10 08:00', '01-10 09:00');
      await at('01-10 10:00');
      const missed = await unbooked.plan(tenancy, { ...MACHINE_TYPE, machine_price_ycu: 2 });
      await unbooked.move(missed, 'RUNNING');
      await at('01-10 11:00');
      await unbooked.move(missed, 'DESTROYED');
      // This entry is not in the history.
      await api.database.query(
        `INSERT INTO ledger_entries (node_state_id, node_id, machine_price_ycu, is_spot, began_at, ended_at, kind, tenant_id,
           tenant_name, cluster_id, cluster_name, cloud_provider, machine_type_id, machine_type, labels, labels_key)
         SELECT 0, node_id, 100, is_spot, began_at, ended_at, 'correction', tenant_id, tenant_name, cluster_id, cluster_name,
           cloud_provider, machine_type_id, machine_type, labels, labels_key FROM ledger_entries WHERE cluster_id = $1`,
        [tenancy.clusterId],
      );
      const before = await verifyBilling(billing.ledger, billing.usage);
      expect(before.total).toBe(2);
      expect(await correctLedger(api.database, billing.ledger, 'Found at an audit')).toBe(2);
      expect((await verifyBilling(billing.ledger, billing.usage)).total).toBe(0);
      const entries = await api.database.query(
        'SELECT kind, reason FROM ledger_entries WHERE cluster_id = $1 ORDER BY ledger_entry_id',
        [tenancy.clusterId],
      );
      const reason = 'Found at an audit';
      expect(entries).toEqual([
        { kind: 'interval', reason: null },
        { kind: 'correction', reason: null },
        { kind: 'reversal', reason },
        { kind: 'correction', reason },
      ]);
      await at('01-12 00:00');
      await inEveryState(async () =>
        expect(brief(await usage('01-10', '01-10'))).toEqual([['2026-01-10', 1, 7_200, 3]]),
      );
    });

    it('reveals wrong sums', async () => {
      await ran('01-10 08:00', '01-10 09:00');
      await billing.reconcile();
      await api.database.query('UPDATE usage_days SET running_ms = 1 WHERE cluster_id = $1', [tenancy.clusterId]);
      expect((await verifyBilling(billing.ledger, billing.usage)).wrongSums).toBe(2);
      await rebuildUsage(api.database, billing.ledger, billing.usage);
      expect((await verifyBilling(billing.ledger, billing.usage)).wrongSums).toBe(0);
    });
  });

  it('is filled from the existing histories', async () => {
    await ran('01-10 08:00', '01-10 09:00', { machine_price_ycu: 2.5 });
    await ran('01-10 08:30', null);
    await at('01-12 00:00');
    const before = [await usage('01-01', '01-31'), (await caller.call('GET', `${BASE}/clusters`)).body];
    const { database } = api;
    // Later migrations are undone, too.
    for (;;) {
      const [last] = await database.query<{ name: string }[]>(
        'SELECT name FROM schema_migrations ORDER BY id DESC LIMIT 1',
      );
      await database.undoLastMigration({ transaction: 'each' });
      if (last!.name.startsWith('Billing')) break;
    }
    await database.runMigrations({ transaction: 'each' });
    await inEveryState(async () => {
      expect(await usage('01-01', '01-31')).toEqual(before[0]);
      expect((await verifyBilling(billing.ledger, billing.usage)).total).toBe(0);
    });
  });
});
