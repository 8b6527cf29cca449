import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { errorsOf, launchChromium } from '../harness/chromium';
import { expectAccessible } from './harness/accessibility';
import { logIn } from './harness/console';
import { createCluster, describeEstate } from './harness/estate';
import { createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const MARKUP = '<img src=x onerror="window.hacked=true">';
const PERIOD = 'from=2025-05-01&to=2025-05-31';

let platform: SharedPlatform;
let browser: Browser;
let page: Page;
let errors: string[];
let finance: number;
let growth: number;

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console-costs'), launchChromium()]);
  const admin = await platform.admin();
  ({ workspace_id: finance } = await admin.post('/workspace', { name: 'finance' }));
  ({ workspace_id: growth } = await admin.post('/workspace', { name: 'growth' }));
  const ana = await createUser(platform, 'costs-ana', 'USER', [platform.tenantId]);
  await platform.sql(
    'INSERT INTO workspace_users (tenant_id, workspace_id, user_id, permission_id) VALUES ($1, $2, $3, 0)',
    [platform.tenantId, growth, ana],
  );
  const cluster = await createCluster(admin, await describeEstate(admin, platform.runtime.sparkVersion), 'etl');
  // Two slots for eight hours over midnight, at 2 compute units per hour, each for 0.05 USD.
  const node = await bookNode(cluster, '2025-05-10T20:00:00Z', '2025-05-11T04:00:00Z');
  // It used a half of the half of its slot's 8 GiB that it requested.
  const memory = { requestedMb: 4096, peakMb: 2048 };
  await bookRun(node, cluster, finance, ana, 'sum', '2025-05-10T22:00:00Z', '2025-05-11T02:00:00Z', memory);
  await bookRun(node, cluster, growth, ana, MARKUP, '2025-05-10T21:00:00Z', '2025-05-10T22:00:00Z');
  page = await pageOf(platform.username);
  errors = errorsOf(page);
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

/** Books a stay of a node in RUNNING, as if there had been the node; returns its id. */
async function bookNode(clusterId: number, from: string, until: string): Promise<number> {
  await platform.sql('BEGIN');
  const [node] = await platform.sql<{ id: number }>(
    `INSERT INTO cluster_nodes (tenant_id, cluster_id, node_number, role, status, token, cores, memory_mb, machine_type_id,
       machine_price_ycu, is_spot, labels, from_date, to_date)
     SELECT $1, $2, 1, 'single', 'RUNNING', gen_random_uuid(), 4, 16384, machine_type_id, 2, false, '{}', $3, $4
     FROM machine_types ORDER BY machine_type_id LIMIT 1 RETURNING node_id::int AS id`,
    [platform.tenantId, clusterId, from, until],
  );
  const values = [node?.id, from, until];
  await platform.sql(`UPDATE cluster_nodes SET status = 'DESTROYED' WHERE node_id = $1`, [node?.id]);
  await platform.sql(
    `INSERT INTO node_states (node_id, cluster_id, sequence, from_status, status, reason, start_time, end_time)
     SELECT node_id, cluster_id, s.* FROM cluster_nodes CROSS JOIN (VALUES
       (1, NULL, 'RUNNING', 'As a test has it', $2::timestamptz, $3::timestamptz),
       (2, 'RUNNING', 'DESTROYED', 'As a test has it', $3::timestamptz, 'infinity'::timestamptz)) s WHERE node_id = $1`,
    values,
  );
  await platform.sql(
    `INSERT INTO ledger_entries (kind, tenant_id, tenant_name, cluster_id, cluster_name, cloud_provider, machine_type,
       machine_type_id, machine_price_ycu, labels, labels_key, node_id, is_spot, slots, node_state_id, began_at, ended_at)
     SELECT 'interval', n.tenant_id, 'console-costs', n.cluster_id, 'etl', 'OnPrem', m.name, m.machine_type_id, 2, '{}',
       md5('{}')::uuid, n.node_id, false, 2, s.node_state_id, s.start_time, s.end_time
     FROM cluster_nodes n JOIN machine_types m USING (machine_type_id) JOIN node_states s USING (node_id)
     WHERE n.node_id = $1 AND s.status = 'RUNNING'`,
    [node?.id],
  );
  await platform.sql('INSERT INTO stale_usage (cluster_id, from_date) VALUES ($1, $2::timestamptz::date)', [
    clusterId,
    from,
  ]);
  await platform.sql('COMMIT');
  return node?.id ?? 0;
}

/** Books a run that held a slot of the node. */
async function bookRun(
  nodeId: number,
  clusterId: number,
  workspaceId: number,
  userId: number,
  name: string,
  from: string,
  until: string,
  memory: { requestedMb: number; peakMb: number } | null = null,
): Promise<void> {
  await platform.sql(
    `WITH conf AS (
       INSERT INTO job_confs (tenant_id, workspace_id, cluster_id, name, job_type, language, settings, max_concurrency,
         created_by_user_id)
       VALUES ($1, $2, $5, $3, 'SPARK_JOB', 'Python3', '{}', 0, $4) RETURNING job_conf_id)
     INSERT INTO runs (tenant_id, workspace_id, job_conf_id, cluster_id, node_id, created_by_user_id, status, job_conf_snapshot,
       from_date, to_date, assigned_at, ended_at, requested_memory_mb, peak_memory_mb, correlation_id, workflow_job_instance_id)
     SELECT $1, $2, job_conf_id, $5, $6, $4, 'DONE',
       json_build_object('name', $3::text, 'job_type', 'SPARK_JOB', 'language', 'Python3', 'job_conf_id', job_conf_id),
       $7, $8, $7, $8, $9, $10, 'As a test has it', nextval(pg_get_serial_sequence('workflow_job_instances', 'workflow_job_instance_id'))
     FROM conf`,
    [
      ...[platform.tenantId, workspaceId, name, userId, clusterId, nodeId, from, until],
      ...[memory?.requestedMb ?? null, memory?.peakMb ?? null],
    ],
  );
}

async function pageOf(username: string): Promise<Page> {
  const opened = await browser.newPage({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  opened.setDefaultTimeout(60_000);
  await opened.goto(`${platform.baseUrl}/console/`);
  await logIn(opened, username);
  return opened;
}

const open = (on: Page, path: string) => on.goto(`${platform.baseUrl}/console/${path}`);
/** Returns the texts of the lines below the head of the table, once the first has the text. */
async function linesOf(on: Page, first: string): Promise<string[][]> {
  const table = on.getByRole('table', { name: 'Costs' });
  await table.getByRole('row').nth(1).getByText(first).first().waitFor();
  const rows = await table.getByRole('row').all();
  return Promise.all(rows.slice(1).map((row) => row.getByRole('cell').allInnerTexts()));
}

/** Returns the intervals that the drawer shows, without the line of their sum. */
async function intervalsOf(on: Page): Promise<string[][]> {
  const list = on.getByRole('dialog').getByRole('region', { name: 'Intervals' });
  await list.waitFor();
  const rows = await list.getByRole('row').all();
  return Promise.all(rows.slice(1, -1).map((row) => row.getByRole('cell').allInnerTexts()));
}

// Real: the platform, PostgreSQL and a browser. The node and its runs are only records.
describe('an administrator in the console', () => {
  it('sees what the nodes of a period cost, how much of it was idle, and on which days', async () => {
    await open(page, `costs?${PERIOD}`);
    const total = page.getByRole('region', { name: 'The whole period' });
    await total.waitFor();
    expect(await total.innerText()).toMatch(
      /All nodes[^$]*\$0\.8000[^$]*Runs[^$]*\$0\.2500\s*31\.3 %[^$]*Idle[^$]*\$0\.5500/,
    );
    const unused =
      /Unused memory[^$]*\$0\.0500\s*20\.0 % of runs\s*8\.0000 GiB hours · measured for 80\.0 % of the time/;
    expect(await total.innerText()).toMatch(unused);
    await total.getByText('is an upper estimate').waitFor();
    await page.getByRole('img', { name: 'Cost in USD on each of 31 days' }).waitFor();
    expect(await linesOf(page, 'Sun')).toEqual([
      ['Sun, 11 May 2025', '50.0 %', '$0.1000', '$0.3000', '$0.4000', '$0.0250', '8.0000', '4.0000'],
      ['Sat, 10 May 2025', '50.0 %', '$0.1500', '$0.2500', '$0.4000', '$0.0250', '8.0000', '4.0000'],
    ]);
    await expectAccessible(page);
  });

  it('follows the sum of a day, a cluster or the period to the intervals of the ledger', async () => {
    const cut = ['2025-05-11 00:00:00.000', '2025-05-11 04:00:00.000', '4 h 00 min', '8.0000', '0.05', '$0.4000'];
    await page.getByRole('link', { name: '$0.4000: intervals of Sun, 11 May 2025' }).click();
    await page.waitForURL(/intervals=2025-05-11/);
    expect(await intervalsOf(page)).toEqual([['etl', expect.stringMatching(/^#\d+ · /), ...cut]]);
    await page.reload();
    expect(await intervalsOf(page)).toHaveLength(1);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.search.includes('intervals'));
    await page.getByRole('link', { name: '$0.8000: intervals of The whole period' }).click();
    expect(await intervalsOf(page)).toMatchObject([{ 2: '2025-05-10 20:00:00.000', 4: '8 h 00 min', 7: '$0.8000' }]);
    await open(page, `costs?from=2025-05-12&to=2025-05-13&intervals=all`);
    await page.getByRole('dialog').getByText('No node was RUNNING in these days').waitFor();
    await open(page, `costs?${PERIOD}&by=cluster`);
    await page.getByRole('link', { name: '$0.8000: intervals of etl' }).click();
    await page.waitForURL(/of=\d+/);
    expect(await intervalsOf(page)).toMatchObject([{ 0: 'etl', 7: '$0.8000' }]);
    await open(page, `costs?${PERIOD}`);
    await linesOf(page, 'Sun');
  });

  it('follows a workspace to its runs and a run to the ledger, by keyboard', async () => {
    await page.getByRole('radio', { name: 'Day', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await linesOf(page, 'finance')).toEqual([
      ['finance', '80.0 %', '$0.2000', '$0.0500', '4.0000', '2.0000'],
      ['growth', '20.0 %', '$0.0500', '–', '1.0000', '0.5000'],
    ]);
    await page.getByRole('link', { name: 'Runs of finance' }).focus();
    await page.keyboard.press('Enter');
    const [[name, ...cells] = []] = await linesOf(page, 'sum');
    expect([name, cells]).toEqual([
      expect.stringMatching(/^sum #\d+$/),
      ['finance', 'etl', 'costs-ana', '100.0 %', '$0.2000', '$0.0500', '4.0000', '2.0000'],
    ]);
    await page.getByText('Idle time belongs to no workspace and no user').waitFor();
    await page.getByRole('link', { name: 'sum' }).focus();
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: /^sum #/ });
    const intervals = drawer.getByRole('region', { name: 'Intervals of the ledger' });
    await intervals.waitFor();
    expect(await drawer.innerText()).toMatch(
      /requested\s*4,096 MiB\s*Memory used at most\s*2,048 MiB · suggested driver memory: 2048m\s*Memory not used\s*\$0\.0500 · 8\.0000 GiB hours/i,
    );
    await drawer.getByText('is an upper estimate').waitFor();
    const rows = await intervals.getByRole('row').all();
    const texts = await Promise.all(rows.map((row) => row.getByRole('cell').allInnerTexts()));
    const node = expect.stringMatching(/^#\d+ · /);
    expect(texts.slice(1)).toEqual([
      ['2025-05-10 22:00:00.000', '2025-05-11 00:00:00.000', node, '2 h 00 min', '1 of 2', '3,600,000'],
      ['2025-05-11 00:00:00.000', '2025-05-11 02:00:00.000', node, '2 h 00 min', '1 of 2', '3,600,000'],
      ['7,200,000'],
    ]);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    expect(page.url()).toContain(`${PERIOD}&by=run&workspace=${finance}`);
  });

  it('takes the lines along as a file, and the request as a command', async () => {
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await linesOf(page, 'sum');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('costs-by-run-2025-05-01-2025-05-31.csv');
    const [head = '', ...lines] = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(head).toMatch(/^\ufeffrun_id,run,workspace_id,workspace,.*,runs_amount,.*,currency$/);
    expect(lines).toEqual([
      expect.stringMatching(/^\d+,sum,\d+,finance,\d+,etl,\d+,costs-ana,7200000,4,0\.2,,,,,,,7200000,8,1,0\.05,USD$/),
      expect.stringMatching(/^\d+,"<img .*,1800000,1,0\.05,,,,,,,,,,,USD$/),
    ]);
    await page.getByRole('button', { name: 'Copy as' }).click();
    await page.getByRole('menuitem', { name: 'Command line' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe('msp costs --from 2025-05-01 --until 2025-05-31 --by run');
  });

  it('chooses a period, and finds the first step where nothing cost anything', async () => {
    await page.getByLabel('First day (UTC)').fill('2025-05-11');
    await page.waitForURL(/from=2025-05-11&to=2025-05-31/);
    expect(await linesOf(page, 'sum')).toMatchObject([{ 5: '$0.1000' }]);
    await page.getByText('7 days').click();
    await page.getByText('Nothing cost anything in this period').waitFor();
    expect(page.url()).toContain('period=7d');
    await expectAccessible(page);
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Screens, runs, workspaces').fill('Costs');
    await page.getByRole('dialog').getByRole('button', { name: 'Costs' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/costs$/);
  });

  it('sees no error of a page', () => expect(errors).toEqual([]));
});

describe('a user in the console', () => {
  it('sees the costs of the workspaces that he may view, and why not those of others', async () => {
    const own = await pageOf('costs-ana');
    await open(own, `costs?${PERIOD}&by=run`);
    expect(await linesOf(own, MARKUP)).toMatchObject([{ 1: 'growth', 5: '$0.050000' }]);
    expect(await own.evaluate('window.hacked')).toBeUndefined();
    const total = own.getByRole('region', { name: 'The whole period' });
    expect(await total.innerText()).toMatch(/Runs[^$]*\$0\.050000[^$]*Idle time is shown to administrators/);
    await open(own, `costs?${PERIOD}&workspace=${finance}`);
    const why = own.getByRole('region', { name: 'Why can’t I?' });
    await why.getByText('VIEW on this workspace').waitFor();
    await own.close();
  });
});
