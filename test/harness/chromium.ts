import type { Page } from 'playwright-core';

export { launchChromium } from '../../scripts/embedded/chromium.mjs';

/** Returns the errors of the page's scripts and console, as they come. */
export function errorsOf(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}
