import type { Page } from 'playwright-core';
import { logInToConsole } from '../../../scripts/embedded/console-login.mjs';
import { PASSWORD } from './people';

/** Logs in with the password of all people of the tests. */
export function logIn(page: Page, username: string): Promise<void> {
  return logInToConsole(page, { username, password: PASSWORD });
}
