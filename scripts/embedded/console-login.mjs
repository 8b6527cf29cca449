/**
 * Logs in on the screen of the console that asks for it, and resolves when the console is there.
 * @param {import('playwright-core').Page} page
 * @param {{username: string, password: string}} account
 */
export async function logInToConsole(page, { username, password }) {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
}
