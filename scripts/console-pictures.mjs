#!/usr/bin/env node
// Uses the console in a browser as an engineer, an operator and an administrator do, and writes a picture of each step to
// docs/console, in light and in dark. It needs a quickstart that serves.
import './embedded/newer-node.mjs';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiError, login } from './demo/session.mjs';
import { launchChromium } from './embedded/chromium.mjs';
import { logInToConsole } from './embedded/console-login.mjs';
import { projectRoot } from './embedded/install.mjs';
import { loadSecrets } from './embedded/platform.mjs';

const FOLDER = join(projectRoot, 'docs', 'console');
const VIEWPORT = { width: 1280, height: 800 };
const DEADLINE_MS = 60_000;
/** Until movements have ended and what is read late has come. */
const SETTLED_MS = 700;
const MAX_NAMES = 20;
/** The workspace of the demo, for whose runs its cluster is. */
const WORKSPACE = 'demo';
const FILE = 'invoices.py';
const JOB = 'invoices';
/** Id of the role USER. */
const ROLE_USER = 3;

const WRONG = `from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
invoices = spark.range(1000).selectExpr("id AS number", "id % 90 AS amount")
print("invoices:", invoices.count())
print("sum:", invoices.selectExpr("sum(total)").first()[0])
`;
const RIGHT = WRONG.replace('sum(total)', 'sum(amount)');

/** @typedef {import('playwright-core').Page} Page */

/** Opens the console, and takes pictures of it. */
class Visitor {
  /** @param {Page} page @param {string} address of the console */
  constructor(page, address) {
    this.page = page;
    this.address = address;
  }

  /** @param {import('playwright-core').Browser} browser @param {string} address */
  static async come(browser, address) {
    const context = await browser.newContext({
      viewport: VIEWPORT,
      reducedMotion: 'reduce',
      colorScheme: 'light',
    });
    context.setDefaultTimeout(DEADLINE_MS);
    const visitor = new Visitor(await context.newPage(), address);
    await visitor.open('');
    return visitor;
  }

  /** @param {string} path below the console */
  async open(path) {
    await this.page.goto(`${this.address}${path}`);
  }

  /** @param {string} name of the step, as in "engineer-1-runs" */
  async picture(name) {
    for (const colorScheme of /** @type {const} */ (['dark', 'light'])) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.waitForTimeout(SETTLED_MS);
      await this.page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) });
    }
    console.log(name);
  }

  /** @param {string} name */
  button(name) {
    return this.page.getByRole('button', { name, exact: true });
  }

  leave() {
    return this.page.context().close();
  }
}

/**
 * Uploads a script, runs it, reads why it has failed, mends it, and runs it again.
 * @param {Visitor} visitor who is logged in
 * @param {number} workspaceId
 */
async function engineer(visitor, workspaceId) {
  const { page } = visitor;
  await visitor.open('runs');
  await page.getByRole('row').nth(1).waitFor();
  await visitor.picture('engineer-1-runs');

  await visitor.open(`workspaces/${workspaceId}`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: FILE, mimeType: 'text/x-python', buffer: Buffer.from(WRONG) });
  await page.getByRole('row').filter({ hasText: FILE }).waitFor();
  await visitor.picture('engineer-2-upload');

  await visitor.button(`Run ${FILE}`).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).waitFor();
  await visitor.picture('engineer-3-run-a-file');
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();

  await page.getByRole('region', { name: 'The Python code raised an exception' }).waitFor();
  await page.getByText('Traceback (most recent call last):').first().waitFor();
  await visitor.picture('engineer-4-why-it-failed');

  await page.getByRole('link', { name: 'Fix and run again' }).click();
  await page.getByRole('textbox', { name: `Text of ${FILE}` }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(RIGHT);
  await visitor.picture('engineer-5-mend');
  await visitor.button('Save and run again').click();

  await page.getByText('Done', { exact: true }).first().waitFor();
  await page.getByText('stdout', { exact: true }).click();
  await page.getByRole('log').getByText('sum: 44100').waitFor();
  await visitor.picture('engineer-6-done');
  await page.getByRole('tab', { name: 'Stages' }).click();
  await visitor.picture('engineer-7-stages');
  await page.getByRole('tab', { name: 'History' }).click();
  await visitor.picture('engineer-8-history');
  await visitor.open('costs');
  await page.getByRole('row').nth(1).waitFor();
  await visitor.picture('engineer-9-costs');
}

/**
 * Starts a cluster that fails, and reads why.
 * @param {Visitor} visitor who is logged in
 * @param {number} clusterId
 */
async function operator(visitor, clusterId) {
  const { page } = visitor;
  await visitor.open(`clusters/${clusterId}`);
  await visitor.button('Start').click();
  await page.getByText('Failed', { exact: true }).first().waitFor();
  await visitor.picture('operator-1-why-it-failed');
  await page.getByRole('tab', { name: 'History' }).click();
  await visitor.picture('operator-2-history');
  await visitor.open('clusters');
  await page.getByRole('row').nth(1).waitFor();
  await visitor.picture('operator-3-clusters');
}

/**
 * Grants a permission; its holder is refused what it does not include; the audit log has the refusal.
 * @param {Visitor} visitor who is logged in
 * @param {Visitor} colleague who is logged in
 * @param {{workspaceId: number, colleagueName: string, colleagueId: number}} records
 * @param {(name: string) => Promise<void>} grant gives the colleague a permission in place of the present one
 */
async function administrator(visitor, colleague, { workspaceId, colleagueName, colleagueId }, grant) {
  const { page } = visitor;
  await visitor.open(`access?workspace=${workspaceId}`);
  await visitor.button('Grant access').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByPlaceholder('Type a part of the name').fill(colleagueName);
  await page.getByRole('option', { name: colleagueName, exact: true }).click();
  await visitor.picture('administrator-1-grant');
  await dialog.getByRole('button', { name: 'Grant access' }).click();
  await page.getByRole('dialog', { name: colleagueName }).getByText('Sees files, jobs and their logs').waitFor();
  await visitor.picture('administrator-2-what-she-may-do');

  // The console offers only what one may do, so the permission goes while its screen is open.
  await grant('MANAGE');
  await colleague.open(`access?workspace=${workspaceId}&holder=${colleagueId}`);
  const held = colleague.page.getByRole('radiogroup', { name: 'Held directly' });
  await held.getByText('EDIT').waitFor();
  await grant('VIEW');
  await held.getByText('EDIT').click();
  await colleague.page.getByRole('region', { name: 'Why can’t I?' }).getByText(`MANAGE on ${WORKSPACE}`).waitFor();
  await colleague.picture('administrator-3-refused');

  await visitor.open('admin/audit');
  await page.getByRole('button', { name: 'assignWorkspaceUserPermission' }).first().click();
  await page.getByRole('dialog').getByText('WORKSPACE.PERMISSION_REQUIRED').waitFor();
  await visitor.picture('administrator-4-audit');
}

/** @param {import('./demo/session.mjs').Session} session @returns {Promise<number>} id of a cluster whose nodes cannot start */
async function describeFailingCluster(session) {
  const { data: clusters } = await session.json('GET', '/clusters', { query: { limit: 1 } });
  const { cluster_env: _env, ...demo } = clusters[0];
  const { cluster_id: clusterId } = await session.json('POST', '/cluster', {
    body: {
      name: `nightly-${randomBytes(2).toString('hex')}`,
      cluster_type: 'PLATFORM',
      cloud_env_id: demo.cloud_env.cloud_env_id,
      cluster_conf_id: demo.cluster_conf.cluster_conf_id,
      spark_infra_version_id: demo.spark_infra_version.spark_infra_version_id,
      min_instances: 1,
      max_instances: 1,
      is_spot_instance: false,
      enable_public_ip: false,
      bootstrap_shell_script: 'echo "reading the licence server"\ncat /etc/licence-server\n',
    },
  });
  return Number(clusterId);
}

/** Removes what an earlier run of this script left. @param {import('./demo/session.mjs').Session} session @param {number} workspaceId */
async function removeEarlier(session, workspaceId) {
  const earlier = [
    { path: '/workspace/file', query: { workspace_id: workspaceId, file_path: FILE } },
    { path: `/workspace/${workspaceId}/spark/job/conf`, query: { job_conf_name: JOB } },
  ];
  for (const { path, query } of earlier) {
    try {
      await session.json('DELETE', path, { query });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
}

/**
 * Makes a record under a name that is free, so that the pictures can be taken once more.
 * @template T
 * @param {string} name
 * @param {(name: string) => Promise<T>} make
 * @returns {Promise<[string, T]>}
 */
async function withFreeName(name, make) {
  for (let count = 1; ; count += 1) {
    const tried = count === 1 ? name : `${name}-${count}`;
    try {
      return [tried, await make(tried)];
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || count === MAX_NAMES) throw error;
    }
  }
}

async function main() {
  const { values } = parseArgs({ options: { url: { type: 'string', default: 'http://127.0.0.1:8080' } } });
  const { BOOTSTRAP_ADMIN_PASSWORD: password } = loadSecrets(resolve(process.env.RUNTIME_DIR || '.runtime'));
  const session = await login({ baseUrl: values.url, username: 'admin', password });
  const { data: workspaces } = await session.json('GET', '/workspaces/search', {
    query: { workspace_name: WORKSPACE },
  });
  const workspaceId = Number(workspaces[0].workspace_id);
  await removeEarlier(session, workspaceId);
  const colleaguePassword = randomBytes(18).toString('base64url');
  const [colleagueName, { user_id: colleagueId }] = await withFreeName('analyst', (username) =>
    session.json('POST', '/platform/shared/admin/user', {
      body: { username, password: colleaguePassword, email: `${username}@example.com` },
    }),
  );
  await session.json('POST', `/admin/user/${colleagueId}/role/${ROLE_USER}`);
  const clusterId = await describeFailingCluster(session);
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) if (name.endsWith('.png')) rmSync(join(FOLDER, name));
  const browser = await launchChromium();
  try {
    const address = `${values.url}/console/`;
    const [visitor, colleague] = [await Visitor.come(browser, address), await Visitor.come(browser, address)];
    await visitor.picture('login');
    await logInToConsole(visitor.page, { username: 'admin', password });
    await logInToConsole(colleague.page, { username: colleagueName, password: colleaguePassword });
    await engineer(visitor, workspaceId);
    await operator(visitor, clusterId);
    await administrator(visitor, colleague, { workspaceId, colleagueName, colleagueId }, async (name) => {
      const permissions = await session.json('GET', '/workspace/permissions');
      const { permission_id } = permissions.find((/** @type {{name: string}} */ one) => one.name === name);
      const body = { user_id: colleagueId, permission_id };
      await session.json('POST', `/ac/workspace/${workspaceId}/user`, { body });
    });
    await Promise.all([visitor.leave(), colleague.leave()]);
  } finally {
    await browser.close();
  }
}

await main();
