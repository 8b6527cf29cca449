import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { launchChromium } from '../embedded/chromium.mjs';
import { logInToConsole } from '../embedded/console-login.mjs';
import { measure } from './comparison.mjs';
import { percentile } from './percentile.mjs';
import { copyLatestRun } from './run-copies.mjs';

const RUNS = 100_000;
const LOG_BYTES = 2 ** 30;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const VIEWPORT = { width: 1440, height: 900 };
const DEADLINE_MS = 60_000;
/** A page has drawn its largest part when nothing larger came for this time. */
const SETTLED_MS = 1_500;
const SCROLL_SECONDS = 10;
/** Deadline of reading all pages of the runs. */
const ALL_PAGES_MS = 300_000;
const PAUSE_MS = 20;
/** Runs in the page. Resolves with the milliseconds from the navigation to the largest paint so far. */
const PAINT_SCRIPT = `new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime));
  observer.observe({ type: 'largest-contentful-paint', buffered: true });
})`;
/** The last line of the large log, which no other line contains. */
const LAST_LINE = 'The last line of a gigabyte';

/**
 * @typedef {import('./comparison.mjs').Result} Result
 * @typedef {import('playwright-core').Page} Page
 */

/**
 * Measures the console in a browser on this machine: its first screen, a list of 100,000 runs, and a log of a gigabyte.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {{only: readonly string[], rounds: number}} options
 * @returns {Promise<Result[]>}
 */
export async function measureConsole(platform, { only, rounds }) {
  if (!only.includes('console')) return [];
  if ((await platform.cluster()).cluster_status !== 'RUNNING') await platform.startCluster();
  const { id: runId } = await platform.runJob();
  platform.print(`Filling the workspace with ${RUNS} runs, and a log with a gigabyte`);
  const client = new pg.Client({ connectionString: platform.postgres.url });
  await client.connect();
  try {
    await copyLatestRun(client, RUNS, 'DONE');
  } finally {
    await client.end();
  }
  writeLargeLog(fileOfLog(join(platform.folder, 'data', 'logs'), runId));
  const browser = await launchChromium();
  try {
    const address = `${platform.session.baseUrl}/console/`;
    const first = await measureFirstScreens(browser, platform, address, rounds);
    const page = await loggedIn(browser, platform, address);
    return [
      ...first,
      ...(await measureRuns(page, address)),
      ...(await measureLog(page, address, platform, runId, rounds)),
    ];
  } finally {
    await browser.close();
  }
}

/** @param {string} folder of the logs @param {number} runId @returns {string} the file with what a run printed */
function fileOfLog(folder, runId) {
  const end = join('run', String(runId % 1_000).padStart(3, '0'), String(runId), 'stdout');
  const name = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((each) => each === end);
  if (name === undefined) throw new Error(`The run ${runId} has no log in ${folder}.`);
  return join(folder, name);
}

/** @param {string} file */
function writeLargeLog(file) {
  const lines = Array.from({ length: 10_000 }, (_, at) => {
    const task = String(at).padStart(5, '0');
    return `26/11/28 09:00:00 INFO TaskSetManager: Finished task ${task} in stage 3.0 (TID ${task}) in 118 ms on node-1 (executor 2)\n`;
  });
  const part = Buffer.from(lines.join(''));
  const descriptor = openSync(file, 'w');
  try {
    for (let written = 0; written < LOG_BYTES; written += part.length) writeSync(descriptor, part);
    writeSync(descriptor, `${LAST_LINE}\n`);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {string} address
 * @returns {Promise<Page>} with a cache of its own
 */
async function loggedIn(browser, { administrator }, address) {
  const page = await browser.newPage({ viewport: VIEWPORT });
  page.setDefaultTimeout(DEADLINE_MS);
  await page.goto(address);
  await logInToConsole(page, administrator);
  return page;
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {string} address
 * @param {number} rounds
 * @returns {Promise<Result[]>}
 */
async function measureFirstScreens(browser, platform, address, rounds) {
  /** @type {number[]} */
  const cold = [];
  /** @type {number[]} */
  const warm = [];
  let scripts = 0;
  for (let round = 0; round < rounds; round += 1) {
    const page = await loggedIn(browser, platform, address);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    cold.push(await largestPaint(page, `${address}runs`));
    scripts = await scriptBytes(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: false });
    await page.goto(`${address}runs`);
    warm.push(await largestPaint(page, `${address}runs`));
    await page.context().close();
  }
  return [
    figure('console-scripts', 'JavaScript of the first screen, compressed', 'KiB', 220, scripts / KIB),
    figure('console-cold', `largest paint of ${RUNS} runs, nothing cached: median`, 's', 1, percentile(cold, 0.5)),
    figure('console-warm', `largest paint of ${RUNS} runs, files cached: median`, 's', 1, percentile(warm, 0.5)),
  ];
}

/** @param {Page} page @param {string} address @returns {Promise<number>} seconds from the navigation */
async function largestPaint(page, address) {
  await page.goto(address);
  await page.getByRole('row').nth(10).waitFor();
  await page.waitForTimeout(SETTLED_MS);
  const ms = await page.evaluate(PAINT_SCRIPT);
  return Number(ms) / 1_000;
}

/** @param {Page} page @returns {Promise<number>} bytes of all scripts that it has loaded, as they were sent */
function scriptBytes(page) {
  return page.evaluate(() => {
    let sum = 0;
    for (const entry of performance.getEntriesByType('resource'))
      if (entry instanceof PerformanceResourceTiming && /\.js$/.test(new URL(entry.name).pathname))
        sum += entry.encodedBodySize;
    return sum;
  });
}

/** @param {Page} page @param {string} address @returns {Promise<Result[]>} */
async function measureRuns(page, address) {
  await page.goto(`${address}runs`);
  const table = page.getByRole('table');
  await table.getByRole('row').nth(10).waitFor();
  const frames = await table.evaluate(scrollFor, SCROLL_SECONDS);
  const heap = await heapAtTheEnd(page, table);
  return [
    figure(
      'console-scroll',
      `${RUNS} runs are scrolled for ${SCROLL_SECONDS} s: 95 of 100 frames take`,
      'ms',
      20,
      percentile(frames, 0.95),
    ),
    figure('console-scroll-heap', `memory of scripts at the end of ${RUNS} runs`, 'MiB', 60, heap / MIB),
  ];
}

/** Scrolls through all pages. @param {Page} page @param {import('playwright-core').Locator} table */
async function heapAtTheEnd(page, table) {
  const last = table.locator(`[role=row][aria-rowindex="${RUNS}"]`);
  const deadline = performance.now() + ALL_PAGES_MS;
  while ((await last.count()) === 0) {
    if (performance.now() > deadline)
      throw new Error(`The last of ${RUNS} runs was not reached in ${ALL_PAGES_MS} ms.`);
    await table.evaluate((/** @type {any} */ element) => (element.scrollTop = element.scrollHeight));
    await page.waitForTimeout(PAUSE_MS);
  }
  return heapBytes(page);
}

/**
 * Scrolls the table in each frame; runs in the page.
 * @param {any} table element
 * @param {number} seconds
 * @returns {Promise<number[]>} milliseconds of each frame
 */
function scrollFor(table, seconds) {
  const { requestAnimationFrame } = /** @type {any} */ (globalThis);
  return new Promise((resolve) => {
    /** @type {number[]} */
    const frames = [];
    const begun = performance.now();
    let before = begun;
    /** @param {number} now */
    const next = (now) => {
      frames.push(now - before);
      before = now;
      table.scrollTop += 400;
      if (now - begun < seconds * 1_000) requestAnimationFrame(next);
      else resolve(frames.slice(1));
    };
    requestAnimationFrame(next);
  });
}

/** @param {Page} page @returns {Promise<number>} bytes that its scripts hold after a collection of garbage */
async function heapBytes(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/**
 * @param {Page} page
 * @param {string} address
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {number} runId
 * @param {number} rounds
 * @returns {Promise<Result[]>}
 */
async function measureLog(page, address, { workspaceId }, runId, rounds) {
  const log = page.getByRole('log');
  /** @type {number[]} */
  const seconds = [];
  /** @type {number[]} */
  const jumps = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.goto('about:blank');
    const begun = performance.now();
    await page.goto(`${address}runs/${workspaceId}/${runId}?stream=stdout`);
    await log.getByText(LAST_LINE).waitFor();
    seconds.push((performance.now() - begun) / 1_000);
    const jumped = performance.now();
    await page.getByRole('button', { name: 'To the start' }).click();
    await log.getByText('Finished task 00000').first().waitFor();
    jumps.push((performance.now() - jumped) / 1_000);
  }
  return [
    figure('console-log', 'navigation to the last line of a log of 1 GiB: median', 's', 1, percentile(seconds, 0.5)),
    figure('console-log-jump', 'from its end to its first line: median', 's', 0.5, percentile(jumps, 0.5)),
    figure('console-log-heap', 'memory of scripts with that log', 'MiB', 60, (await heapBytes(page)) / MIB),
  ];
}

/** @param {string} name @param {string} title @param {string} unit @param {number} below @param {number} value */
function figure(name, title, unit, below, value) {
  return measure({ name, title, unit, goal: { below }, value });
}
