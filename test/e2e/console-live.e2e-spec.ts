import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { launchChromium } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { logIn } from './harness/console';
import { createUser } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const WAITING = 'import time\nprint("waits", flush=True)\ntime.sleep(600)\n';
/** Without events, a screen asks for a run every 1.5 s; beside events, every 30 s. */
const QUIET_MS = 5_000;
/** Far less than the time between two polls. */
const SHOWN_MS = 10_000;

let platform: SharedPlatform;
let browser: Browser;
let context: BrowserContext;
let desk: JobDesk;
let clusterId: number;
let userId: number;

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console-live'), launchChromium()]);
  const admin = await platform.admin();
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  clusterId = await createCluster(admin, estate, 'live');
  await startCluster(admin, clusterId);
  desk = await JobDesk.open(admin, 'live');
  await desk.upload('wait.py', WAITING);
  userId = await createUser(platform, 'live-ada', 'ADMIN', [platform.tenantId]);
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(60_000);
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

/** Requests of pages for the stream of events that have not ended. */
class Streams {
  readonly open = new Set<Request>();

  watch(page: Page): void {
    const ends = (request: Request) => void this.open.delete(request);
    page.on('response', (response) => {
      if (isForEvents(response.request()) && response.ok()) this.open.add(response.request());
    });
    page.on('requestfinished', ends).on('requestfailed', ends);
  }
}

const isForEvents = (request: Request) => new URL(request.url()).pathname === '/api/v1/events';
const streams = new Streams();

async function newPage(path: string): Promise<Page> {
  const page = await context.newPage();
  streams.watch(page);
  await page.goto(`${platform.baseUrl}/console/${path}`);
  return page;
}

// Real: the platform, Spark and a browser. Nothing is left out.
describe('the console beside the stream of events', () => {
  let first: Page;
  let second: Page;

  it('shows the states of a run as they change, without asking for them', async () => {
    const runId = await desk.start(clusterId, 'waits', { job_type: 'Python3', command: 'wait.py' });
    await desk.reached(runId, ['RUNNING']);
    first = await newPage(`runs/${desk.workspaceId}/${runId}`);
    await logIn(first, 'live-ada');
    await first.getByText('Running', { exact: true }).first().waitFor();
    await eventually(() => streams.open.size === 1, { what: 'a stream of events' });
    // The page reads once more what may have happened before the stream.
    await first.waitForTimeout(2_000);
    const asked: string[] = [];
    first.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await first.waitForTimeout(QUIET_MS);
    expect(asked.filter((path) => path.endsWith(`/spark/job/${runId}`))).toEqual([]);
    await desk.kill(runId);
    await first.getByText('Stopped', { exact: true }).first().waitFor({ timeout: SHOWN_MS });
  });

  it('has one stream for all pages, which passes to another one when its page is closed', async () => {
    second = await newPage('runs');
    await second.getByRole('row').filter({ hasText: 'waits' }).waitFor();
    await second.waitForTimeout(2_000);
    expect(streams.open.size).toBe(1);
    await first.close();
    streams.open.clear();
    await eventually(() => streams.open.size === 1, { what: 'a stream of the other page' });
    await second.waitForTimeout(2_000);
    await desk.start(clusterId, 'newest', { job_type: 'Python3', command: 'wait.py' });
    await second.getByRole('row').filter({ hasText: 'newest' }).waitFor({ timeout: SHOWN_MS });
  });

  it('ends the stream with the session, and asks for a login when the session is ended elsewhere', async () => {
    await second.getByRole('button', { name: /^Your account/ }).click();
    await second.getByRole('menuitem', { name: 'Log out', exact: true }).click();
    await second.getByLabel('User name').waitFor();
    await eventually(() => streams.open.size === 0, { what: 'the end of the stream' });
    await logIn(second, 'live-ada');
    await eventually(() => streams.open.size === 1, { what: 'a stream of the new session' });
    await platform.sql('DELETE FROM sessions WHERE user_id = $1', [userId]);
    await second.getByLabel('User name').waitFor({ timeout: SHOWN_MS });
    expect(streams.open.size).toBe(0);
  });
});
