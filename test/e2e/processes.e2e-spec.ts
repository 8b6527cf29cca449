import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient, Json } from './harness/api-client';
import { describeEstate } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';

let platform: PlatformUnderTest;
let admin: ApiClient;

// Real: the built API and worker, which start with an empty database. test/medium tests their responses without processes.
beforeAll(async () => {
  platform = await PlatformUnderTest.create({ name: 'processes', startsEmpty: true });
  await platform.startApi();
  await platform.startWorker();
  admin = await platform.admin();
});

afterAll(() => platform?.close());

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

// This is the default of tests; swagger.e2e-spec.ts starts an API with documentation.
describe('with API_DOCS=false and CONSOLE=false', () => {
  it.each(['/', '/console/', '/api/v1/docs', '/api/v1/openapi.json'])('serves nothing at %s', async (path) => {
    const answer = await fetch(platform.baseUrl + path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error_code: 'ROUTE.NOT_FOUND' });
  });
});

describe('without a token', () => {
  it('returns its health, its version and the way to log in', async () => {
    const anonymous = platform.anonymous();
    const health = await anonymous.get('/healthCheck');
    expect(health.uptime).toBeGreaterThan(0);
    const version = { version: expect.stringMatching(/^\d+\.\d+\.\d+/), api_release: '2.10.1' };
    expect(await anonymous.get('/version')).toEqual(version);
    expect(await anonymous.get('/login/auth_type')).toEqual({ auth_type: 'LDAP' });
  });

  it('answers an unknown path with the usual error', async () => {
    const response = await fetch(`${platform.baseUrl}/api/v1/no/such/path`);
    const body = (await response.json()) as Json;
    expect(response.status).toBe(404);
    expect(body).toMatchObject({
      error_code: 'ROUTE.NOT_FOUND',
      correlation_id: response.headers.get('x-correlation-id'),
    });
  });
});

describe('the first administrator', () => {
  it('logs in with a JSON body and with HTTP Basic', async () => {
    const body = { username: platform.username, password: platform.password };
    const first = await platform.anonymous().post('/login', body);
    expect(new Date(first.expires_at).getTime()).toBeGreaterThan(Date.now() + 47 * 3_600_000);
    const headers = basic(`${platform.username}:${platform.password}`);
    const second = await platform.anonymous().post('/login', undefined, 200, { headers });
    expect(second.token).not.toBe(first.token);
    await admin.withToken(second.token).get('/user/info');
    // Existing clients send a JSON content type without a body.
    const json = { ...headers, 'content-type': 'application/json' };
    await platform.anonymous().post('/login', undefined, 200, { headers: json });
  });

  it('has the first tenant and its roles', async () => {
    const tenants = await admin.get('/user/tenants');
    const own = tenants.data.find((tenant: Json) => tenant.name === 'default');
    expect(await admin.get('/user/info')).toMatchObject({
      username: platform.username,
      tenant_id: own.tenant_id,
      to_date: 'infinity',
    });
    const roles = await admin.get('/user/info/roles');
    expect([...roles.user_roles].sort()).toEqual(['ADMIN', 'PLATFORM ADMIN']);
    expect(roles.group_roles).toEqual([]);
  });
});

describe('lookups', () => {
  it('are all available', async () => {
    const paths = [
      'availability_zone',
      'cloud_label_pattern',
      'credential_type',
      'disk_machine_type',
      'encryption_type',
      'engine_cluster_instance_node_status',
      'engine_cluster_instance_status',
      'git_credential_pattern',
      'git_provider',
      'linux_distro',
      'machine_architecture_type',
      'metastore_catalog_type',
      'secret_type',
      'spark_compute_type',
      'spark_infra_version',
      'spark_job_status',
      'spark_job_type',
      'storage_type',
      'widget_type',
      'workflow_execution_state',
      'workflow_type',
    ];
    for (const path of paths) {
      const answer = await admin.get(`/lookup_${path}`);
      expect((answer.data ?? answer).length).toBeGreaterThan(0);
    }
    expect((await admin.get('/lookup_spark_job_type_lang')).length ?? 1).toBeGreaterThan(0);
  });
});

describe('credentials', () => {
  it('never appear in responses or logs', async () => {
    const value = `nobody-else-has-${Date.now()}`;
    const encoded = Buffer.from(JSON.stringify({ USERNAME: 'root@pam', PASSWORD: value })).toString('base64');
    const hidden = (text: string) => {
      expect(text).not.toContain(value);
      expect(text).not.toContain(encoded);
    };
    const json = { name: 'hidden', credential_type_id: 3, base64_encoded_credentials: { encoded } };
    const headers = { 'idempotency-key': 'hidden-1' };
    const made = await admin.request('POST', '/credential_config', { json, headers });
    expect(made.status).toBe(200);
    hidden(made.text);
    const query = { credentials_conf_name: 'hidden' };
    for (const path of ['/credential_config', '/credential_configs/search'])
      hidden((await admin.request('GET', path, { query })).text);
    hidden((await admin.request('GET', '/credential_configs')).text);
    // This request fails because of the secret itself.
    hidden((await admin.request('POST', '/credential_config', { json })).text);
    hidden(
      (await admin.request('POST', '/credential_config', { json: { ...json, [value]: 1 } })).text.replaceAll(
        /\S+ is not a known field/g,
        '',
      ),
    );
    const cutShort = await admin.request('POST', '/credential_config', {
      data: JSON.stringify(json).slice(0, -1),
      headers: { 'content-type': 'application/json' },
    });
    hidden(cutShort.text);
    await eventually(() => platform.apiLog().includes(cutShort.body.correlation_id), { what: 'the whole log' });
    hidden(platform.apiLog());
    const tables = await platform.sql<{ name: string }>(
      `SELECT format('%I', table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      const found = await platform.sql(
        `SELECT 1 FROM ${name} t WHERE position($1 in t::text) > 0 OR position($2 in t::text) > 0 OR position(encode($1::bytea, 'hex') in t::text) > 0`,
        [value, encoded],
      );
      expect([name, found.length]).toEqual([name, 0]);
    }
    await admin.delete('/credential_config', 201, { query });
  });
});

describe('the log', () => {
  it('has a line with the correlation id of a refused request', async () => {
    const options = { data: '{"name": "a"', headers: { 'content-type': 'application/json' } };
    const answer = await admin.request('POST', '/machine/volume', options);
    expect(answer.expectError(400, 'REQUEST.MALFORMED_JSON').body.correlation_id).toMatch(/^[0-9a-f-]{36}$/);
    const isLine = (text: string) => text.includes(answer.body.correlation_id) && text.includes('"request"');
    const line = await eventually(() => platform.apiLog().split('\n').find(isLine));
    expect(JSON.parse(line)).toMatchObject({ status: 400, path: '/api/v1/machine/volume' });
  });

  it('has the correlation id of the sender, or a new one', async () => {
    const response = await admin.request('GET', '/cluster', {
      query: { cluster_id: 999_999_999 },
      headers: { 'x-correlation-id': 'mine-1' },
    });
    expect(response.headers.get('x-correlation-id')).toBe('mine-1');
    expect(response.expectError(404, 'CLUSTER.NOT_FOUND').body.correlation_id).toBe('mine-1');
    const odd = await admin.request('GET', '/user/info', { headers: { 'x-correlation-id': 'two words; and more' } });
    expect(odd.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    const first = (await admin.request('GET', '/user/info')).headers.get('x-correlation-id');
    const second = (await admin.request('GET', '/user/info')).headers.get('x-correlation-id');
    expect(first).not.toBe(second);
    await eventually(() => platform.apiLog().includes('mine-1'), { what: 'a log line with the sender’s id' });
  });
});

describe('the worker', () => {
  it('reports the machine that its local nodes run on', async () => {
    const { credentialsConfId } = await describeEstate(admin, platform.runtime.sparkVersion);
    const query = { endpoint: 'local://', credential_config_id: credentialsConfId };
    const ask = async () => (await admin.get('/cluster/cloud/environment/onprem/nodes', query)).nodes[0];
    const node = await eventually(ask, { timeoutMs: 180_000 });
    expect(node).toMatchObject({ node_name: hostname(), cpu_cores: expect.any(Number) });
    expect(node.ram_total_gb).toBeGreaterThan(node.ram_used_gb);
  });
});

describe('a start that fails', () => {
  const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
  const usable = () => ({
    DATABASE_URL: platform.databaseUrl,
    REDIS_URL: 'redis://127.0.0.1:1',
    AUTH_JWT_KEYS: key('k1'),
    SECRETS_MASTER_KEYS: key('k1'),
    DATA_DIR: platform.dataDir,
  });

  function run(
    program: string,
    env: Record<string, string>,
  ): Promise<{ status: unknown; stdout: string; stderr: string }> {
    const { PATH } = process.env;
    return new Promise((resolve) => {
      execFile(process.execPath, [join('dist', program)], { env: { PATH, ...env } }, (error, stdout, stderr) =>
        resolve({ status: error?.code ?? 0, stdout, stderr }),
      );
    });
  }

  it.each([
    ['api.js', 'CONFIGURATION.NOT_USABLE', () => ({})],
    ['api.js', 'FOLDER.NOT_USABLE', () => ({ ...usable(), DATA_DIR: '/dev/null/data' })],
    ['worker.js', 'LISTEN.REFUSED', () => ({ ...usable(), WORKER_HEALTH_PORT: new URL(platform.baseUrl).port })],
    ['worker.js', 'DATABASE.MISSING', () => ({ ...usable(), DATABASE_URL: `${platform.databaseUrl}_not` })],
    // The platform under test has another key with this id.
    ['api.js', 'SECRETS.WRONG_MASTER_KEY', () => ({ ...usable(), SECRETS_MASTER_KEYS: key('m1') })],
  ] as const)('of %s logs %s in one line', async (program, code, env) => {
    const { status, stdout, stderr } = await run(program, env());
    expect(stderr).toBe('');
    const fatal = stdout.trim().split('\n').at(-1);
    expect([status, JSON.parse(fatal ?? '')]).toMatchObject([1, { level: 'fatal', code }]);
  });

  it('of secrets:rewrap with another key of the same id exits with 1', async () => {
    const env = { ...usable(), SECRETS_MASTER_KEYS: `${key('m2')},${key('m1')}` };
    const { status, stdout, stderr } = await run('rewrap-secrets.js', env);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The master key m1 differs from the key that this database knows');
  });
});

describe('SIGTERM', () => {
  it('ends the API, and a second one finds the database prepared and the session valid', async () => {
    await platform.stopApi();
    await expect(fetch(`${platform.baseUrl}/api/v1/version`)).rejects.toThrow();
    await platform.startApi();
    expect((await admin.get('/user/info')).username).toBe(platform.username);
  });
});
