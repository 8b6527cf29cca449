import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ApiClient, Json } from './harness/api-client';
import { FakeUnity, fakeUnityTable } from '../fakes/metastores/fake-unity';
import { launchChromium } from '../harness/chromium';
import { expectAccessible } from './harness/accessibility';
import { logIn } from './harness/console';
import { clusterBody, createCluster, describeEstate, type Estate, startCluster } from './harness/estate';
import { runGuide } from './harness/guide';
import { createUser, PASSWORD } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const ROOT = join(__dirname, '..', '..');
const PYTHON = process.env['TEST_PYTHON_SDK'] ?? '';
const LIMIT_MS = 240_000;
/** The names that the quickstart gives, by which the page is written. The page has the workspace for itself. */
const PAGE_WORKSPACE = 'demo';
const WORKSPACE = 'sdk';
const CLUSTER = 'demo-spark-3.5.9';

interface Ended {
  code: number | string | null;
  stdout: string;
  stderr: string;
}

// Real: the wheel of the SDK, installed in a folder of its own, the built platform and Spark. Stand-in: Unity Catalog. The answers
// that are lost have arrived at the client's transport, which drops them.
describe('the Python SDK', () => {
  let platform: SharedPlatform;
  let admin: ApiClient;
  let estate: Estate;
  let unity: FakeUnity;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let page: Promise<void>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'python-sdk-'));
    unity = await FakeUnity.start({
      token: 'unity-token',
      catalogs: {
        main: { schemas: { crm: { tables: [fakeUnityTable('customers', 3), fakeUnityTable('orders', 1)] } } },
      },
    });
    platform = await SharedPlatform.join('e2e', 'python-sdk');
    admin = await platform.admin();
    await Promise.all([installSdk(), startPlatform()]);
    // Most of its time is that of runs that start, so the other tests go on meanwhile.
    page = runGuide('sdk-python.md', folder, { ...env, MSP_WORKSPACE: PAGE_WORKSPACE });
    page.catch(() => {});
  });

  afterAll(async () => {
    await page?.catch(() => {});
    await platform?.close();
    await unity?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Builds the wheel from a copy of the sources, which needs no file of the repository besides, and installs it. */
  async function installSdk(): Promise<void> {
    const source = join(folder, 'source');
    const isSource = (path: string) => !/\/(_generated|_sync|dist|__pycache__)$/.test(path);
    cpSync(join(ROOT, 'sdk', 'python'), source, { recursive: true, filter: isSource });
    copyFileSync(join(ROOT, 'openapi.json'), join(source, 'openapi.json'));
    await python(source, '-m', 'hatchling', 'build', '-t', 'wheel');
    const [wheel = ''] = readdirSync(join(source, 'dist'));
    const site = join(folder, 'site');
    const options = ['-q', '--no-deps', '--no-index', '--target', site];
    const pip = ['-m', 'pip', '--python', PYTHON, 'install', ...options, join('dist', wheel)];
    const { code, stderr } = await ended(platform.runtime.python, pip, { cwd: source, env: process.env });
    if (code !== 0) throw new Error(`pip ended with ${code}:\n${stderr}`);
    env = {
      PATH: [join(site, 'bin'), dirname(PYTHON), process.env['PATH']].join(':'),
      HOME: folder,
      PYTHONPATH: site,
      MSP_URL: platform.baseUrl,
      MSP_USERNAME: platform.username,
      MSP_PASSWORD: PASSWORD,
      MSP_TENANT: platform.tenantId,
      MSP_WORKSPACE: WORKSPACE,
      MSP_CLUSTER: CLUSTER,
    };
  }

  async function startPlatform(): Promise<void> {
    estate = await describeEstate(admin, platform.runtime.sparkVersion);
    for (const name of [WORKSPACE, PAGE_WORKSPACE]) await admin.post('/workspace', { name });
    await startCluster(admin, await createCluster(admin, estate, CLUSTER));
  }

  /** Describes a catalog that the administrator can browse; returns its id. */
  async function createCatalog(): Promise<number> {
    const catalog = { name: 'lake', endpoint: unity.url, default_catalog: 'main', storage_path: 's3://lake/unity' };
    const { metastore_catalog_id: id } = await admin.post('/metastore/catalog/unity', catalog);
    const secret = { name: 'unity', secret_type: 'DATABRICKS UNITY TOKEN', token: 'unity-token' };
    const { tenant_secret_id } = await admin.post('/tenant/secret', secret);
    const attached = { metastore_catalog_id: Number(id), metastore_secrets_tenant_id: Number(tenant_secret_id) };
    await admin.post('/metastore/catalog/secret/tenant', attached);
    return Number(id);
  }

  /** Runs Python; throws with its output if it fails. */
  async function python(cwd: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await ended(PYTHON, args, { cwd, env: env ?? process.env });
    if (code !== 0) throw new Error(`python ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  async function used(part: string, ...given: unknown[]): Promise<Json> {
    const args = [part, WORKSPACE, CLUSTER, ...given.map((value) => JSON.stringify(value))];
    return JSON.parse(await python(folder, join(__dirname, 'harness', 'python_sdk.py'), ...args));
  }

  /** Runs the installed command line. */
  const msp = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    ended(join(folder, 'site', 'bin', 'msp'), args, { cwd: folder, env: { ...env, ...more } });

  it('passes its own tests, which need no platform, and its types hold', async () => {
    const source = join(folder, 'source');
    // These decisions of the Airflow provider need no Airflow.
    const airflow = await python(join(ROOT, 'sdk', 'airflow'), '-m', 'pytest', '-q', '-p', 'no:cacheprovider');
    expect(airflow).toMatch(/\d+ passed in/);
    const [tests, types] = await Promise.all([
      python(source, '-m', 'pytest', '-q', '-p', 'no:cacheprovider'),
      python(source, '-m', 'mypy'),
    ]);
    expect(tests).toMatch(/\d+ passed in/);
    expect(tests).not.toMatch(/skipped|failed/);
    expect(types).toContain('no issues found');
  });

  it('runs a job once though answers are lost, and follows it over a broken connection', async () => {
    const seen = await used('jobs');
    expect(seen).toMatchObject({ lines: ['one', 'two words', 'é'], status: 'DONE', to_date: null, is_int: true });
    expect(seen.lost).toEqual(['files', 'job']);
    expect(seen.received).toBeGreaterThan(0);
    expect(seen.offsets.slice(0, 2)).toEqual([0, seen.received]);
    expect(seen.runs).toBe(1);
  });

  it('executes cells, keeps records, takes a cluster from its creation to its end and browses a catalog, with asyncio', async () => {
    expect(await used('sessions', clusterBody(estate, 'made-here'), await createCatalog())).toEqual({
      notebook: [[], true, 'hello\n', '499500', 'KeyError'],
      records: ['hello', ['a.txt'], ['sdk-token'], []],
      life: [[true, true], expect.arrayContaining(['INITIATING']), ['RUNNING'], ['made-here'], 'DESTROYED'],
      catalogs: [['lake'], ['crm'], ['customers', 'orders'], 3],
    });
  });

  it('has a command line whose exit codes name the outcome', async () => {
    writeFileSync(join(folder, 'waits.py'), 'import time\nprint("begun", flush=True)\ntime.sleep(600)\n');
    const submitted = await msp(['run', 'waits.py', '--driver-memory', '512m', '--json']);
    const [{ id }] = JSON.parse(submitted.stdout) as [{ id: number }];
    const late = await msp(['logs', String(id), '-f', '--timeout', '1']);
    const [followed, killed] = await Promise.all([
      msp(['logs', String(id), '-f']),
      msp(['job', 'kill', String(id), '--wait']),
    ]);
    expect([submitted.code, late.code, followed.code, killed.code]).toEqual([0, 124, 3, 0]);
    const outcomes = await Promise.all([
      msp(['job', 'list', '-n', '1', '--json']),
      msp(['cluster', 'start', CLUSTER]),
      msp(['job', 'list', '-w', 'none']),
      msp(['job', 'list'], { MSP_TOKEN: 'wrong', MSP_PASSWORD: '' }),
      msp(['job', 'list'], { MSP_URL: '' }),
      msp(['job']),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 4, 4, 5, 5, 2]);
    expect(JSON.parse(outcomes[0]?.stdout ?? '')).toMatchObject([{ id, status: 'STOPPED', cluster: CLUSTER }]);
  });

  it('does what its page says', () => page);

  it("shows Spark's UI of a run by the command that the console names, apart from the console", async () => {
    await page;
    const [{ id, workspace }] = JSON.parse(
      (await msp(['job', 'list', '-w', PAGE_WORKSPACE, '--status', 'DONE', '--json'])).stdout,
    ).filter(({ name }: Json) => name === 'sum');
    await createUser(platform, 'ui-ada', 'ADMIN', [platform.tenantId]);
    const browser = await launchChromium();
    let server: ReturnType<typeof serve> | undefined;
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
      const screen = await context.newPage();
      await screen.goto(`${platform.baseUrl}/console/runs/${workspace}/${id}`);
      await logIn(screen, 'ui-ada');
      await screen.getByRole('button', { name: 'Spark’s UI' }).click();
      const command = (await screen.getByRole('group', { name: 'Command' }).innerText()).trim();
      expect(command).toBe(`msp spark-ui ${id} -w ${workspace}`);
      await expectAccessible(screen);

      server = serve(command);
      const ending = once(server, 'exit');
      const [url = ''] = (await once(createInterface(server.stdout), 'line')) as string[];
      // Any other server of this address, such as the console, may have cookies that scripts can read.
      await context.addCookies([{ name: 'readable', value: '1', url: platform.baseUrl }]);
      const pages = await context.newPage();
      const cookies: (string | undefined)[] = [];
      pages.on('request', (request) => void request.allHeaders().then(({ cookie }) => cookies.push(cookie)));
      await pages.goto(url.replace('/jobs/', '/SQL/'));
      await pages.getByRole('link', { name: /^first at / }).click();
      await pages.getByText('HashAggregate').first().waitFor();
      await pages.getByRole('link', { name: 'Executors' }).click();
      // Scripts of the page fill this table.
      await pages.locator('#active-executors-table').getByText('driver').waitFor();
      expect(await pages.evaluate('document.cookie')).toBe('');
      const stolen = `fetch(${JSON.stringify(platform.baseUrl)} + '/api/v1/user/info', { credentials: 'include' })`;
      expect(await pages.evaluate(`${stolen}.then((answer) => answer.text(), () => 'refused')`)).toBe('refused');
      expect(cookies.length).toBeGreaterThan(20);
      expect(new Set(cookies)).toEqual(new Set([undefined]));
      server.kill('SIGINT');
      expect(await ending).toEqual([0, null]);
      await expect(fetch(url)).rejects.toThrow();
    } finally {
      server?.kill('SIGTERM');
      await browser.close();
    }
  });

  /** Starts a command that prints the address of Spark's UI and serves it. */
  function serve(command: string) {
    const [program = '', ...words] = command.split(' ');
    const { sparkHome, javaHome } = platform.runtime;
    return spawn(join(folder, 'site', 'bin', program), [...words, '--no-browser'], {
      cwd: folder,
      env: { ...env, SPARK_HOME: sparkHome, JAVA_HOME: javaHome, SPARK_DAEMON_MEMORY: '512m' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  it('keeps a personal token by msp login, in a file for its owner only', async () => {
    const file = join(folder, 'profiles.ini');
    const own = { MSP_CONFIG_FILE: file, MSP_URL: '' };
    const login = ['login', '--url', platform.baseUrl, '--username', platform.username, '--tenant', platform.tenantId];
    expect(await msp(login, own)).toMatchObject({ code: 0, stdout: '' });
    const listed = await msp(['cluster', 'list', '--status', 'RUNNING'], {
      ...own,
      MSP_USERNAME: '',
      MSP_PASSWORD: '',
      MSP_TENANT: '',
    });
    expect(listed.stdout).toMatch(/^ID +NAME +STATUS +SPARK +NODES\n\d+ +demo-\S+ +RUNNING /);
    expect((await msp(['cluster', 'list'], { ...own, MSP_PROFILE: 'none' })).code).toBe(5);
  });
});

function ended(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, args, { ...options, timeout: LIMIT_MS, maxBuffer: 16 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal ?? null) : 0, stdout, stderr }),
    );
  });
}
