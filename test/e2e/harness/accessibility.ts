import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { eventually } from '../../harness/eventually';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Resolves when all movements have ended but those that never end. The page's policy forbids to wait for a text that it evaluates. */
const STILL = `Promise.allSettled(document.getAnimations()
  .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
  .map((animation) => animation.finished))`;

/** Returns the rules of WCAG 2.2 AA and of good practice that the page breaks, with their elements and how to mend them. */
export async function violationsOn(page: Page): Promise<string[]> {
  // Drawers and dialogs are measured when they have stopped moving.
  await page.evaluate(STILL);
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const found = await axe.run();
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} (${failureSummary})`).join(' | ')}`,
    );
  });
}

/** Checks the screen in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    let found: string[] = [];
    // Until the page is drawn again, some of its colours are of the other scheme.
    await eventually(async () => (found = await violationsOn(page)).length === 0, {
      timeoutMs: 5_000,
      what: 'a screen for all',
    }).catch(() => undefined);
    expect(found).toEqual([]);
  }
}
