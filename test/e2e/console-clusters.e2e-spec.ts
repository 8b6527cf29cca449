import type { Browser, Page } from 'playwright-core';
import { errorsOf, launchChromium } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import { expectAccessible } from './harness/accessibility';
import { logIn } from './harness/console';
import type { ApiClient } from './harness/api-client';
import { describeEstate } from './harness/estate';
import { SharedPlatform } from './harness/shared-platform';

let platform: SharedPlatform;
let admin: ApiClient;
let browser: Browser;
let page: Page;
let errors: string[];

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console-clusters'), launchChromium()]);
  admin = await platform.admin();
  await describeEstate(admin, platform.runtime.sparkVersion);
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  page.setDefaultTimeout(60_000);
  await page.goto(`${platform.baseUrl}/console/`);
  await logIn(page, platform.username);
  errors = errorsOf(page);
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

// Real: the platform with its nodes, PostgreSQL and a browser. Nothing is left out.
describe('an operator in the console', () => {
  it('describes a cluster, sees what is missing, what does not fit and what it costs, and creates it', async () => {
    await page.getByRole('link', { name: 'Clusters' }).click();
    await page.getByRole('link', { name: 'New cluster' }).first().click();
    const summary = page.getByRole('complementary', { name: 'Cost and completeness' });
    await summary.getByText('per hour').waitFor();
    await summary.getByRole('button', { name: 'Name' }).click();
    expect(await page.locator(':focus').getAttribute('id')).toBe('cluster-name');
    await page.keyboard.type('nightly');
    await summary.getByText('Nothing is missing.').waitFor();
    await page.getByLabel('Most nodes').fill('3');
    await summary.getByText('1 to 3 nodes').waitFor();
    expect(await summary.innerText()).toMatch(/\$[\d.]+ – \$[\d.]+ per hour/);
    expect(await page.getByLabel('GPUs').isDisabled()).toBe(true);
    await page.getByText(/does not support CUDA/).waitFor();

    await page.getByLabel('Fewest nodes').fill('4');
    await summary.getByText('min_instances is greater than max_instances.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    expect(await page.locator(':focus').getAttribute('id')).toBe('cluster-max_instances');

    await page.getByLabel('Fewest nodes').fill('1');
    await summary.getByText('Nothing is missing.').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'nightly' }).waitFor();
    const cluster = await admin.get('/cluster', { cluster_name: 'nightly' });
    expect(cluster).toMatchObject({ cluster_status: 'STOPPED', min_instances: 1, max_instances: 3 });
  });

  it('changes what its state allows', async () => {
    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByText(/These fields can change only in DESTROYED or ERROR/).waitFor();
    expect(await page.getByLabel('Most nodes').isDisabled()).toBe(true);
    await page.getByLabel('Stops after idle minutes').fill('15');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'nightly', exact: true }).waitFor();
    const cluster = await admin.get('/cluster', { cluster_name: 'nightly' });
    expect(cluster).toMatchObject({ idle_timeout_ms: 900_000 });
  });

  it('destroys it after reading what that means, and sets it up again', async () => {
    await page.getByRole('tab', { name: 'Load' }).click();
    await page.getByText('No load yet').waitFor();
    await page.getByRole('button', { name: 'Destroy' }).click();
    const question = page.getByRole('dialog');
    await question.getByText(/the machines are removed with their disks/).waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Destroy the cluster' }).click();
    await page.getByRole('button', { name: 'Set up again' }).waitFor();
    await page
      .getByText('The cluster is DESTROYED. It can be destroyed when it is STOPPED or')
      .waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Set up again' }).click();
    await question.getByRole('button', { name: 'Set up again' }).click();
    await page.getByRole('button', { name: 'Start' }).waitFor();
    expect(await admin.get('/cluster', { cluster_name: 'nightly' })).toMatchObject({ cluster_status: 'STOPPED' });
  });

  it('reads for which workspaces a cluster is reserved, where another one chooses a cluster', async () => {
    const { cluster_id: clusterId } = await admin.get('/cluster', { cluster_name: 'nightly' });
    const { workspace_id: owner } = await admin.post('/workspace', { name: 'reports' });
    const { workspace_id: other } = await admin.post('/workspace', { name: 'trials' });
    await admin.post(`/ac/workspace/${owner}/cluster/${clusterId}`);
    await page.goto(`${platform.baseUrl}/console/workspaces/${other}/jobs/new`);
    const field = page.locator('input').and(page.getByLabel('Cluster', { exact: true }));
    await page.getByText('Reserved for other workspaces: nightly.').waitFor();
    expect(await field.inputValue()).toBe('');
    await field.click();
    const option = page.getByRole('option', { name: /^nightly/ });
    await option.getByText('Reserved for other workspaces: reports. Ask a cluster manager').waitFor();
    expect(await option.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await expectAccessible(page);

    await page.goto(`${platform.baseUrl}/console/workspaces/${owner}/jobs/new`);
    await eventually(async () => (await field.inputValue()).startsWith('nightly'), {
      timeoutMs: 30_000,
      what: 'a choice',
    });
  });

  it('sees no error of a page', () => expect(errors).toEqual([]));
});
