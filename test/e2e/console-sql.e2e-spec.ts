import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { FakeUnity, fakeUnityTable } from '../fakes/metastores/fake-unity';
import { launchChromium } from '../harness/chromium';
import { expectAccessible } from './harness/accessibility';
import type { ApiClient } from './harness/api-client';
import { logIn } from './harness/console';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { SharedPlatform } from './harness/shared-platform';

const TOKEN = 'dapi-of-the-console';
const MARKUP = '<img src=x onerror=hacked()>';
const TABLES = 10_000;

let platform: SharedPlatform;
let admin: ApiClient;
let browser: Browser;
let page: Page;
let unity: FakeUnity;
let workspaceId: number;

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console-sql'), launchChromium()]);
  admin = await platform.admin();
  ({ workspace_id: workspaceId } = await admin.post('/workspace', { name: 'sql' }));
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  await startCluster(admin, await createCluster(admin, estate, 'queries'));
  await describeCatalog();
  page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  page.setDefaultTimeout(120_000);
  await page.goto(`${platform.baseUrl}/console/`);
  await logIn(page, platform.username);
});

afterAll(async () => {
  await browser?.close();
  await unity?.stop();
  await platform?.close();
});

/** A Unity metastore with a large schema, and a table whose author attacks those who look at it. */
async function describeCatalog(): Promise<void> {
  const names = Array.from({ length: TABLES }, (_, index) => `t_${String(index).padStart(5, '0')}`);
  const columns = [
    { name: MARKUP, type_text: 'bigint', type_json: '"long"', nullable: false, position: 0, comment: MARKUP },
  ];
  const hostile = { ...fakeUnityTable(MARKUP, 0), comment: MARKUP, columns, properties: { team: MARKUP } };
  const tables = [...names.map((name) => fakeUnityTable(name, 1)), hostile];
  unity = await FakeUnity.start({ token: TOKEN, catalogs: { main: { schemas: { crm: { tables } } } } });
  const { metastore_catalog_id } = await admin.post('/metastore/catalog/unity', {
    ...{ name: 'lake', endpoint: unity.url, default_catalog: 'main', storage_path: 's3://lake/unity' },
  });
  const secret = { name: 'console-sql', secret_type: 'DATABRICKS UNITY TOKEN', token: TOKEN };
  const { tenant_secret_id: metastore_secrets_tenant_id } = await admin.post('/tenant/secret', secret);
  await admin.post('/metastore/catalog/secret/tenant', {
    metastore_catalog_id: Number(metastore_catalog_id),
    metastore_secrets_tenant_id: Number(metastore_secrets_tenant_id),
  });
}

const open = (path: string) => page.goto(`${platform.baseUrl}/console/${path}`);

async function write(text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

// Real: the platform, Spark, PostgreSQL and a browser. Stand-in: Unity Catalog.
describe('the data in the console', () => {
  it('finds one of 10,000 tables, and shows names with markup as text', async () => {
    await open(`data?workspace=${workspaceId}`);
    await page.getByRole('button', { name: 'crm' }).click();
    await page.getByText('10,001 tables').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(100);
    await page.getByLabel('Search by name').fill('T_0777');
    await page.getByText('10 tables').waitFor();
    await page.getByLabel('Search by name').fill('img');
    await page.getByRole('link', { name: MARKUP }).click();
    await page.getByRole('tab', { name: 'Properties' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByText('delta', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'DDL' }).click();
    await page.getByText('CREATE TABLE').waitFor();
    await expectAccessible(page);
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });
});

describe('the SQL editor of the console', () => {
  it('completes names of the catalog, of which a schema has 10,000 tables, and quotes those with markup', async () => {
    await open(`sql?workspace=${workspaceId}`);
    const option = (name: string) => page.getByRole('option', { name, exact: false }).first();
    await write('select * from main.');
    await page.keyboard.press('Control+Space');
    await option('crm').click();
    await page.keyboard.type('.t_0777');
    await option('t_07777').click();
    expect(await page.locator('.cm-content').innerText()).toBe('select * from main.crm.t_07777');
    await write(`select  from crm.\`${MARKUP}\` as m`);
    await page.keyboard.press('Home');
    for (let count = 0; count < 'select '.length; count += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.type('m.');
    await option(MARKUP).click();
    expect(await page.locator('.cm-content').innerText()).toBe(`select m.\`${MARKUP}\` from crm.\`${MARKUP}\` as m`);
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });

  it('starts a server, and runs statements whose rows have all their digits', async () => {
    await open(`sql?workspace=${workspaceId}`);
    await page.getByRole('button', { name: /^SQL server/ }).click();
    await page.getByRole('menuitem', { name: /^queries/ }).click();
    await page.getByRole('button', { name: 'SQL server: sql-queries' }).waitFor();
    await write(
      [
        `select date '2026-11-01' + cast(id as int) as day, id * 2 as n, 9007199254740993 + id as big, if(id = 1, null, '${MARKUP}') as note, '=1+1' as formula from range(300)`,
        'create or replace temporary view v as select 1 as a',
        'select a from v',
      ].join(';\n'),
    );
    await page.keyboard.press('Control+Shift+Enter');
    await page.getByRole('group', { name: 'Statements' }).getByText('Done').nth(2).waitFor();
    await page.getByRole('group', { name: 'Statements' }).getByRole('button').first().click();
    await page.getByText('9007199254740994', { exact: true }).waitFor();
    await page.getByText('NULL', { exact: true }).waitFor();
    expect(await page.locator('img[src=x]').count()).toBe(0);
    await expectAccessible(page);
  });

  it('writes a CSV file in which spreadsheets calculate nothing, and draws a chart', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    expect(lines).toHaveLength(302);
    expect(lines[2]).toBe("2026-11-02,2,9007199254740994,,'=1+1");
    await page.getByText('Chart', { exact: true }).click();
    await page.getByRole('img', { name: 'Chart of n by day, 300 points' }).waitFor();
    await expectAccessible(page);
  });

  it('finds text, results and temporary views again after the page was loaded again', async () => {
    await page.reload();
    await page.getByRole('gridcell').first().waitFor();
    expect(await page.locator('.cm-content').innerText()).toContain('create or replace temporary view');
    await write('select a + 1 as b from v');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('columnheader', { name: /^b\b/ }).waitFor();
  });

  it('marks the place of an error', async () => {
    await write('select a,\n  nothing\nfrom v');
    await page.keyboard.press('Control+Enter');
    const alert = page.getByRole('alert');
    await alert.getByText('UNRESOLVED_COLUMN.WITH_SUGGESTION').first().waitFor();
    expect(await alert.innerText()).toMatch(/^A column[, ].*`nothing` cannot be resolved[^]*42703[^]*line 2, column 3/);
    expect(await page.locator('.cm-lintRange-error').innerText()).toBe('nothing');
    await expectAccessible(page);
  });

  it('cancels a statement that runs, also after the page was loaded again', async () => {
    await write('select sum(a.id * b.id) from range(10000000) a cross join range(10000000) b');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('status').getByText('Running').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').getByText('Cancelled').waitFor();
    await write('select 2 as two');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('columnheader', { name: /^two\b/ }).waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('dialog').getByText('cross join').waitFor();
    await expectAccessible(page);
  });
});
