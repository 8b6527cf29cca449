import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { errorsOf, launchChromium } from '../harness/chromium';
import type { Json } from './harness/api-client';
import { PASSWORD } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

let platform: SharedPlatform;
let browser: Browser;
let page: Page;
let errors: string[];

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'swagger');
  browser = await launchChromium();
  page = await browser.newPage({ viewport: { width: 1280, height: 4_000 } });
  page.setDefaultTimeout(180_000);
  errors = errorsOf(page);
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

const served = async (): Promise<Json> => (await fetch(`${platform.baseUrl}/api/v1/openapi.json`)).json();

/** Filters the page by the id of the operation, which leaves its section open. */
async function findOperation(operationId: string) {
  await page.locator('.operation-filter-input').fill(operationId);
  const block = page.locator(`.opblock[id$="-${operationId}"]`);
  await block.waitFor();
  return block;
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

  it('sends browsers to the console', async () => {
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
      const { status, headers } = await root(accept);
      expect([status, headers.get('location')]).toEqual([302, 'console/']);
    }
  });

  it('returns its address to programs', async () => {
    const answer = await root('application/json');
    expect(answer.status).toBe(200);
    const { info } = await served();
    expect(await answer.json()).toEqual({
      title: info.title,
      version: info.version,
      console: 'console/',
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
    const anonymous = ['/healthCheck', '/login', '/login/auth_type', '/login/sso/callback', '/version'];
    expect(open.filter((path) => !anonymous.includes(path))).toEqual([]);
  });
});

describe('the files of the documentation', () => {
  const get = (path: string, headers: Record<string, string>) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request(`${platform.baseUrl}/api/v1/${path}`, { headers }, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer));
      })
        .once('error', reject)
        .end();
    });

  it.each([
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['identity', undefined],
    ['zstd', undefined],
  ])('are sent as a client accepts them: %s', async (accepted, encoding) => {
    const { statusCode, headers } = await get('openapi.json', { 'accept-encoding': accepted });
    expect([statusCode, headers['content-encoding'], headers['vary']]).toEqual([200, encoding, 'Accept-Encoding']);
  });

  it('are sent again only if they have changed', async () => {
    const { headers } = await get('openapi.json', {});
    expect(headers['cache-control']).toBe('no-cache');
    const again = await get('openapi.json', { 'if-none-match': headers.etag ?? '' });
    expect(again.statusCode).toBe(304);
    const html = await (await fetch(`${platform.baseUrl}/api/v1/docs`)).text();
    const files = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files).toHaveLength(4);
    for (const path of files) {
      const file = await get(path, {});
      expect([file.statusCode, file.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
  });

  it.each([
    'docs/0123456789abcdef/swagger-ui.css',
    'docs/0123456789abcdef/package.json',
    'docs/constructor/constructor',
  ])('are only those of the page: %s', async (path) => expect((await get(path, {})).statusCode).toBe(404));
});

describe('Swagger UI', () => {
  it('logs in, authorizes and calls a secured operation', async () => {
    await page.goto(`${platform.baseUrl}/api/v1/docs`);
    const { tags } = await served();
    // The page renders only the sections in view, one after the other.
    await page
      .locator('.opblock-tag')
      .nth(tags.length - 1)
      .waitFor();
    const sections = await page.locator('.opblock-tag').evaluateAll((all) => all.map((one) => one.dataset['tag']));
    expect(sections).toEqual(tags.map(({ name }: { name: string }) => name));
    expect(await page.locator('.opblock').count()).toBe(0);
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

  it.each(['START cluster', '/cluster/start', 'startCluster'])('finds an operation by "%s"', async (phrase) => {
    await page.locator('.operation-filter-input').fill(phrase);
    await page.locator('.opblock[id$="-startCluster"]').waitFor();
    expect(await page.locator('.opblock-tag').count()).toBeLessThan(5);
  });
});
