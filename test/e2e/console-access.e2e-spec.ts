import type { Browser, Locator, Page } from 'playwright-core';
import { launchChromium } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import { violationsOn } from './harness/accessibility';
import { logIn } from './harness/console';
import { createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const MARKUP = '<img src=x onerror="window.hacked=true">';

let platform: SharedPlatform;
let browser: Browser;
let workspaceId: number;
let anaId: number;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'console-access');
  const admin = await platform.admin();
  ({ workspace_id: workspaceId } = await admin.post('/workspace', { name: 'ledger', description: MARKUP }));
  anaId = await createUser(platform, 'access-ana', 'USER', [platform.tenantId]);
  await createUser(platform, 'access-ben', 'USER', [platform.tenantId]);
  await platform.sql('UPDATE users SET display_name = $1 WHERE user_id = $2', [MARKUP, anaId]);
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

async function pageOf(username: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${platform.baseUrl}/console/`);
  await logIn(page, username);
  return page;
}

/** Gives a permission in place of the one that is held directly. */
async function grant(userId: number, name: string): Promise<void> {
  const admin = await platform.admin();
  const permissions: { permission_id: number; name: string }[] = await admin.get('/workspace/permissions');
  const permission_id = permissions.find((one) => one.name === name)?.permission_id;
  await admin.post(`/ac/workspace/${workspaceId}/user`, { user_id: userId, permission_id });
}

/** Waits for what a screen reader says about why a control cannot be used. */
function says(control: Locator, reason: RegExp): Promise<unknown> {
  return eventually(
    async () => {
      const described = await control.evaluate((element) => [
        element.getAttribute('aria-disabled'),
        element.ownerDocument.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
      ]);
      return described[0] === 'true' && reason.test(described[1] ?? '');
    },
    { timeoutMs: 30_000, what: `a control that says ${reason}` },
  );
}

const open = (page: Page, path: string) => page.goto(`${platform.baseUrl}/console/${path}`);

// Real: the platform, PostgreSQL and a browser. Nothing is left out.
describe('an administrator in the console', () => {
  it('grants a permission, and sees what the user may do and why', async () => {
    const page = await pageOf(platform.username);
    await open(page, `access?workspace=${workspaceId}`);
    await page.getByRole('button', { name: 'Grant access' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByPlaceholder('Type a part of the name').fill('access-a');
    await page.getByRole('option', { name: 'access-ana' }).click();
    await dialog.getByRole('button', { name: 'Grant access' }).click();
    const drawer = page.getByRole('dialog', { name: 'access-ana' });
    await drawer.getByText('Sees files, jobs and their logs').waitFor();
    expect(await drawer.innerText()).toMatch(/VIEW\s+Directly\s+granted by console-access-admin/);
    expect(await violationsOn(page)).toEqual([]);
    await page.close();
  });

  it('sees in the audit log what an update changed, from what to what', async () => {
    const admin = await platform.admin();
    const { workspace_id: id } = await admin.post('/workspace', { name: 'archive', description: 'before' });
    await admin.put(`/workspace?workspace_id=${id}`, { description: MARKUP });
    const page = await pageOf(platform.username);
    await open(page, 'admin/audit?operation=updateWorkspace');
    await page.getByRole('button', { name: 'updateWorkspace' }).first().click();
    const changes = page.getByRole('dialog').getByRole('region', { name: `workspace ${id}` });
    await changes.getByText(MARKUP).waitFor();
    expect(await changes.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Field\s+Before\s+After$/),
      expect.stringMatching(/^description\s+before\s+<img src=x/),
    ]);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await violationsOn(page)).toEqual([]);
    await page.close();
  });

  it('shows names with markup as text', async () => {
    const page = await pageOf(platform.username);
    await open(page, 'admin/users?q=access-ana');
    await page.getByText(MARKUP).waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await violationsOn(page)).toEqual([]);
    await page.close();
  });
});

describe('a user in the console', () => {
  it('reads at an action what it needs, by the keyboard and with a screen reader, and cannot do it', async () => {
    const page = await pageOf('access-ana');
    await open(page, `workspaces/${workspaceId}?tab=jobs`);
    const create = page.getByRole('button', { name: 'New job' });
    const reason =
      /^You need the permission EDIT on ledger; you hold VIEW\. Ask console-access-admin or an administrator/;
    await says(create, reason);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Search by name' }).focus();
    await page.keyboard.press('Tab');
    await page.getByRole('tooltip').getByText(reason).waitFor();
    await page.keyboard.press('Enter');

    await open(page, 'workspaces');
    await page.getByRole('button', { name: /ledger$/ }).click();
    const disable = page.getByRole('menuitem', { name: 'Disable' });
    await disable.getByText(reason).waitFor();
    expect(await disable.getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await disable.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count()).toBe(0);
    // An open menu stands outside of the landmarks.
    expect((await violationsOn(page)).filter((violation) => !violation.startsWith('region:'))).toEqual([]);

    await open(page, 'clusters');
    await says(
      page.getByRole('button', { name: 'New cluster' }),
      /^You need the role CAN MANAGE CLUSTER or ADMIN\. Ask/,
    );
    await page.close();
  });

  it('reads what they may do, where it comes from, and whom to ask', async () => {
    const page = await pageOf('access-ana');
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'What may I do?' }).click();
    await page.getByText('USER, held directly').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'ledger' });
    await row.getByText('Directly, granted by console-access-admin').waitFor();
    await row.getByText('console-access-admin', { exact: true }).waitFor();
    expect(await row.innerText()).toContain('Sees files, jobs and their logs');
    expect(await violationsOn(page)).toEqual([]);
    await page.close();
  });

  it('is refused, reads why and who can help, and an administrator finds the request in the audit log', async () => {
    const admin = await pageOf(platform.username);
    await grant(anaId, 'MANAGE');
    const page = await pageOf('access-ana');
    await open(page, `access?workspace=${workspaceId}&holder=${anaId}`);
    const held = page.getByRole('radiogroup', { name: 'Held directly' });
    await held.getByText('EDIT').waitFor();
    // The page learns that the permission has gone when it is refused.
    await grant(anaId, 'VIEW');
    await held.getByText('EDIT').click();
    const why = page.getByRole('region', { name: 'Why can’t I?' });
    await why.getByText('MANAGE on ledger').waitFor();
    expect(await why.innerText()).toMatch(/You hold\s+VIEW directly/);
    await page
      .getByText(/^You need the permission MANAGE on ledger; you hold VIEW/)
      .first()
      .waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const alert = await page.getByRole('alert').innerText();
    const [, correlationId = ''] = /Correlation id\s+(\S+)/.exec(alert) ?? [];

    await open(admin, `admin/audit?correlation=${correlationId}`);
    await admin.getByRole('button', { name: 'assignWorkspaceUserPermission' }).click();
    const event = admin.getByRole('dialog');
    await event.getByText('WORKSPACE.PERMISSION_REQUIRED').waitFor();
    expect(await event.innerText()).toContain('access-ana');
    expect(await violationsOn(admin)).toEqual([]);
    await Promise.all([admin.close(), page.close()]);
  });

  it('reads which role a screen needs', async () => {
    const page = await pageOf('access-ben');
    await open(page, 'admin/users');
    const why = page.getByRole('region', { name: 'Why can’t I?' });
    await why.getByText('Administrators of the tenant').waitFor();
    expect(await why.innerText()).toMatch(/You hold\s+USER/);
    await page.close();
  });
});
