import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../scripts/embedded/ports.mjs';

const SCRIPTS = join(__dirname, '..', '..', 'scripts');
const QUICKSTART = join(SCRIPTS, 'quickstart.mjs');
const DEMO = pathToFileURL(join(SCRIPTS, 'demo', 'demo.mjs')).href;

/** Parts of the quickstart that need downloads and servers. The platform is the server of the test. */
const STUBS = {
  'embedded/install.mjs': `
    export const ensureDependencies = async () => false;
    export const ensureBuild = async () => false;`,
  'embedded/runtime.mjs': `
    export const prepareRuntime = async () => ({ sparkVersion: '3.5.9', javaHome: '', sparkHome: '', connectors: null });`,
  'demo/demo.mjs': `
    import { runDemo as real } from '${DEMO}?real';
    const { TEST_RESULT } = process.env;
    export const runDemo = TEST_RESULT ? async () => JSON.parse(TEST_RESULT) : real;`,
  'embedded/platform.mjs': `
    export const endLeftoverPlatform = async () => {};
    export const loadSecrets = () => ({});
    export const stopLocalNodes = async () => {};
    export const startPlatform = async () => ({
      baseUrl: process.env.TEST_PLATFORM, username: 'admin', password: 'first', stop: async () => {},
    });`,
};

const HOOKS = `
import { registerHooks } from 'node:module';
const stubs = ${JSON.stringify(STUBS)};
registerHooks({
  load(url, context, nextLoad) {
    const name = Object.keys(stubs).find((path) => url.endsWith('/scripts/' + path));
    if (name === undefined) return nextLoad(url, context);
    // The query makes it another module; what the stub exports itself wins.
    const source = 'export * from ' + JSON.stringify(url + '?real') + ';' + stubs[name];
    return { format: 'module', source, shortCircuit: true };
  },
});
`;

const CLUSTER = {
  name: 'demo-spark',
  cloud_env: { cloud_env_id: 1 },
  cluster_conf: { cluster_conf_id: 1 },
  spark_infra_version: { spark_infra_version_id: 1 },
};

describe('a quickstart with a step that fails', () => {
  let server: Server;
  let folder: string;
  let started: ChildProcess | undefined;

  beforeAll(async () => {
    server = createServer(answer);
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'quickstart-demo-'))));

  afterEach(async () => {
    if (started?.exitCode === null && started.kill('SIGKILL')) await once(started, 'exit');
    rmSync(folder, { recursive: true });
  });

  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  /** Sends what a login and the last lines of a quickstart ask for, and refuses all other requests of the demo. */
  function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const path = url.replace('/api/v1', '').replace(/\?.*/, '');
    if (path === '/login') response.end('{"token": "t-1"}');
    else if (path === '/user/tenants') response.end('{"result_set": {"total_pages": 1}, "data": [{"tenant_id": "t"}]}');
    else if (path.startsWith('/user/select')) response.end('{}');
    else if (path === '/workspace') response.end('{"name": "demo"}');
    else if (path === '/cluster') response.end(JSON.stringify(CLUSTER));
    else response.writeHead(503).end('{"error_code": "LOOKUPS.AWAY", "error_message": "The lookups are away."}');
  }

  async function quickstart(
    options: string[] = [],
    result = '',
  ): Promise<{ status: number; output: string; errors: string }> {
    const { port } = server.address() as AddressInfo;
    const hooks = `data:text/javascript,${encodeURIComponent(HOOKS)}`;
    started = spawn(process.execPath, ['--import', hooks, QUICKSTART, ...options], {
      env: {
        PATH: process.env['PATH'],
        RUNTIME_DIR: folder,
        PORT: String(await freePort()),
        DATABASE_URL: 'postgresql://none',
        REDIS_URL: 'redis://none',
        TEST_RESULT: result,
        TEST_PLATFORM: `http://127.0.0.1:${port}`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = started as ChildProcess & {
      stdout: NodeJS.ReadableStream;
      stderr: NodeJS.ReadableStream;
    };
    const child = started;
    stdout.on('data', (part) => String(part).includes('Serving until Ctrl-C.') && child.kill('SIGINT'));
    const [output, errors, [status]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
    return { status, output, errors };
  }

  const FAILED =
    /The step "Read the lookups" failed: GET \/lookup\w+ was answered 503 LOOKUPS\.AWAY: The lookups are away\./;

  it('serves all the same, and says which step failed, why and what to do', async () => {
    const { status, output, errors } = await quickstart();
    expect(errors).toMatch(FAILED);
    expect(output).toContain('Serving until Ctrl-C.');
    expect(output).toContain('repeat the steps: npm run quickstart');
    expect(output).toContain(join(folder, 'logs'));
    expect(status).toBe(0);
  }, 60_000);

  it('serves with the guides if a result is not the expected one', async () => {
    const result = {
      ok: false,
      wrong: ['Call a function'],
      steps: [{ title: 'Call a function', ms: 1 }],
      status: 'DONE',
    };
    const { status, output, errors } = await quickstart([], JSON.stringify(result));
    expect(errors).toContain('The step "Call a function" failed: its result is not the expected one.');
    expect(output).toMatch(/repeat the steps: npm run quickstart[^]*Cluster {3}demo-spark[^]*Serving until Ctrl-C\./);
    expect(status).toBe(0);
  }, 60_000);

  it('ends with status 1 if it should exit', async () => {
    const { status, output, errors } = await quickstart(['--exit']);
    expect(errors).toMatch(FAILED);
    expect(output).not.toContain('Serving');
    expect(status).toBe(1);
  }, 60_000);
});
