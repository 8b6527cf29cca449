import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyOf, KINDS, sampleOf } from '../samples';
import { ADMIN_PASSWORD, LOCAL_NODES, wholeApi } from './harness/test-api';
import { type Answer, ApiClient, type Json } from '../e2e/harness/api-client';
import { describeEstate, type Estate } from '../e2e/harness/estate';
import { clientOf, createTenant, createUser, PASSWORD } from '../e2e/harness/people';
import { readRuntime } from '../e2e/harness/platform';

const ABSENT = 999_999_999;

// Real: the whole API over HTTP, PostgreSQL and Redis. All responses are validated against openapi.json.
const api = wholeApi(LOCAL_NODES);
let origin: string;
let admin: ApiClient;
let estate: Estate;
/** An administrator of another tenant, with its records. */
let stranger: ApiClient;
let foreignTenant: string;
let foreign: Estate;
let foreignVolume: number;

const anonymous = () => new ApiClient(origin);
const site = {
  anonymous,
  sql: <T>(statement: string, parameters?: unknown[]): Promise<T[]> => api.database.query(statement, parameters),
};

async function loggedIn(): Promise<ApiClient> {
  const client = anonymous();
  await client.loginToTenant('admin', ADMIN_PASSWORD);
  return client;
}

beforeAll(async () => {
  origin = new URL(api.urlOf('/')).origin;
  admin = await loggedIn();
  const { sparkVersion } = readRuntime();
  estate = await describeEstate(admin, sparkVersion);
  foreignTenant = await createTenant(site, 'elsewhere');
  await createUser(site, 'stranger', 'ADMIN', [foreignTenant]);
  stranger = await clientOf(site, 'stranger');
  foreign = await describeEstate(stranger, sparkVersion);
  // Only a PLATFORM ADMIN manages volumes, and may select any tenant.
  const visitor = await loggedIn();
  await visitor.selectTenant(foreignTenant);
  const volume = { name: 'foreign', ...bodyOf('volume_conf') };
  foreignVolume = Number((await visitor.post('/machine/volume', volume)).volume_conf_id);
});

/** The fields of every error. */
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

describe('login', () => {
  it('treats an unknown user, a wrong password and a disabled account alike', async () => {
    await createUser(site, 'gone', 'USER', [foreignTenant]);
    await api.database.query(`UPDATE users SET to_date = now() WHERE username = 'gone'`);
    const attempts = [
      { username: 'admin', password: 'wrong' },
      { username: 'nobody', password: 'wrong' },
      { username: 'gone', password: PASSWORD },
    ];
    const texts = new Set<string>();
    for (const json of attempts) {
      const answer = await anonymous().request('POST', '/login', { json });
      expectWholeError(answer.expectError(401, 'AUTH.UNAUTHENTICATED'));
      texts.add(answer.body.error_message);
    }
    expect(texts.size).toBe(1);
    const headers = basic(`${'admin'}:wrong`);
    await anonymous().expectError('POST', '/login', { headers }, 401, 'AUTH.UNAUTHENTICATED');
  });

  it('ends a session when its time is over', async () => {
    const json = { username: 'admin', password: ADMIN_PASSWORD, timeout: '1s' };
    const { token } = await anonymous().post('/login', json);
    const client = admin.withToken(token);
    // On a busy machine, it may expire before the first request.
    for (let status = 200; status !== 401;) {
      ({ status } = await client.request('GET', '/user/info'));
      expect([200, 401]).toContain(status);
    }
  });

  it('ends the token at logout at once, and no other token', async () => {
    const client = await loggedIn();
    const other = await loggedIn();
    await client.get('/user/info');
    const headers = { 'content-type': 'application/json' };
    expect(await client.post('/logout', undefined, 200, { headers })).toEqual({ message: expect.any(String) });
    await client.expectError('GET', '/user/info', {}, 401, 'AUTH.UNAUTHENTICATED');
    await client.expectError('POST', '/logout', {}, 401, 'AUTH.UNAUTHENTICATED');
    await other.get('/user/info');
  });
});

describe('sessions of one user', () => {
  it('keeps the selections of sessions apart', async () => {
    const client = await loggedIn();
    await client.selectTenant(foreignTenant);
    expect((await client.get('/machine/networks')).data.map((row: Json) => row.network_conf_id)).toEqual([
      foreign.networkConfId,
    ]);
    expect((await admin.get('/machine/networks')).data.map((row: Json) => row.network_conf_id)).toEqual([
      estate.networkConfId,
    ]);
  });
});

/** Kinds whose requests have another form; each has a test file of its own. */
const OTHER_KINDS: readonly string[] = [
  ...['cluster', 'workspace', 'job_conf', 'user', 'group', 'tenant_secret', 'workspace_secret', 'user_secret'],
  ...['metastore_catalog', 'mount', 'object_storage_manager', 'dependency_repository'],
];
/** Fields that differ from the samples. */
const OWN_FIELDS: Readonly<Record<string, object>> = { cloud_env: { endpoint: 'local://' } };
/** Values that a field of a type does not accept. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  integer: ['ten', true, {}, 1.5],
  boolean: ['ten', 7],
  string: [7, {}],
  object: ['text', 7],
};

interface Schema {
  $ref?: string;
  type?: string;
  properties: Record<string, Schema>;
  required: string[];
}

interface Described {
  parameters?: { name: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>;
}

const DOCUMENT = JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};

/** Reads a kind from openapi.json: its list, the name field of its requests and responses, and its required fields. */
function described(kind: string) {
  const at = (path: string, method: string) => DOCUMENT.paths[path]![method]!;
  const fieldsOf = (schema?: Schema) => DOCUMENT.components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema!;
  const answer = ({ responses }: Described) => fieldsOf(responses['200']!.content['application/json'].schema);
  const nameIn = ({ properties }: Schema) => (properties[`${kind}_name`] ? `${kind}_name` : 'name');
  const { path } = sampleOf(kind);
  const search = Object.entries(DOCUMENT.paths).find(
    ([url, { get }]) => url.endsWith('/search') && get?.parameters?.some(({ name }) => name === `${kind}_name`),
  );
  const list = search![0].replace(/\/search$/, '');
  const request = fieldsOf(at(path, 'post').requestBody?.content['application/json'].schema);
  return {
    list,
    takesProvider: at(list, 'get').parameters?.some(({ name }) => name === 'cloud_provider') ?? false,
    nameInRead: nameIn(answer(at(path, 'get'))),
    nameInWrite: nameIn(answer(at(path, 'post'))),
    required: request.required
      .filter((field) => field !== 'name')
      .map((field) => [field, WRONG[fieldsOf(request.properties[field]).type ?? 'object'] ?? []] as const),
  };
}

describe.each(KINDS.map(([key]) => key).filter((key) => !OTHER_KINDS.includes(key)))('%s', (key) => {
  const kind = described(key);
  const { path } = sampleOf(key);
  const notFound = `${key.toUpperCase()}.NOT_FOUND`;
  const body = (name: string, more: object = {}) => ({ name, ...bodyOf(key, estate.ids), ...OWN_FIELDS[key], ...more });
  const refuses = (json: unknown, status: number, code: string) =>
    admin.expectError('POST', path, { json }, status, code);

  it('is created, found, changed and deleted', async () => {
    const name = `one.${key}-1`;
    const made = await admin.post(path, body(name, { description: 'first' }));
    expect(made[`${key}_id`]).toMatch(/^\d+$/);
    expect(made).toMatchObject({ [kind.nameInWrite]: name, description: 'first', to_date: null });
    const id = Number(made[`${key}_id`]);
    const byId = await admin.get(path, { [`${key}_id`]: id });
    expect(byId).toMatchObject({ [kind.nameInRead]: name, description: 'first', to_date: 'infinity' });
    expect(byId.created_by).toMatchObject({ username: 'admin' });
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

  it('has a unique name in the tenant', async () => {
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

  it('is refused with fields that are unknown, missing or of a wrong type, which the error names', async () => {
    const unknown = await refuses(body('bad', { colour: 'red', shape: 1 }), 400, 'REQUEST.INVALID');
    expect(unknown.error_message).toContain('colour');
    expect(unknown.error_message).toContain('shape');
    for (const [field, wrong] of kind.required) {
      for (const value of [undefined, null, ...wrong]) {
        const refused = await refuses(body('bad', { [field]: value }), 400, 'REQUEST.INVALID');
        expect(refused.error_message).toContain(field);
      }
    }
    const update = { query: { [`${key}_id`]: 1 }, json: { colour: 'red' } };
    expect((await admin.expectError('PUT', path, update, 400, 'REQUEST.INVALID')).error_message).toContain('colour');
    await refuses([body('bad')], 400, 'REQUEST.INVALID');
  });

  it('is selected by id or name only', async () => {
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
    const empty = { query: { [`${key}_id`]: 1 }, json: {} };
    await admin.expectError('PUT', path, empty, 400, 'REQUEST.EMPTY_UPDATE');
  });

  if (kind.takesProvider) it('is filtered by provider in any letter case', isFilteredByProvider);

  async function isFilteredByProvider() {
    const id = Number((await admin.post(path, body('filtered')))[`${key}_id`]);
    const idsOf = async (cloud_provider: string) =>
      (await admin.get(kind.list, { cloud_provider })).data.map((row: Json) => row[`${key}_id`]);
    for (const name of ['OnPrem', 'onprem', 'Proxmox']) expect(await idsOf(name)).toContain(id);
    expect(await idsOf('gcp')).not.toContain(id);
    await admin.expectError('GET', kind.list, { query: { cloud_provider: 'Mars' } }, 400, 'REQUEST.INVALID');
    await admin.delete(path, 201, { query: { [`${key}_id`]: id } });
  }
});

describe('references between records', () => {
  const env = (more: object) => ({ name: 'refers', ...bodyOf('cloud_env', estate.ids), endpoint: 'local://', ...more });

  it('to missing records or those of another tenant are refused', async () => {
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

  it('keep their target from being deleted', async () => {
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

  it('must be of one provider', async () => {
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

  it('limit sizes by the disk type', async () => {
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

describe('pages', () => {
  it.each([
    { limit: 0 },
    { limit: 1001 },
    { limit: 'ten' },
    { limit: 1.5 },
    { pageNumber: 0 },
    { pageNumber: -1 },
    { all: 'maybe' },
    { page: 1 },
  ])('reject %j', async (query) => {
    const refused = await admin.expectError('GET', '/machine/volumes', { query: query }, 400, 'REQUEST.INVALID');
    expect(refused.error_message).toContain(Object.keys(query)[0]);
  });
});

describe('malformed requests', () => {
  const json = { 'content-type': 'application/json' };

  it.each(['{"name": "a"', 'name: a', '"text"', '7', '{"name": "a",}'])(
    'with the body %s are refused with the reason',
    async (data) => {
      const answer = await admin.request('POST', '/machine/volume', { data, headers: json });
      expect(answer.status).toBe(400);
      expectWholeError(answer);
      expect(answer.body.error_code).toMatch(/^REQUEST\.(MALFORMED_JSON|INVALID)$/);
    },
  );

  it('with another content type are refused with the reason', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const response = await fetch(`${origin}/api/v1/workspace`, {
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

  it('may declare JSON and have no body if none is required', async () => {
    const { workspace_id } = await admin.post('/workspace', { name: 'bodiless' });
    const options = { query: { workspace_id }, headers: json };
    await admin.put('/workspace/disable', undefined, 201, options);
    await admin.put('/workspace/enable', undefined, 201, options);
    const empty = await admin.request('POST', '/workspace', { headers: json });
    expectWholeError(empty.expectError(400, 'REQUEST.INVALID'));
  });

  it('that are too large are refused', async () => {
    const description = 'x'.repeat(5_000_000);
    const response = await fetch(`${origin}/api/v1/workspace`, {
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
});

describe('Idempotency-Key', () => {
  const post = (key: string, json: object, client = admin) =>
    client.request('POST', '/workspace', { json, headers: { 'idempotency-key': key } });

  it('executes a repeated request once', async () => {
    const first = await post('k-1', { name: 'once' });
    const second = await post('k-1', { name: 'once' });
    expect(first.status).toBe(200);
    expect([second.status, second.body]).toEqual([200, first.body]);
    const rows = await api.database.query(`SELECT 1 FROM workspaces WHERE name = 'once'`);
    expect(rows).toHaveLength(1);
  });

  it('executes concurrent requests once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post('k-2', { name: 'together' })));
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  });

  it('belongs to one request only', async () => {
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

  it('of a failed request can be used again', async () => {
    (await post('k-4', { name: 'once' })).expectError(409, 'RECORD.DUPLICATE_NAME');
    expect((await post('k-4', { name: 'fresh' })).status).toBe(200);
  });

  it('must be printable text', async () => {
    for (const key of ['two words', 'x'.repeat(256)])
      (await post(key, { name: 'k' })).expectError(400, 'REQUEST.INVALID');
  });
});
