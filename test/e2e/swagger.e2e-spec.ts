import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import type { Json } from './harness/api-client';
import { PASSWORD } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

let platform: SharedPlatform;
let browser: Browser;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'swagger');
  browser = await launchChromium();
  // The page renders only visible operations, so the viewport is tall enough for all of them.
  page = await browser.newPage({ viewport: { width: 1280, height: 40_000 } });
  page.setDefaultTimeout(180_000);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

const served = async (): Promise<Json> => (await fetch(`${platform.baseUrl}/api/v1/openapi.json`)).json();

/** Filters the page by the section of the operation, because each step on the whole page takes seconds. */
async function findOperation(operationId: string) {
  const operations: Json[] = Object.values((await served()).paths).flatMap((item) => Object.values(item as Json));
  const { tags } = operations.find((operation) => operation.operationId === operationId);
  await page.locator('.operation-filter-input').fill(tags[0]);
  const sections = page.locator('.opblock-tag');
  await eventually(async () => (await sections.count()) < 5, { what: `the section ${tags[0]} by itself` });
  return page.locator(`.opblock[id$="-${operationId}"]`);
}

/** Opens an operation that was not tried out yet, presses "Try it out" and executes it; returns the shown status and text. */
async function tryOut(operationId: string, body?: object): Promise<{ status: string; text: string }> {
  const block = await findOperation(operationId);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  if (body) await block.locator('textarea.body-param__text').fill(JSON.stringify(body));
  await block.locator('.execute').click();
  const answer = block.locator('.live-responses-table .response').first();
  await answer.waitFor();
  const status = await answer.locator('.response-col_status').innerText();
  const text = await answer.locator('.response-col_description').innerText();
  await block.locator('.opblock-summary-control').click();
  return { status: status.trim().split(/\s/)[0] ?? '', text };
}

/** Checks the body that "Try it out" offers. */
async function expectShownExample(operationId: string, example: object): Promise<void> {
  const block = await findOperation(operationId);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  expect(JSON.parse(await block.locator('textarea.body-param__text').inputValue())).toEqual(example);
  await block.locator('.opblock-summary-control').click();
}

describe('the root', () => {
  const root = (accept: string) => fetch(`${platform.baseUrl}/`, { redirect: 'manual', headers: { accept } });

  it('sends browsers to the documentation', async () => {
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
      const { status, headers } = await root(accept);
      expect([status, headers.get('location')]).toEqual([302, 'api/v1/docs']);
    }
  });

  it('returns its address to programs', async () => {
    const answer = await root('application/json');
    expect(answer.status).toBe(200);
    const { info } = await served();
    expect(await answer.json()).toEqual({
      title: info.title,
      version: info.version,
      documentation: 'api/v1/docs',
      openapi: 'api/v1/openapi.json',
    });
  });
});

describe('openapi.json', () => {
  it('is OpenAPI 3.1 and equals the committed one', async () => {
    const document = await served();
    expect(document.openapi).toMatch(/^3\.1\./);
    const committed = JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8'));
    expect(document).toEqual(committed);
  });

  it('has no broken reference, and marks every secured operation', async () => {
    const document = await served();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, target]) => target ?? '');
    expect(references.length).toBeGreaterThan(100);
    const missing = references.filter((target) => {
      const [, , kind = '', name = ''] = target.split('/');
      return !target.startsWith('#/components/') || document.components[kind]?.[name] === undefined;
    });
    expect(missing).toEqual([]);
    const open = Object.entries(document.paths as Record<string, Json>).flatMap(([path, item]) =>
      Object.values(item as Record<string, Json>).flatMap((operation) => (operation.security ? [] : [path])),
    );
    const anonymous = ['healthCheck', 'login', 'login/auth_type', 'login/sso/callback', 'version'].map(
      (path) => `/api/v1/${path}`,
    );
    expect(open.filter((path) => !anonymous.includes(path))).toEqual([]);
  });
});

describe('Swagger UI', () => {
  it('logs in, authorizes and calls a secured operation', async () => {
    await page.goto(`${platform.baseUrl}/`);
    expect(new URL(page.url()).pathname).toBe('/api/v1/docs');
    await page.locator('.opblock').first().waitFor();
    const operations = Object.values((await served()).paths).flatMap((item) => Object.keys(item as object));
    const shown = async () => (await page.locator('.opblock').count()) === operations.length;
    await eventually(shown, { timeoutMs: 180_000, what: `${operations.length} operations on the page` });

    const sections = await page.locator('.opblock-tag').evaluateAll((all) => all.map((one) => one.dataset['tag']));
    expect(sections).toEqual((await served()).tags.map(({ name }: { name: string }) => name));
    await expectShownExample('createWorkspace', { name: 'example-workspace', description: 'Made by an example' });

    const refused = await tryOut('listWorkspaces');
    expect(refused.status).toBe('401');
    expect(refused.text).toContain('AUTH.UNAUTHENTICATED');

    const login = await tryOut('login', { username: platform.username, password: PASSWORD });
    expect(login.status).toBe('200');
    const token = /"token": "([^"]+)"/.exec(login.text)?.[1];
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);

    await page.locator('.auth-wrapper .authorize').first().click();
    const dialog = page.locator('.modal-ux');
    const bearer = dialog.locator('.auth-container').filter({ hasText: 'bearerAuth' });
    await bearer.locator('input').fill(token ?? '');
    await bearer.locator('.authorize').click();
    await dialog.locator('.btn-done').first().click();

    const info = await tryOut('getUserInfo');
    expect(info.status).toBe('200');
    expect(info.text).toContain(`"username": "${platform.username}"`);
    const clusters = await tryOut('listClusters');
    expect(clusters.status).toBe('200');
    expect(errors.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
