import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import { expectAccessible } from './harness/accessibility';
import type { ApiClient } from './harness/api-client';
import { logIn } from './harness/console';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { code, NotebookDesk } from './harness/notebooks';
import { SharedPlatform } from './harness/shared-platform';

const MARKUP = '<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>';
/** An output that tries to get out of its frame, and then writes the result. */
const HOSTILE = `<table><tr><th>region</th></tr><tr><td>north</td></tr></table><script>
const tried = [];
for (const attempt of [() => parent.document.title, () => localStorage.length, () => document.cookie])
  try { attempt(); tried.push('reached'); } catch (error) { tried.push(error.name); }
try { top.location = 'about:blank'; tried.push('sent'); } catch (error) { tried.push(error.name); }
fetch('/api/v1/user/info').then(() => tried.push('fetched'), () => tried.push('kept')).then(() => {
  document.body.append(tried.join(' '));
});
</script>`;
const SHOWS = `from IPython.display import HTML, Markdown, SVG, display
import sys
display(HTML(${JSON.stringify(HOSTILE)}))
display(Markdown(${JSON.stringify(`**fine** [link](javascript:window.hacked=true) ${MARKUP}`)}))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>window.hacked=true</script></svg>'))
display({"image/png": '"><script>window.hacked=true</script>', "text/plain": "no picture"}, raw=True)
for part in range(3):
    print(f"\\r{part + 1} of 3", end="", flush=True)
print("\\n\\x1b[31mred\\x1b[0m " + ${JSON.stringify(MARKUP)})`;

/** A cell that goes on each time it is interrupted, so that no time decides what it has printed. */
const WAITS = `import time
def wait(text):
    try:
        print(text, flush=True)
        while True:
            time.sleep(0.05)
    except KeyboardInterrupt:
        pass
wait("waits")
wait("ran alone")
print("goes on")`;

let platform: SharedPlatform;
let admin: ApiClient;
let desk: NotebookDesk;
let browser: Browser;
let page: Page;
let confId: number;

beforeAll(async () => {
  [platform, browser] = await Promise.all([SharedPlatform.join('e2e', 'console-notebooks'), launchChromium()]);
  admin = await platform.admin();
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  const clusterId = await createCluster(admin, estate, 'small');
  await startCluster(admin, clusterId);
  desk = await NotebookDesk.open(admin, clusterId, 'research');
  confId = await desk.describe('hostile', 'python3', [
    { cell_uuid: 'text', cell_type: 'markdown', code: `# Regions\n\n${MARKUP}`, output: [] },
    code('shows', SHOWS),
    code('fails', 'total = {}\ntotal["amount"]'),
  ]);
  page = await openConsole();
});

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

async function openConsole(): Promise<Page> {
  const opened = await browser.newPage({
    viewport: { width: 1280, height: 1400 },
    reducedMotion: 'reduce',
  });
  opened.setDefaultTimeout(120_000);
  await opened.goto(`${platform.baseUrl}/console/`);
  await logIn(opened, platform.username);
  return opened;
}

const cell = (number: number) => page.getByRole('region', { name: new RegExp(`^Cell ${number} of`) });
const outputsOf = (number: number) => cell(number).getByRole('group', { name: `Outputs of cell ${number}` });
const source = (number: number) => page.getByRole('textbox', { name: `Source of cell ${number}` });

/** Writes where the cursor is: once the editor has the focus, and with the Enter of a text as a part of it. */
async function write(number: number, text: string): Promise<void> {
  await source(number).and(page.locator(':focus')).waitFor();
  await page.keyboard.insertText(text);
}

async function keptCells(): Promise<{ cell_uuid: string; code: string; output: object[] }[]> {
  const { notebook_cells: kept } = await admin.get(`${desk.path}/notebook/conf`, { notebook_conf_id: confId });
  return kept.cells;
}
const sourcesOf = async () => (await keptCells()).map((one) => one.code);

// Real: the platform, a kernel with Spark, and a browser. Nothing is left out.
describe('a notebook in the console', () => {
  it('is found in the list, and starts a kernel when it is run', async () => {
    await page.getByRole('link', { name: 'Notebooks' }).click();
    await page.getByRole('link', { name: 'hostile' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'hostile' }).click();
    await cell(2).waitFor();
    await page.getByRole('button', { name: 'Run all' }).click();
    await cell(3).getByRole('alert').getByText('KeyError').first().waitFor();
    await page.getByRole('status').getByText('Idle').waitFor();
  });

  it('shows what a job has made of markup, and lets nothing of it out', async () => {
    const outputs = outputsOf(2);
    const frame = outputs.frameLocator('iframe');
    await frame.getByText('north').waitFor();
    const tried = frame.getByText('SecurityError SecurityError SecurityError SecurityError kept');
    await tried.waitFor();
    // Its scripts are executed once: executed again in the dark, these would fail, and their result would be gone.
    await expectAccessible(page);
    await frame.locator('html[data-scheme=light]').waitFor();
    await tried.waitFor();
    expect(await outputs.locator('img').getAttribute('src')).toContain('data:image/svg+xml');
    await outputs.getByText('3 of 3').waitFor();
    await outputs.getByText('no picture').waitFor();
    expect(await outputs.innerText()).toContain(`red ${MARKUP}`);
    await cell(1).getByRole('heading', { name: 'Regions' }).waitFor();
    expect(await cell(1).innerText()).toContain(MARKUP);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('main script, main a[href^="javascript"]').count()).toBe(0);
    expect(new URL(page.url()).pathname).toContain('/console/notebooks/');
  });

  it('is written by the keyboard, completed by its kernel, and run on', async () => {
    await cell(3).focus();
    await page.keyboard.press('b');
    await write(4, 'prin');
    const option = page.getByRole('option', { name: /^print( \w+)?$/ });
    // A kernel on a busy machine may answer too late, and one presses the key again.
    const isOffered = async () => {
      await page.keyboard.press('Tab');
      return option.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      );
    };
    await eventually(isOffered, { timeoutMs: 110_000, what: 'a completion' });
    await option.click();
    await write(4, '(spark.range(5).count() * 100)');
    await page.keyboard.press('Shift+Enter');
    await outputsOf(4).getByText('500', { exact: true }).waitFor();
    // The last cell is followed by a new one.
    await eventually(async () => (await sourcesOf()).length === 5, { what: 'a fifth cell' });
    expect((await sourcesOf())[3]).toBe('print(spark.range(5).count() * 100)');
  });

  it('keeps the cells of two people, and says what the other changed', async () => {
    const cells = await keptCells();
    let send = () => {};
    const sent = new Promise<void>((resolve) => (send = resolve));
    // The page saves what is typed here after the change of the other, of which it knows nothing.
    await page.route('**/notebook/*/update?*', async (route) => {
      await sent;
      await route.continue();
    });
    await source(3).click();
    await page.keyboard.press('Control+End');
    await write(3, '\n# mine');
    const theirs = cells.map((one) => (one.cell_uuid === 'shows' ? { ...one, code: '1 + 1' } : one));
    await admin.post(`${desk.path}/notebook/${confId}/update`, { cells: [...theirs, code('theirs', '# new')] }, 201);
    send();
    await page.getByText('has changed this notebook').waitFor();
    await eventually(async () => {
      const sources = await sourcesOf();
      return ['1 + 1', '# new', 'total = {}\ntotal["amount"]\n# mine'].every((one) => sources.includes(one));
    });
    await page.unroute('**/notebook/*/update?*');
    await page.getByText('1 cell added, 1 cell edited.').waitFor();
    await expectAccessible(page);
  });

  it('has what ran while no browser was open, and follows what still runs', async () => {
    await page.getByRole('button', { name: 'Add a code cell at place 1', exact: true }).focus();
    await page.keyboard.press('Enter');
    await write(1, WAITS);
    await page.keyboard.press('Control+Enter');
    await outputsOf(1).getByText('waits', { exact: true }).waitFor();
    await page.close();
    await interruptKernel();
    await eventually(async () => JSON.stringify((await keptCells())[0]?.output).includes('ran alone'), {
      what: 'the output of a cell without a browser',
    });
    page = await openConsole();
    await page.goto(`${platform.baseUrl}/console/notebooks/${desk.path.split('/').at(-1)}/${confId}`);
    await outputsOf(1).getByText('ran alone').waitFor();
    await cell(1).getByRole('img', { name: 'Runs' }).waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await outputsOf(1).getByText('goes on').waitFor();
    await cell(1).getByRole('button', { name: 'Run cell' }).waitFor();
    await page.getByRole('status').getByText('Idle').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Stop kernel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop kernel' }).click();
    await page.getByRole('status').getByText('Ended', { exact: true }).waitFor();
    await expectAccessible(page);
  });
});

async function interruptKernel(): Promise<void> {
  const { data } = await admin.get(`${desk.path}/notebooks`, { notebook_conf_ids: confId });
  await admin.post(`${desk.path}/notebook/${data[0].notebook_id}/kernel/interrupt`, {}, 201);
}
