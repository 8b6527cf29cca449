import type { Page } from 'playwright-core';
import { PASSWORD } from './people';

/** Logs in on the screen that asks for it, and returns when the console is there. */
export async function logIn(page: Page, username: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}
