import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { runGuide } from './harness/guide';
import { LossyProxy } from './harness/lossy-proxy';
import { PASSWORD } from './harness/people';
import { copySdk } from './harness/sdk-sources';
import { SharedPlatform } from './harness/shared-platform';

const execFileAsync = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const LIMIT_MS = 240_000;
/** The names that the quickstart gives, by which the page is written. */
const WORKSPACE = 'demo';
const CLUSTER = 'demo-spark-3.5.9';

/** A program that is only checked: an error is expected in the line below each comment. */
const TYPED = `
import { Client, operations, type types } from 'managed-spark';
import { Client as BrowserClient } from 'managed-spark/browser';
import { CookieSession, Transport } from 'managed-spark/core';
import { getJob } from 'managed-spark/operations';
import type { JobRead } from 'managed-spark/types';

const client = new Client();
const job: JobRead = await client.call(getJob, { path: { workspace_id: 1, job_id: 2 } });
const id: number = job.job_id;
const end: string | null = job.to_date;
const page: types.JobPage = await new Transport({ url: '', session: new CookieSession() }).call(operations.listJobs, { path: { workspace_id: id } });
for await (const { name } of new BrowserClient().pages(operations.listWorkspaces)) console.log(name, end, page.result_set.next_page);
await client.workspace('demo').run('a.py', { cluster: 1, driver_memory: '1g' });
// @ts-expect-error -- the job's id is missing
await client.call(getJob, { path: { workspace_id: 1 } });
// @ts-expect-error -- there is no such setting
await client.workspace('demo').run('a.py', { cluster: 1, driver_memori: '1g' });
// @ts-expect-error -- there is no such status
if (job.job_status === 'FINISHED') console.log();
`;

// Real: the SDK as npm packs it, installed in a folder of its own, the built platform and Spark. The proxy between loses answers
// that have arrived.
describe('the TypeScript SDK', () => {
  let platform: SharedPlatform;
  let admin: ApiClient;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'typescript-sdk-'));
    platform = await SharedPlatform.join('e2e', 'typescript-sdk');
    admin = await platform.admin();
    env = {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: folder,
      MSP_URL: platform.baseUrl,
      MSP_USERNAME: platform.username,
      MSP_PASSWORD: PASSWORD,
      MSP_TENANT: platform.tenantId,
    };
    await Promise.all([installSdk(), startPlatform()]);
  });

  afterAll(async () => {
    await platform?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Builds the package from a copy of the sources, which needs no file of the repository besides, and installs it. */
  async function installSdk(): Promise<void> {
    const source = join(folder, 'source');
    copySdk('typescript', source);
    // Only the build needs a package, the compiler.
    mkdirSync(join(source, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules', 'typescript'), join(source, 'node_modules', 'typescript'));
    await node(source, 'build.mjs');
    await npm(source, 'pack', '--pack-destination', folder);
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    await npm(folder, 'install', '--offline', '--no-audit', '--no-fund', archive);
    copyFileSync(join(__dirname, 'harness', 'typescript_sdk.mjs'), join(folder, 'used.mjs'));
  }

  async function startPlatform(): Promise<void> {
    const estate = await describeEstate(admin, platform.runtime.sparkVersion);
    await admin.post('/workspace', { name: WORKSPACE });
    await startCluster(admin, await createCluster(admin, estate, CLUSTER));
  }

  /** Runs a program of Node; throws with its output if it fails. */
  async function node(cwd: string, ...args: string[]): Promise<string> {
    const { stdout } = await execFileAsync(process.execPath, args, {
      cwd,
      env,
      timeout: LIMIT_MS,
      maxBuffer: 16 << 20,
    });
    return stdout;
  }

  async function npm(cwd: string, ...args: string[]): Promise<void> {
    await execFileAsync('npm', args, { cwd, env, timeout: LIMIT_MS });
  }

  async function used(part: string, more: NodeJS.ProcessEnv = {}): Promise<Json> {
    const options = { cwd: folder, env: { ...env, ...more }, timeout: LIMIT_MS };
    const { stdout } = await execFileAsync(process.execPath, ['used.mjs', part, WORKSPACE, CLUSTER], options);
    return JSON.parse(stdout);
  }

  it('is a package whose types hold where it is installed', async () => {
    const packed = readdirSync(join(folder, 'node_modules', 'managed-spark'));
    expect(packed.sort()).toEqual(['README.md', 'dist', 'package.json']);
    writeFileSync(join(folder, 'typed.mts'), TYPED);
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    const problems = await node(folder, compiler, ...options, '--lib', 'es2023,dom,dom.iterable', 'typed.mts').then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    expect(problems).toBe('');
  });

  it('runs a job once though answers are lost, and follows it over a broken connection', async () => {
    const proxy = new LossyProxy(platform.baseUrl, ['files', 'job']);
    let seen: Json;
    try {
      seen = await used('jobs', { MSP_URL: await proxy.listen() });
    } finally {
      await proxy.close();
    }
    expect(seen).toMatchObject({ lines: ['one', 'two words', 'é'], status: 'DONE', to_date: null, is_int: true });
    expect(proxy.lost).toEqual(['files', 'job']);
    expect(proxy.pieceBeforeCut).toBeGreaterThan(0);
    expect(proxy.offsets.slice(0, 2)).toEqual([0, proxy.pieceBeforeCut]);
    expect(seen).toMatchObject({ runs: 2, same: true, log: 'é\n' });
    expect(seen.killed).toMatch(/^(KILLED|STOPPED|TERMINATED)$/);
  });

  it('executes cells, and keeps files and secrets', async () => {
    expect(await used('sessions')).toEqual({
      cells: ['two-cells', ['1.0'], 'ZeroDivisionError', true],
      notebook: ['hello\n', '499500', 'KeyError', true],
      files: ['hello', true],
      secrets: [true, 0],
      missing: true,
    });
  });

  it('queries with SQL', async () => {
    const row = { long: 1, huge: '9007199254740993', small: -2, real: 1.5, yes: true, text: 'é' };
    expect(await used('sql')).toEqual({
      types: 'BIGINT,BIGINT,INT,DOUBLE,BOOLEAN,STRING,INT,DECIMAL,BINARY,DATE,ARRAY',
      row: [{ ...row, nothing: null, money: '1.10', raw: [97, 98], day: '2026-11-28', list: '[1,2]' }],
      many: [24_000, true, 8_000, true],
      created: ['Result'],
      failed: ['42703', true],
      late: true,
    });
  });

  it('does what its page says', () => runGuide('sdk-typescript.md', folder, env));

  it('stops and starts clusters, and waits for them', async () => {
    expect(await used('clusters')).toMatchObject({
      names: [CLUSTER],
      refused: ['Invalid', 'CLUSTER.INVALID_STATE', 400],
      statuses: ['STOPPED', 'RUNNING'],
      user: true,
      workspaces: [WORKSPACE],
      types: 1,
    });
  });
});
