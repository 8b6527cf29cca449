import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Json } from './harness/api-client';
import { clusterBody, createCluster, describeEstate, startCluster } from './harness/estate';
import { PASSWORD } from './harness/people';
import { SharedPlatform } from './harness/shared-platform';

const ROOT = join(__dirname, '..', '..');
const BUILDER = process.env['TEST_PYTHON_SDK'] ?? '';
const AIRFLOW = process.env['TEST_AIRFLOW_PYTHON'] ?? '';
const LIMIT_MS = 400_000;
const WORKSPACE = 'airflow';
const CLUSTER = 'airflow-runs';
const OTHER_CLUSTER = 'started-by-a-task';

const run = promisify(execFile);

interface Seen {
  /** The answer of the harness. */
  seen: Json;
  /** The logs of their tasks. */
  log: string;
}

// Real: Airflow with its database, the wheels of the provider and the SDK, the built platform and Spark.
describe('the Airflow provider', () => {
  let platform: SharedPlatform;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'airflow-'));
    platform = await SharedPlatform.join('e2e', 'airflow');
    await Promise.all([install(), startPlatform()]);
    await run(AIRFLOW, ['-m', 'airflow', 'db', 'migrate'], { env, cwd: folder, timeout: LIMIT_MS });
  });

  afterAll(async () => {
    await platform?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  async function install(): Promise<void> {
    const site = join(folder, 'site');
    for (const name of ['python', 'airflow']) {
      const source = join(folder, `source-${name}`);
      const isSource = (path: string) => !/\/(_generated|_sync|dist|__pycache__)$/.test(path);
      cpSync(join(ROOT, 'sdk', name), source, { recursive: true, filter: isSource });
      copyFileSync(join(ROOT, 'openapi.json'), join(source, 'openapi.json'));
      await run(BUILDER, ['-m', 'hatchling', 'build', '-t', 'wheel'], { cwd: source, timeout: LIMIT_MS });
      const [wheel = ''] = readdirSync(join(source, 'dist'));
      const options = ['-q', '--no-deps', '--no-index', '--target', site, '--upgrade'];
      const pip = ['-m', 'pip', '--python', BUILDER, 'install', ...options, join('dist', wheel)];
      await run(platform.runtime.python, pip, { cwd: source, timeout: LIMIT_MS });
    }
    mkdirSync(join(folder, 'dags'));
    const connection = {
      conn_type: 'managed_spark',
      host: platform.baseUrl,
      login: platform.username,
      password: PASSWORD,
      extra: { tenant: platform.tenantId },
    };
    env = {
      PATH: process.env['PATH'],
      HOME: folder,
      PYTHONPATH: site,
      AIRFLOW_HOME: join(folder, 'home'),
      AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
      AIRFLOW__CORE__DAGS_FOLDER: join(folder, 'dags'),
      AIRFLOW_CONN_MANAGED_SPARK_DEFAULT: JSON.stringify(connection),
      MSP_URL: platform.baseUrl,
      MSP_USERNAME: platform.username,
      MSP_PASSWORD: PASSWORD,
      MSP_TENANT: platform.tenantId,
      TEST_WORKSPACE: WORKSPACE,
      TEST_CLUSTER: CLUSTER,
      TEST_OTHER_CLUSTER: OTHER_CLUSTER,
      TEST_SHARED_DIR: platform.sharedDir,
    };
  }

  async function startPlatform(): Promise<void> {
    const admin = await platform.admin();
    const estate = await describeEstate(admin, platform.runtime.sparkVersion);
    await admin.post('/workspace', { name: WORKSPACE });
    await admin.post('/cluster', clusterBody(estate, OTHER_CLUSTER));
    await startCluster(admin, await createCluster(admin, estate, CLUSTER));
  }

  /** Runs DAGs of the harness in a copy of it that Airflow finds in its folder. */
  async function dags(part: string): Promise<Seen> {
    const file = join(folder, 'dags', 'airflow_dags.py');
    copyFileSync(join(__dirname, 'harness', 'airflow_dags.py'), file);
    const { stdout, stderr } = await run(AIRFLOW, [file, part], {
      env,
      cwd: folder,
      timeout: LIMIT_MS,
      maxBuffer: 64 << 20,
    });
    return { seen: JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''), log: stdout + stderr };
  }

  it('runs jobs, SQL and notebooks and starts and stops clusters, in workers and deferred', async () => {
    const { seen, log } = await dags('work');
    const once = ['success', 1];
    expect(seen.states).toEqual({ start: once, job: once, again: once, sql: once, cells: once, stop: once });
    expect(seen.jobs).toEqual([
      ['work.sql', 'DONE'],
      ['work.job', 'DONE'],
      ['work.job', 'DONE'],
    ]);
    expect(seen.notebooks).toEqual([expect.stringMatching(/STOP|KILL/)]);
    expect(seen.url).toMatch(/\/api\/v1\/workspace\/\d+\/spark\/job\/\d+$/);
    for (const line of ['Words: manual two words', 'stdout | Words: later']) expect(log).toContain(line);
    expect(log).toMatch(/stdout \| .*manual.*42/);
  });

  it('starts no second run for a try that was lost, one for each try after a failed run, and stops what is late', async () => {
    const { seen, log } = await dags('retries');
    expect(seen.runs).toEqual({
      lost: ['DONE'],
      flaky: ['DONE', 'ERROR'],
      late: [expect.stringMatching(/STOPPED|KILLED/)],
      late_deferred: [expect.stringMatching(/STOPPED|KILLED/)],
    });
    expect(seen.states).toEqual({
      lost: ['success', 2],
      flaky: ['success', 2],
      late: ['failed', 1],
      late_deferred: ['failed', 1],
    });
    expect(log).toMatch(/Job \d+ of an earlier try is still running/);
    expect(log).toMatch(/stderr \| AssertionError: not yet/);
    expect(log).toMatch(
      /Job \d+ is ERROR: AssertionError: not yet.* Read the traceback in the log that the reason names\./,
    );
    expect(seen.connection).toEqual([true, 'Logged in as airflow-admin.']);
  });
});
