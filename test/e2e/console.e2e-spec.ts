import type { Browser, Page } from 'playwright-core';
import { errorsOf, launchChromium } from '../harness/chromium';
import { expectAccessible } from './harness/accessibility';
import type { ApiClient } from './harness/api-client';
import { logIn } from './harness/console';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

/** It needs no Spark to fail, so it is quick. The line that says why it fails is far below the first screen of its log. */
const FAILING = `import sys
print("reads the invoices", flush=True)
for number in range(300):
    print("invoice", number, file=sys.stderr)
row = {}
print(row["invoice_total"])
`;

let platform: SharedPlatform;
let admin: ApiClient;
let browser: Browser;
let page: Page;
let desk: JobDesk;
let runId: number;
let errors: string[];

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console'), launchChromium()]);
  admin = await platform.admin();
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  const clusterId = await createCluster(admin, estate, 'nightly');
  await startCluster(admin, clusterId);
  desk = await JobDesk.open(admin, 'finance');
  await desk.upload('load.py', FAILING);
  runId = await desk.start(clusterId, 'load-invoices', { job_type: 'Python3', command: 'load.py' });
  await desk.ended(runId);
  // Colours that change slowly would be judged on their way.
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  page.setDefaultTimeout(60_000);
  errors = errorsOf(page);
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

describe('the console', () => {
  it('asks for a login, and says why one fails', async () => {
    await page.goto(platform.baseUrl);
    expect(new URL(page.url()).pathname).toMatch(/^\/console\//);
    await page.getByLabel('User name').fill(platform.username);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('User name or password is wrong').waitFor();
    await expectAccessible(page);
    await logIn(page, platform.username);
  });

  it('lets its user choose a tenant, and lists the runs of all workspaces', async () => {
    await page.getByRole('button', { name: /^Tenant:/ }).click();
    await page.getByRole('menuitem', { name: 'console', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'load-invoices' });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/Failed[\s\S]*KeyError: 'invoice_total'[\s\S]*finance[\s\S]*nightly/);
    await expectAccessible(page);
  });

  it('finds runs by filters that are in the address', async () => {
    await page.getByRole('textbox', { name: 'Search by name' }).fill('no such run');
    await page.getByText('No run matches these filters').waitFor();
    await page.waitForURL(/q=no\+such\+run/);
    await page.goto(`${platform.baseUrl}/console/runs?q=INVOICES&status=ERROR`);
    await page.getByRole('row').filter({ hasText: 'load-invoices' }).waitFor();
    expect(await page.getByText('1 run', { exact: true }).count()).toBe(1);
  });

  it('says why a run has failed, and shows the line in its log', async () => {
    await page.getByRole('link', { name: 'load-invoices' }).click();
    await page.getByRole('heading', { name: 'load-invoices' }).waitFor();
    const failure = page.getByRole('region', { name: 'The Python code raised an exception' });
    expect(await failure.innerText()).toContain("KeyError: 'invoice_total'");
    const log = page.getByRole('log');
    await log.getByText("KeyError: 'invoice_total'").waitFor();
    await log.getByText('Traceback (most recent call last):').waitFor();
    await expectAccessible(page);
    await page.getByText('stdout', { exact: true }).click();
    await page.getByRole('log').getByText('reads the invoices').waitFor();
  });

  it.each(['History', 'Configuration', 'Stages'])('shows %s of the run', async (tab) => {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('tabpanel').waitFor();
    await expectAccessible(page);
  });

  it("says why Spark's UI cannot be shown", async () => {
    const button = page.getByRole('button', { name: 'Spark’s UI' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.hover();
    await page.getByRole('tooltip').getByText('The run has started no Spark application').waitFor();
  });

  it('runs it again', async () => {
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => /runs\/\d+\/\d+$/.test(url.pathname) && !url.pathname.endsWith(`/${runId}`));
    await page.getByRole('region', { name: 'The Python code raised an exception' }).waitFor();
  });

  it('fixes the file and runs it again', async () => {
    const failed = page.url();
    await page.getByRole('link', { name: 'Fix and run again' }).click();
    await page.getByRole('textbox', { name: 'Text of load.py' }).click();
    await page.keyboard.press('Control+A');
    await page.keyboard.press('Delete');
    await page.keyboard.type('print("mended")');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save and run again' }).click();
    await page.waitForURL((url) => url.href !== failed && /runs\/\d+\/\d+$/.test(url.pathname));
    await page.getByText('Done', { exact: true }).first().waitFor();
    await page.getByText('stdout', { exact: true }).click();
    await page.getByRole('log').getByText('mended').waitFor();
  });

  it('compares a run with the last one that succeeded', async () => {
    const succeeded = Number(new URL(page.url()).pathname.split('/').at(-1));
    const { job_conf: conf } = await desk.get(succeeded);
    await desk.upload('load.py', FAILING);
    const late = await desk.submit(conf.job_conf_id, { arguments: '--day 2' });
    await desk.ended(late);
    await page.goto(`${platform.baseUrl}/console/runs/${desk.workspaceId}/${late}?tab=configuration`);
    await page.getByRole('link', { name: `#${succeeded}` }).waitFor();
    expect(await page.getByRole('tabpanel').innerText()).toMatch(/Arguments\s+not set\s+.*--day 2/);
    await expectAccessible(page);
    await page.getByRole('link', { name: `#${succeeded}` }).click();
    await page.getByRole('tab', { name: 'Configuration' }).click();
    await page.getByText('No run of this job has succeeded before.').waitFor();
  });

  it('shows the cluster with its nodes and its history', async () => {
    await page.getByRole('link', { name: 'Clusters' }).click();
    await page.getByRole('row').filter({ hasText: 'nightly' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('heading', { name: 'nightly' }).waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('row').filter({ hasText: 'Starting' }).waitFor();
    await expectAccessible(page);
  });

  it('resizes the running cluster, and shows what it costs before and after', async () => {
    await page.getByRole('button', { name: 'Resize' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resize nightly' });
    const confirm = dialog.getByRole('button', { name: 'Resize the cluster' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Minimum number of nodes').fill('3');
    await dialog.getByText('The maximum is less than the minimum.').waitFor();
    await dialog.getByLabel('Minimum number of nodes').fill('1');
    await dialog.getByLabel('Maximum number of nodes').fill('3');
    await dialog.getByText(/\$[\d.]+ – \$[\d.]+ per hour/).waitFor();
    await expectAccessible(page);
    await confirm.click();
    await dialog.waitFor({ state: 'hidden' });
    const cluster = await admin.get('/cluster', { cluster_name: 'nightly' });
    expect(cluster).toMatchObject({ cluster_status: 'RUNNING', min_instances: 1, max_instances: 3 });
  });

  it('shows what a node writes, also after the page was loaded again', async () => {
    const { cluster_id, nodes } = await admin.get('/cluster', { cluster_name: 'nightly' });
    const query = { cluster_id, node_status_id: nodes[0].node_status_id };
    const [line = ''] = (await admin.text('/cluster/log/stdout', query)).split('\n');
    expect(line).not.toBe('');
    await page.getByRole('tab', { name: 'Nodes' }).click();
    await page.getByRole('link', { name: 'Log: Node 0' }).click();
    await page.getByRole('button', { name: 'Node: Node 0 · Running' }).waitFor();
    await page.getByText('stdout', { exact: true }).click();
    await page.getByRole('log').getByText(line, { exact: true }).first().waitFor();
    const box = await page.getByRole('region', { name: /^Log of Node 0/ }).boundingBox();
    // It fills the screen of 800 pixels, but for the margin of the page.
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(760);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('log').getByText(line, { exact: true }).first().waitFor();
  });

  it('ends the session for good', async () => {
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'session');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('[document.cookie, localStorage.length]')).toEqual(['', 0]);
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out', exact: true }).click();
    await page.getByLabel('User name').waitFor();
    const answer = await fetch(`${platform.baseUrl}/api/v1/user/info`, {
      headers: { authorization: `Bearer ${cookie?.value}` },
    });
    expect(answer.status).toBe(401);
    // Refusals are expected before the login, of the wrong password, and after the end of the session, which breaks its stream of events.
    expect(errors.filter((text) => !/401|ERR_INCOMPLETE_CHUNKED_ENCODING/.test(text))).toEqual([]);
  });
});
