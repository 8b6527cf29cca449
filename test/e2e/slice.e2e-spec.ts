import { eventually } from '../../libs/testing/eventually';
import type { Answer, ApiClient, Json } from './harness/api-client';
import { bodyOf, type Part, SAMPLES } from '../samples';
import { encodedCredentials } from '../samples/sample';
import { describeEstate, type Estate } from './harness/estate';
import { clientOf, createTenant, createUser, PASSWORD } from './harness/people';
import { PlatformUnderTest } from './harness/platform';

const ABSENT = 999_999_999;
const SECRET = 'a-password-that-nobody-else-has';
const CREDENTIALS = encodedCredentials({ USERNAME: 'root@pam', PASSWORD: SECRET });

let platform: PlatformUnderTest;
let admin: ApiClient;
let estate: Estate;
/** An administrator of another tenant, and what is there. */
let stranger: ApiClient;
let foreignTenant: string;
let foreign: Estate;

beforeAll(async () => {
  platform = await PlatformUnderTest.create({ name: 'slice', startsEmpty: true });
  await platform.startApi();
  admin = await platform.admin();
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
  foreignTenant = await createTenant(platform, 'elsewhere');
  await createUser(platform, 'stranger', 'ADMIN', [foreignTenant]);
  stranger = await clientOf(platform, 'stranger');
  foreign = await describeEstate(stranger, platform.runtime.sparkVersion);
});

afterAll(async () => {
  await platform?.close();
});

/** The parts every error has. */
function expectWholeError(answer: Answer<Json>): void {
  const { error, error_code, error_message, details, correlation_id } = answer.body;
  expect(error).toBe(error_message);
  expect(error_message.length).toBeGreaterThan(10);
  expect(error_code).toMatch(/^[A-Z_]+\.[A-Z_]+$/);
  expect(typeof details).toBe('object');
  expect(correlation_id).toBe(answer.headers.get('x-correlation-id'));
  expect(Object.keys(answer.body).sort()).toEqual([
    'correlation_id',
    'details',
    'error',
    'error_code',
    'error_message',
  ]);
}

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

// As tests start it; swagger.e2e-spec.ts has it with its documentation.
describe('with API_DOCS=false', () => {
  it.each(['/', '/api/v1/docs', '/api/v1/openapi.json'])('has nothing at %s', async (path) => {
    const answer = await fetch(platform.baseUrl + path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error_code: 'ROUTE.NOT_FOUND' });
  });
});

describe('without a token', () => {
  it('tells that it is up, its version and how to log in', async () => {
    const anonymous = platform.anonymous();
    const health = await anonymous.get('/healthCheck');
    expect(health.uptime).toBeGreaterThan(0);
    const version = { version: expect.stringMatching(/^\d+\.\d+\.\d+/), api_release: '2.10.1' };
    expect(await anonymous.get('/version')).toEqual(version);
    expect(await anonymous.get('/login/auth_type')).toEqual({ auth_type: 'LDAP' });
  });

  it.each(['/user/info', '/machine/volumes', '/lookup_cloud_providers', '/workspaces', '/clusters'])(
    'refuses %s',
    async (path) => {
      const answer = await platform.anonymous().request('GET', path);
      expectWholeError(answer.expectError(401, 'AUTH.UNAUTHENTICATED'));
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    },
  );

  it('refuses tokens that are not ours', async () => {
    const [header = '', payload = ''] = (admin.currentToken ?? '').split('.');
    for (const token of ['x', `${header}.${payload}.AAAA`, `${header}.${payload}.`]) {
      await platform.anonymous().withToken(token).expectError('GET', '/user/info', {}, 401, 'AUTH.UNAUTHENTICATED');
    }
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

describe('login', () => {
  it('takes name and password in the body and as HTTP Basic', async () => {
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

  it('does not tell an unknown user from a wrong password or a disabled account', async () => {
    await createUser(platform, 'gone', 'USER', [foreignTenant]);
    await platform.sql(`UPDATE users SET to_date = now() WHERE username = 'gone'`);
    const attempts = [
      { username: platform.username, password: 'wrong' },
      { username: 'nobody', password: 'wrong' },
      { username: 'gone', password: PASSWORD },
    ];
    const texts = new Set<string>();
    for (const json of attempts) {
      const answer = await platform.anonymous().request('POST', '/login', { json });
      expectWholeError(answer.expectError(401, 'AUTH.UNAUTHENTICATED'));
      texts.add(answer.body.error_message);
    }
    expect(texts.size).toBe(1);
    const headers = basic(`${platform.username}:wrong`);
    await platform.anonymous().expectError('POST', '/login', { headers }, 401, 'AUTH.UNAUTHENTICATED');
  });

  it.each([
    [{ timeout: '48 parsecs' }, 'REQUEST.INVALID_DURATION'],
    [{ timeout: '' }, 'REQUEST.INVALID_DURATION'],
    [{ timeout: '0h' }, 'REQUEST.INVALID_DURATION'],
    [{ timeout: 48 }, 'REQUEST.INVALID'],
    [{ auth_type: 'AAD' }, 'AUTH.TYPE_MISMATCH'],
    [{ auth_type: 'GUESS' }, 'REQUEST.INVALID'],
    [{ username: null }, 'REQUEST.INVALID'],
    [{ username: undefined }, 'AUTH.CREDENTIALS_MISSING'],
    [{ password: undefined }, 'AUTH.CREDENTIALS_MISSING'],
    [{ remember: true }, 'REQUEST.INVALID'],
  ])('refuses %j', async (more, code) => {
    const json = { username: platform.username, password: platform.password, ...more };
    await platform.anonymous().expectError('POST', '/login', { json }, 400, code);
  });

  it('takes durations in every form', async () => {
    const login = async (timeout: string) => {
      const json = { username: platform.username, password: platform.password, timeout, auth_type: 'LDAP' };
      return (await platform.anonymous().post('/login', json)).expires_at;
    };
    expect(await login('infinity')).toBe('infinity');
    const days = new Date(await login('30 days')).getTime() - Date.now();
    expect(days / 86_400_000).toBeCloseTo(30, 1);
  });

  it('ends a session when its time is over', async () => {
    const json = { username: platform.username, password: platform.password, timeout: '1s' };
    const { token } = await platform.anonymous().post('/login', json);
    const client = admin.withToken(token);
    await client.get('/user/info');
    for (let status = 200; status !== 401;) status = (await client.request('GET', '/user/info')).status;
  }, 15_000);

  it('ends the token at logout, at once and no other', async () => {
    const client = await platform.admin();
    const other = await platform.admin();
    await client.get('/user/info');
    const headers = { 'content-type': 'application/json' };
    expect(await client.post('/logout', undefined, 200, { headers })).toEqual({ message: expect.any(String) });
    await client.expectError('GET', '/user/info', {}, 401, 'AUTH.UNAUTHENTICATED');
    await client.expectError('POST', '/logout', {}, 401, 'AUTH.UNAUTHENTICATED');
    await other.get('/user/info');
  });
});

describe('own user and tenants', () => {
  it('shows the user with its tenant and roles', async () => {
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

  it('lists and searches only the tenants one may select', async () => {
    const names = (page: Json) => page.data.map((tenant: Json) => tenant.name).sort();
    expect(names(await admin.get('/user/tenants'))).toEqual(['default', 'elsewhere']);
    expect(names(await stranger.get('/user/tenants'))).toEqual(['elsewhere']);
    expect(names(await admin.get('/user/tenants/search', { tenant_name: 'ELSE' }))).toEqual(['elsewhere']);
    expect(names(await admin.get('/user/tenants/search', { tenant_name: '%' }))).toEqual([]);
    await admin.expectError('GET', '/user/tenants/search', {}, 400, 'REQUEST.INVALID');
  });

  it('needs a selected tenant where the user has several', async () => {
    const third = await createTenant(platform, 'third');
    await createUser(platform, 'commuter', 'USER', [foreignTenant, third]);
    const client = await clientOf(platform, 'commuter');
    expect((await client.get('/user/info')).tenant_id).toBeNull();
    await client.get('/lookup_cloud_providers');
    for (const path of ['/machine/volumes', '/clusters', '/workspaces', '/credential_configs']) {
      expectWholeError((await client.request('GET', path)).expectError(403, 'TENANT.NOT_SELECTED'));
    }
    const selection = await client.post(`/user/select/${third}`, undefined, 201);
    expect(selection).toMatchObject({ tenant_id: third, tenant_name: 'third' });
    await client.get('/machine/volumes');
    await client.post(`/user/select/${third}`, undefined, 201);
    expect((await client.get('/user/info')).tenant_id).toBe(third);
    await client.expectError('POST', '/machine/network', { json: { name: 'a' } }, 403, 'AUTH.ROLE_REQUIRED');
  });

  it('selects no tenant that is none, absent or of others', async () => {
    await stranger.expectError('POST', '/user/select/elsewhere', {}, 400, 'REQUEST.INVALID');
    const absent = '00000000-0000-4000-8000-000000000000';
    await stranger.expectError('POST', `/user/select/${absent}`, {}, 404, 'TENANT.NOT_FOUND');
    const { tenant_id } = await admin.get('/user/info');
    await stranger.expectError('POST', `/user/select/${tenant_id}`, {}, 403, 'TENANT.NO_ROLE');
    expect((await stranger.get('/user/info')).tenant_id).toBe(foreignTenant);
  });

  it('keeps the selection of one session out of another', async () => {
    const client = await platform.admin();
    await client.selectTenant(foreignTenant);
    expect((await client.get('/machine/networks')).data.map((row: Json) => row.network_conf_id)).toEqual([
      foreign.networkConfId,
    ]);
    expect((await admin.get('/machine/networks')).data.map((row: Json) => row.network_conf_id)).toEqual([
      estate.networkConfId,
    ]);
  });
});

describe('lookups', () => {
  it('answer what requests need', async () => {
    const providers = await admin.get('/lookup_cloud_providers');
    expect(providers.map((row: Json) => row.name)).toEqual(['GCP', 'AWS', 'Azure', 'OnPrem', 'OCI']);
    expect((await admin.get('/lookup_cloud_providers/3')).name).toBe('OnPrem');
    await admin.expectError('GET', '/lookup_cloud_providers/77', {}, 404, 'CLOUD_PROVIDER.NOT_FOUND');
    await admin.expectError('GET', '/lookup_cloud_providers/OnPrem', {}, 400, 'REQUEST.INVALID');
    expect((await admin.get('/lookup_cluster_type')).map((row: Json) => row.name)).toEqual([
      'PLATFORM',
      'STANDALONE',
      'CLUSTER',
    ]);
    const machines = await admin.get('/lookup_machine_type', { limit: 1000 });
    expect(machines.data).toHaveLength(machines.result_set.total_objects);
    const onPrem = await admin.get('/lookup_cloud_providers/3/machine/types');
    expect(onPrem.data.map((row: Json) => row.name)).toContain('Onprem-S-4');
    const zones = await admin.get('/lookup_cloud_providers/0/machine/available/zones', { limit: 1 });
    expect(zones.data).toHaveLength(1);
    const [zone] = zones.data;
    const path = `/lookup_cloud_providers/0/machine/available/zones/${zone.availability_zone_id}`;
    expect((await admin.get(path)).name).toBe(zone.name);
  });

  it('all answer', async () => {
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

interface Kind {
  label: string;
  list: string;
  /** Prefix of `<key>_id` and `<key>_name`. */
  key: Part;
  /** Name of the name in a read answer. */
  nameInRead: string;
  nameInWrite: string;
  /** What is not as in the sample. */
  more?: object;
  /** A field that must be there, and a wrong value for it. */
  required: [string, unknown];
  foreignId: () => number;
}

const KINDS: Kind[] = [
  {
    label: 'volume configuration',
    list: '/machine/volumes',
    key: 'volume_conf',
    nameInRead: 'volume_conf_name',
    nameInWrite: 'name',
    required: ['disk_type_id', 'ten'],
    foreignId: () => foreignVolume,
  },
  {
    label: 'network configuration',
    list: '/machine/networks',
    key: 'network_conf',
    nameInRead: 'network_conf_name',
    nameInWrite: 'name',
    required: ['cloud_provider_id', true],
    foreignId: () => foreign.networkConfId,
  },
  {
    label: 'boot disk image',
    list: '/machine/boot_disk_images',
    key: 'boot_disk_image',
    nameInRead: 'boot_disk_image_name',
    nameInWrite: 'boot_disk_image_name',
    required: ['boot_disk_image', 7],
    foreignId: () => foreign.bootDiskImageId,
  },
  {
    label: 'credentials configuration',
    list: '/credential_configs',
    key: 'credentials_conf',
    nameInRead: 'credentials_conf_name',
    nameInWrite: 'name',
    more: { base64_encoded_credentials: CREDENTIALS },
    required: ['base64_encoded_credentials', 'text'],
    foreignId: () => foreign.credentialsConfId,
  },
  {
    label: 'cloud environment',
    list: '/cluster/cloud/environments',
    key: 'cloud_env',
    nameInRead: 'cloud_env_name',
    nameInWrite: 'name',
    more: { endpoint: 'local://' },
    required: ['network_conf_id', {}],
    foreignId: () => foreign.cloudEnvId,
  },
  {
    label: 'cluster configuration',
    list: '/cluster/confs',
    key: 'cluster_conf',
    nameInRead: 'cluster_conf_name',
    nameInWrite: 'name',
    required: ['machine_type_id', 1.5],
    foreignId: () => foreign.clusterConfId,
  },
];

let foreignVolume: number;

describe.each(KINDS)('$label', (kind) => {
  const { key } = kind;
  const { path } = SAMPLES[key];
  const notFound = `${key.toUpperCase()}.NOT_FOUND`;
  const body = (name: string, more: object = {}) => ({ name, ...bodyOf(key, estate.ids), ...kind.more, ...more });
  const refuses = (json: unknown, status: number, code: string) =>
    admin.expectError('POST', path, { json }, status, code);

  beforeAll(async () => {
    if (key !== 'volume_conf') return;
    // Volumes are for PLATFORM ADMIN only, who may select any tenant.
    const visitor = await platform.admin();
    await visitor.selectTenant(foreignTenant);
    foreignVolume = Number((await visitor.post(path, body('foreign'))).volume_conf_id);
  });

  it('is created, found, changed and deleted', async () => {
    const name = `one.${key}-1`;
    const made = await admin.post(path, body(name, { description: 'first' }));
    expect(made[`${key}_id`]).toMatch(/^\d+$/);
    expect(made).toMatchObject({ [kind.nameInWrite]: name, description: 'first', to_date: null });
    const id = Number(made[`${key}_id`]);
    const byId = await admin.get(path, { [`${key}_id`]: id });
    expect(byId).toMatchObject({ [kind.nameInRead]: name, description: 'first', to_date: 'infinity' });
    expect(byId.created_by).toMatchObject({ username: platform.username });
    expect(await admin.get(path, { [`${key}_name`]: name })).toEqual(byId);
    expect(await admin.get(path, { [`${key}_id`]: id, [`${key}_name`]: name })).toEqual(byId);

    const listed = await admin.get(kind.list);
    // Newest first.
    expect(listed.data[0]).toEqual(byId);
    const found = await admin.get(`${kind.list}/search`, { [`${key}_name`]: name.slice(2, -2).toUpperCase() });
    expect(found.data).toEqual([byId]);
    const none = await admin.get(`${kind.list}/search`, { [`${key}_name`]: '_%' });
    expect(none.data).toEqual([]);

    const changed = await admin.put(path, { description: 'second' }, 201, { query: { [`${key}_name`]: name } });
    expect(changed).toMatchObject({ [`${key}_id`]: String(id), description: 'second' });
    const cleared = await admin.put(path, { name: `${name}b`, description: null }, 201, {
      query: { [`${key}_id`]: id },
    });
    expect(cleared).toMatchObject({ [kind.nameInWrite]: `${name}b`, description: null });
    expect(await admin.get(path, { [`${key}_id`]: id })).toMatchObject({
      [kind.nameInRead]: `${name}b`,
      description: null,
    });

    const deleted = await admin.delete(path, 201, { query: { [`${key}_id`]: id } });
    expect(deleted.message).toContain(`${name}b`);
    await admin.expectError('GET', path, { query: { [`${key}_id`]: id } }, 404, notFound);
    await admin.expectError('DELETE', path, { query: { [`${key}_id`]: id } }, 404, notFound);
    expect((await admin.get(kind.list)).data).not.toContainEqual(expect.objectContaining({ [`${key}_id`]: id }));
    // Names are unique among current records only.
    const again = Number((await admin.post(path, body(`${name}b`)))[`${key}_id`]);
    expect(again).not.toBe(id);
    await admin.delete(path, 201, { query: { [`${key}_id`]: again } });
  });

  it('has a name of its own in the tenant', async () => {
    const ids: number[] = [];
    for (const name of ['twin', 'other']) ids.push(Number((await admin.post(path, body(name)))[`${key}_id`]));
    await refuses(body('twin'), 409, 'RECORD.DUPLICATE_NAME');
    const options = { query: { [`${key}_name`]: 'other' }, json: { name: 'twin' } };
    await admin.expectError('PUT', path, options, 409, 'RECORD.DUPLICATE_NAME');
    for (const id of ids) await admin.delete(path, 201, { query: { [`${key}_id`]: id } });
  });

  it.each(['', 'UPPER', 'with space', 'a'.repeat(65), 'slash/', 'ünicode', 7, null, undefined, ['a']])(
    'takes no name %j',
    async (name) => {
      const refused = await refuses({ ...body('x'), name }, 400, 'REQUEST.INVALID');
      expect(refused.error_message).toContain('name');
    },
  );

  it('names what is unknown, missing or of a wrong type', async () => {
    const unknown = await refuses(body('bad', { colour: 'red', shape: 1 }), 400, 'REQUEST.INVALID');
    expect(unknown.error_message).toContain('colour');
    expect(unknown.error_message).toContain('shape');
    const [field, wrong] = kind.required;
    for (const value of [undefined, null, wrong]) {
      const refused = await refuses(body('bad', { [field]: value }), 400, 'REQUEST.INVALID');
      expect(refused.error_message).toContain(field);
    }
    const update = { query: { [`${key}_id`]: 1 }, json: { colour: 'red' } };
    expect((await admin.expectError('PUT', path, update, 400, 'REQUEST.INVALID')).error_message).toContain('colour');
    await refuses([body('bad')], 400, 'REQUEST.INVALID');
  });

  it('is selected by id or name, and only so', async () => {
    for (const [query, code] of [
      [{}, 'REQUEST.SELECTOR_MISSING'],
      [{ [`${key}_id`]: 'x' }, 'REQUEST.INVALID'],
      [{ [`${key}_id`]: '-1' }, 'REQUEST.INVALID'],
      [{ [`${key}_id`]: '1', id: '2' }, 'REQUEST.INVALID'],
    ] as const) {
      await admin.expectError('GET', path, { query }, 400, code);
      await admin.expectError('DELETE', path, { query }, 400, code);
      await admin.expectError('PUT', path, { query, json: { description: 'x' } }, 400, code);
    }
    const empty = { query: { [`${key}_id`]: kind.foreignId() }, json: {} };
    await admin.expectError('PUT', path, empty, 400, 'REQUEST.EMPTY_UPDATE');
  });

  it('of another tenant is not there', async () => {
    for (const id of [kind.foreignId(), ABSENT]) {
      const query = { [`${key}_id`]: id };
      await admin.expectError('GET', path, { query }, 404, notFound);
      await admin.expectError('PUT', path, { query, json: { description: 'x' } }, 404, notFound);
      await admin.expectError('DELETE', path, { query }, 404, notFound);
    }
    const ids = (await admin.get(kind.list, { all: true })).data.map((row: Json) => row[`${key}_id`]);
    expect(ids).not.toContain(kind.foreignId());
  });

  it('is filtered by provider in any letter case', async () => {
    const id = Number((await admin.post(path, body('filtered')))[`${key}_id`]);
    const idsOf = async (cloud_provider: string) =>
      (await admin.get(kind.list, { cloud_provider })).data.map((row: Json) => row[`${key}_id`]);
    for (const name of ['OnPrem', 'onprem', 'Proxmox']) expect(await idsOf(name)).toContain(id);
    expect(await idsOf('gcp')).not.toContain(id);
    await admin.expectError('GET', kind.list, { query: { cloud_provider: 'Mars' } }, 400, 'REQUEST.INVALID');
    await admin.delete(path, 201, { query: { [`${key}_id`]: id } });
  });
});

describe('references between records', () => {
  const env = (more: object) => ({ name: 'refers', ...bodyOf('cloud_env', estate.ids), endpoint: 'local://', ...more });

  it('to records of another tenant or to none are refused', async () => {
    const references = [
      ['network_conf_id', foreign.networkConfId, 'NETWORK_CONF'],
      ['credential_config_id', foreign.credentialsConfId, 'CREDENTIALS_CONF'],
      ['boot_disk_image_id', foreign.bootDiskImageId, 'BOOT_DISK_IMAGE'],
    ] as const;
    for (const [field, id, code] of references) {
      for (const value of [id, ABSENT]) {
        const json = env({ [field]: value });
        await admin.expectError('POST', '/cluster/cloud/environment', { json }, 404, `${code}.NOT_FOUND`);
        const update = { query: { cloud_env_id: estate.cloudEnvId }, json: { [field]: value } };
        await admin.expectError('PUT', '/cluster/cloud/environment', update, 404, `${code}.NOT_FOUND`);
      }
    }
    for (const volume_conf_id of [foreignVolume, ABSENT]) {
      const json = { name: 'refers', machine_type_id: 1486, volume_conf_id };
      await admin.expectError('POST', '/cluster/conf', { json }, 404, 'VOLUME_CONF.NOT_FOUND');
    }
  });

  it('keep what is referred to', async () => {
    const cases = [
      ['/machine/network', 'network_conf_id', estate.networkConfId],
      ['/credential_config', 'credentials_conf_id', estate.credentialsConfId],
      ['/machine/boot_disk_image', 'boot_disk_image_id', estate.bootDiskImageId],
    ] as const;
    for (const [path, key, id] of cases) {
      const refused = await admin.expectError('DELETE', path, { query: { [key]: id } }, 400, 'RECORD.IN_USE');
      expect(refused.error_message).toContain('"local"');
    }
  });

  it('are of one provider', async () => {
    const gcp = { ...bodyOf('boot_disk_image'), cloud_provider_id: 0 };
    const { boot_disk_image_id } = await admin.post('/machine/boot_disk_image', { name: 'gcp', ...gcp });
    const json = env({ boot_disk_image_id: Number(boot_disk_image_id) });
    await admin.expectError('POST', '/cluster/cloud/environment', { json }, 400, 'CLOUD_ENV.PROVIDER_MISMATCH');
  });

  it('obey the rules of their provider', async () => {
    const path = '/cluster/cloud/environment';
    const withoutEndpoint = await admin.expectError(
      'POST',
      path,
      { json: env({ endpoint: undefined }) },
      400,
      'CLOUD_ENV.KEYS_REQUIRED',
    );
    expect(withoutEndpoint.error_message).toContain('endpoint');
    await admin.expectError(
      'POST',
      path,
      { json: env({ endpoint: 'file:///etc' }) },
      400,
      'CLOUD_ENV.ENDPOINT_INVALID',
    );
    const made = await admin.post(path, env({ cloud_project: 'ignored', availability_zone_id: 1 }));
    expect(made).toMatchObject({ cloud_project: null, availability_zone_id: null, endpoint: 'local://' });
    expect(Object.keys(made.labels)).toHaveLength(3);
    await admin.delete(path, 201, { query: { cloud_env_id: made.cloud_env_id } });
    const labels = Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`l${index}`, 'x']));
    await admin.expectError('POST', path, { json: env({ labels }) }, 400, 'LABEL.TOO_MANY');
    const missing = { name: 'net', cloud_provider_id: 1, network_name: 'n' };
    const refused = await admin.expectError(
      'POST',
      '/machine/network',
      { json: missing },
      400,
      'NETWORK_CONF.KEYS_REQUIRED',
    );
    for (const key of ['network_project_id', 'subnet', 'availability_zone_id'])
      expect(refused.error_message).toContain(key);
    for (const [field, id] of [
      ['cloud_provider_id', 77],
      ['linux_distro_id', 77],
      ['architecture_type_id', 77],
    ] as const) {
      const json = { name: 'x', ...bodyOf('boot_disk_image'), [field]: id };
      expect((await admin.request('POST', '/machine/boot_disk_image', { json })).status).toBe(400);
    }
  });

  it('hold sizes to the disk type', async () => {
    const volume = { name: 'v', encrypted: true, machine_volume_num: 1, machine_volume_strip_num: 1 };
    const refuses = (more: object, code: string) =>
      admin.expectError('POST', '/machine/volume', { json: { ...volume, ...more } }, 400, code);
    await refuses({ disk_type_id: 10 }, 'VOLUME_CONF.SIZE_REQUIRED');
    await refuses({ disk_type_id: 0, size: 9 }, 'VOLUME_CONF.SIZE_OUT_OF_BOUNDS');
    await refuses({ disk_type_id: 4, size: 10, disk_iops: 2999 }, 'VOLUME_CONF.IOPS_OUT_OF_BOUNDS');
    await refuses({ disk_type_id: 77, size: 10 }, 'DISK_TYPE.NOT_FOUND');
    await refuses({ disk_type_id: 10, size: 10, machine_volume_num: 0 }, 'REQUEST.INVALID');
    const fixed = await admin.post('/machine/volume', { ...volume, disk_type_id: 2 });
    expect(fixed.size).toBe('375');
    const query = { volume_conf_id: fixed.volume_conf_id };
    await admin.expectError(
      'PUT',
      '/machine/volume',
      { query, json: { size: 376 } },
      400,
      'VOLUME_CONF.SIZE_OUT_OF_BOUNDS',
    );
    await admin.delete('/machine/volume', 201, { query });
  });
});

describe('credentials', () => {
  it('show up nowhere', async () => {
    const value = `${SECRET}-${Date.now()}`;
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
    // A request that fails on the secret itself.
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

  it.each([
    ['no base64', '%%%', 'CREDENTIALS_CONF.NOT_BASE64'],
    ['no JSON', Buffer.from('user:password').toString('base64'), 'CREDENTIALS_CONF.NOT_JSON'],
    ['no object', Buffer.from('[1]').toString('base64'), 'CREDENTIALS_CONF.NOT_JSON'],
    ['a missing key', Buffer.from('{"USERNAME":"a"}').toString('base64'), 'CREDENTIALS_CONF.KEY_MISSING'],
    [
      'an unknown key',
      Buffer.from('{"USERNAME":"a","PASSWORD":"b","X":"c"}').toString('base64'),
      'CREDENTIALS_CONF.KEY_UNKNOWN',
    ],
    [
      'an empty value',
      Buffer.from('{"USERNAME":"a","PASSWORD":""}').toString('base64'),
      'CREDENTIALS_CONF.VALUE_INVALID',
    ],
  ])('refuse %s', async (_what, encoded, code) => {
    const json = { name: 'bad', credential_type_id: 3, base64_encoded_credentials: { encoded } };
    await admin.expectError('POST', '/credential_config', { json }, 400, code);
  });
});

describe('pages', () => {
  const volume = (name: string) => ({ name, ...bodyOf('volume_conf') });

  it('follow one another to the last', async () => {
    const names = Array.from({ length: 5 }, (_, index) => `page-${index}`);
    for (const name of names) await admin.post('/machine/volume', volume(name));
    const seen: string[] = [];
    let next: number | undefined = 1;
    let pages = 0;
    while (next !== undefined) {
      const page: Json = await admin.get('/machine/volumes/search', {
        volume_conf_name: 'page-',
        limit: 2,
        pageNumber: next,
      });
      expect(page.result_set).toMatchObject({ current_page: next, total_objects: 5, total_pages: 3, limit: 2 });
      seen.push(...page.data.map((row: Json) => row.volume_conf_name));
      pages += 1;
      next = page.result_set.next_page;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual([...names].reverse());
    const beyond = await admin.get('/machine/volumes/search', { volume_conf_name: 'page-', limit: 2, pageNumber: 9 });
    expect(beyond.data).toEqual([]);
    expect(beyond.result_set.next_page).toBeUndefined();
    const all = await admin.get('/machine/volumes', { all: true, limit: 2 });
    expect(all.data.length).toBe(all.result_set.total_objects);
    expect(all.data.length).toBeGreaterThanOrEqual(5);
    expect(all.result_set.total_pages).toBe(1);
  });

  it.each([
    { limit: 0 },
    { limit: 1001 },
    { limit: 'ten' },
    { limit: 1.5 },
    { pageNumber: 0 },
    { pageNumber: -1 },
    { all: 'maybe' },
    { page: 1 },
  ])('refuse %j', async (query) => {
    const refused = await admin.expectError('GET', '/machine/volumes', { query: query }, 400, 'REQUEST.INVALID');
    expect(refused.error_message).toContain(Object.keys(query)[0]);
  });
});

describe('requests as such', () => {
  const json = { 'content-type': 'application/json' };

  it.each(['{"name": "a"', 'name: a', '"text"', '7', '{"name": "a",}'])(
    'with the body %s are told why',
    async (data) => {
      const answer = await admin.request('POST', '/machine/volume', { data, headers: json });
      expect(answer.status).toBe(400);
      expectWholeError(answer);
      expect(answer.body.error_code).toMatch(/^REQUEST\.(MALFORMED_JSON|INVALID)$/);
      const isLine = (text: string) => text.includes(answer.body.correlation_id) && text.includes('"request"');
      const line = await eventually(() => platform.apiLog().split('\n').find(isLine));
      expect(JSON.parse(line)).toMatchObject({ status: 400, path: '/api/v1/machine/volume' });
    },
  );

  it('with another content type are told why', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const response = await fetch(`${platform.baseUrl}/api/v1/workspace`, {
        method: 'POST',
        headers: { 'content-type': type, authorization: `Bearer ${admin.currentToken}` },
        body: JSON.stringify({ name: 'typed' }),
      });
      const body = (await response.json()) as Json;
      expect([response.status, body.error_code]).toEqual([415, 'REQUEST.UNSUPPORTED_MEDIA']);
      expect(body.error_message).toMatch(/application\/json/);
    }
    expect((await admin.get('/workspaces/search', { workspace_name: 'typed' })).data).toEqual([]);
  });

  it('may say JSON and carry nothing where no body is due', async () => {
    const { workspace_id } = await admin.post('/workspace', { name: 'bodiless' });
    const options = { query: { workspace_id }, headers: json };
    await admin.put('/workspace/disable', undefined, 201, options);
    await admin.put('/workspace/enable', undefined, 201, options);
    const empty = await admin.request('POST', '/workspace', { headers: json });
    expectWholeError(empty.expectError(400, 'REQUEST.INVALID'));
  });

  it('too large are refused', async () => {
    const description = 'x'.repeat(5_000_000);
    const response = await fetch(`${platform.baseUrl}/api/v1/workspace`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${admin.currentToken}` },
      body: JSON.stringify({ name: 'large', description }),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error_code: 'REQUEST.TOO_LARGE',
      correlation_id: response.headers.get('x-correlation-id'),
    });
  });

  it('with characters that cannot be stored are refused', async () => {
    await admin.expectError(
      'POST',
      '/workspace',
      { json: { name: 'nul', description: 'a\u0000b' } },
      400,
      'REQUEST.INVALID_TEXT',
    );
    await admin.expectError(
      'GET',
      '/workspace',
      { query: { workspace_name: 'a\u0000b' } },
      400,
      'REQUEST.INVALID_TEXT',
    );
  });

  it('have the correlation id of their sender, or one of their own', async () => {
    const given = await admin.request('GET', '/cluster', {
      query: { cluster_id: ABSENT },
      headers: { 'x-correlation-id': 'mine-1' },
    });
    expect(given.headers.get('x-correlation-id')).toBe('mine-1');
    expect(given.expectError(404, 'CLUSTER.NOT_FOUND').body.correlation_id).toBe('mine-1');
    const odd = await admin.request('GET', '/user/info', { headers: { 'x-correlation-id': 'two words; and more' } });
    expect(odd.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    const first = (await admin.request('GET', '/user/info')).headers.get('x-correlation-id');
    const second = (await admin.request('GET', '/user/info')).headers.get('x-correlation-id');
    expect(first).not.toBe(second);
    await eventually(() => platform.apiLog().includes('mine-1'), { what: 'a log line with the sender’s id' });
  });
});

describe('Idempotency-Key', () => {
  const post = (key: string, json: object, client = admin) =>
    client.request('POST', '/workspace', { json, headers: { 'idempotency-key': key } });

  it('makes a repeated request one', async () => {
    const first = await post('k-1', { name: 'once' });
    const second = await post('k-1', { name: 'once' });
    expect(first.status).toBe(200);
    expect([second.status, second.body]).toEqual([200, first.body]);
    const rows = await platform.sql(`SELECT 1 FROM workspaces WHERE name = 'once'`);
    expect(rows).toHaveLength(1);
  });

  it('makes requests at once one', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post('k-2', { name: 'together' })));
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  });

  it('is of one request only', async () => {
    await post('k-3', { name: 'meant' });
    expectWholeError((await post('k-3', { name: 'another' })).expectError(409, 'REQUEST.IDEMPOTENCY_MISMATCH'));
    const headers = { 'idempotency-key': 'k-3' };
    const network = { name: 'meant', cloud_provider_id: 3, bridge: 'b', model: 'm' };
    await admin.expectError(
      'POST',
      '/machine/network',
      { json: network, headers },
      409,
      'REQUEST.IDEMPOTENCY_MISMATCH',
    );
    expect((await post('k-3', { name: 'meant' }, stranger)).status).toBe(200);
  });

  it('of a failed request may be used again', async () => {
    (await post('k-4', { name: 'once' })).expectError(409, 'RECORD.DUPLICATE_NAME');
    expect((await post('k-4', { name: 'fresh' })).status).toBe(200);
  });

  it('is visible text', async () => {
    for (const key of ['two words', 'x'.repeat(256)])
      (await post(key, { name: 'k' })).expectError(400, 'REQUEST.INVALID');
  });
});
