import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { eventually } from '../harness/eventually';
import { freePort } from '../../scripts/embedded/ports.mjs';
import { type Caller, People, refusal } from '../medium/harness/people';
import { wholeApi } from '../medium/harness/test-api';
import { hiveSite, unityDetails } from '../samples/metastore-catalog';

const TOKEN = 'dapi-hush-nobody-sees-this';
const MIB = 1024 * 1024;

// Real: the whole API and PostgreSQL. The metastores are the attacker's.
describe('a hostile metastore', () => {
  // These end before the API stops, which would wait for them.
  afterAll(async () => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    for (const one of [server, hive]) await new Promise((resolve) => one.close(resolve));
  });

  const api = wholeApi();
  const people = new People(api);
  let token: string;
  let workspace: number;
  let server: Server;
  let listener: RequestListener;
  let hive: TcpServer;
  let onHive: (socket: Socket) => void;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    token = await api.login();
    server = createServer((request, response) => listener(request, response));
    hive = createTcpServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      onHive(socket);
    });
    for (const one of [server, hive]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
    const made = await call('POST', '/workspace', { name: 'attacked' });
    workspace = Number(made.body.workspace_id);
  });

  const call = (method: string, path: string, body?: object) => api.call(method, path, { token, body });
  let count = 0;
  const portOf = (one: Server | TcpServer) => (one.address() as AddressInfo).port;
  const unityCatalog = async () => {
    count += 1;
    const endpoint = `http://127.0.0.1:${portOf(server)}`;
    const made = await call('POST', '/metastore/catalog/unity', { ...unityDetails, name: `unity-${count}`, endpoint });
    const catalogId = Number(made.body.metastore_catalog_id);
    const secret = { name: `token-${count}`, secret_type: 'DATABRICKS UNITY TOKEN', token: TOKEN };
    const { tenant_secret_id: id } = (await call('POST', '/tenant/secret', secret)).body;
    const attached = { metastore_catalog_id: catalogId, metastore_secrets_tenant_id: Number(id) };
    expect((await call('POST', '/metastore/catalog/secret/tenant', attached)).status).toBe(200);
    return catalogId;
  };
  const hiveCatalog = async () => {
    count += 1;
    const body = { name: `hive-${count}`, hiveSiteXml: hiveSite(`thrift://127.0.0.1:${portOf(hive)}`) };
    return Number((await call('POST', '/metastore/catalog/hive', body)).body.metastore_catalog_id);
  };
  const schemas = (id: number) => call('GET', `/metastore/${id}/schemas?workspace_id=${workspace}`);
  const json =
    (value: unknown): RequestListener =>
    (_request, response) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));

  it.each<[string, () => RequestListener]>([
    [
      'a redirect to the metadata service',
      () => (_request, response) =>
        void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    ],
    ['pages without end', () => json({ schemas: [], next_page_token: 'again' })],
    ['a name of a megabyte', () => json({ schemas: [{ name: 'x'.repeat(MIB) }], next_page_token: null })],
    [
      'a body without end',
      () => (_request, response) => {
        response.setHeader('content-type', 'application/json');
        const timer = setInterval(() => response.write(' '.repeat(MIB)), 1);
        response.on('close', () => clearInterval(timer));
      },
    ],
    [
      'a login page that repeats the token',
      () => (request, response) =>
        void response.setHeader('content-type', 'text/html').end(`<script>${request.headers.authorization}</script>`),
    ],
    [
      'an error that repeats the token',
      () => (request, response) =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error_code: 'BAD', message: `no ${request.headers.authorization}` })),
    ],
    ['names that are no texts', () => json({ schemas: [{ name: { toString: 'x' } }, { name: null }] })],
  ])('of Unity gains nothing by %s', async (_what, made) => {
    listener = made();
    const begun = performance.now();
    const answer = await schemas(await unityCatalog());
    expect([400, 500]).toContain(answer.status);
    expect(answer.body.error_code).toMatch(/^METASTORE\./);
    expect(JSON.stringify(answer.body)).not.toContain('hush');
    expect(JSON.stringify(answer.body).length).toBeLessThan(4_096);
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  describe('of Unity that gives credentials for its tables', () => {
    const KEYS = { access_key_id: 'ASIAGIVEN', secret_access_key: 'hush-given', session_token: 'hush-session' };
    const delta = (storage_location: string) => ({
      name: 'orders',
      table_type: 'EXTERNAL',
      data_source_format: 'DELTA',
      columns: [],
      table_id: 'id-1',
      storage_location,
    });
    const requests: string[] = [];
    /** A server with one table, which answers the request for credentials with the given listener. */
    const unity =
      (location: string, vend: RequestListener): RequestListener =>
      (request, response) => {
        requests.push(`${request.method} ${request.url}`);
        if (request.method === 'POST') return void request.resume().on('end', () => void vend(request, response));
        return json(delta(location))(request, response);
      };
    const columns = (id: number) =>
      call('GET', `/metastore/${id}/columns?workspace_id=${workspace}&schema_name=raw&table_name=orders`);
    const withStorageSecret = async (id: number) => {
      const keys = {
        name: `keys-${count}`,
        secret_type: 'AWS ACCESS SECRET KEY PAIR',
        aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        aws_secret_access_key: 'hush-of-the-tenant',
        aws_default_region: 'eu-west-1',
      };
      const made = await call('POST', '/tenant/secret', keys);
      const { data } = (await call('GET', `/metastore/catalog/secret/tenant?metastore_catalog_id=${id}`)).body;
      const { metastore_catalog_secret_tenant_id } = data[0];
      const stored = Number(made.body.tenant_secret_id);
      const body = { metastore_catalog_secret_tenant_id, object_storage_secrets_tenant_id: stored };
      expect((await call('PUT', '/metastore/catalog/secret/tenant', body)).status).toBe(201);
    };

    beforeEach(() => {
      requests.length = 0;
    });

    it.each<[string, string, RequestListener, string]>([
      ['keys of Amazon for files in Google', 'gs://lake/orders', json({ aws_temp_credentials: KEYS }), 'TABLE.OUTSIDE'],
      [
        'keys of another directory',
        's3://lake/orders',
        json({ aws_temp_credentials: KEYS, url: 's3://lake/orders-of-others' }),
        'TABLE.OUTSIDE',
      ],
      [
        'a bucket that is a host',
        's3://127.0.0.1:80@evil.example/orders',
        json({ aws_temp_credentials: KEYS }),
        'OBJECT_STORAGE.INVALID_REQUEST',
      ],
      [
        'an account that is a host',
        'abfss://lake@evil.example/orders',
        json({ azure_user_delegation_sas: { sas_token: 'sig=hush' } }),
        'TABLE.OUTSIDE',
      ],
      [
        'a token with a header of its own',
        'gs://lake/orders',
        json({ gcp_oauth_token: { oauth_token: 'hush\r\nHost: evil.example' } }),
        'OBJECT_STORAGE.INVALID_CREDENTIALS',
      ],
      [
        'a signature that leads elsewhere',
        'abfss://lake@account1.dfs.core.windows.net/orders',
        json({ azure_user_delegation_sas: { sas_token: 'sig=hush#@evil.example/' } }),
        'OBJECT_STORAGE.INVALID_CREDENTIALS',
      ],
      [
        'an answer without end',
        's3://lake/orders',
        (_request, response) => {
          response.setHeader('content-type', 'application/json');
          const timer = setInterval(() => response.write(' '.repeat(MIB)), 1);
          response.on('close', () => clearInterval(timer));
        },
        'METASTORE.TOO_LARGE',
      ],
    ])('gains nothing by %s', async (_what, location, vend, code) => {
      listener = unity(location, vend);
      const id = await unityCatalog();
      await withStorageSecret(id);
      const answer = await columns(id);
      expect([answer.status, answer.body.error_code]).toEqual([400, code]);
      expect(JSON.stringify(answer.body)).not.toContain('hush');
    });

    it.each<[string, RequestListener]>([
      ['a redirect', (_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end()],
      [
        'an error that repeats the token',
        (request, response) =>
          void response
            .writeHead(403, { 'content-type': 'application/json' })
            .end(JSON.stringify({ error_code: 'PERMISSION_DENIED', message: `no ${request.headers.authorization}` })),
      ],
      ['keys that are no texts', json({ aws_temp_credentials: { access_key_id: { toString: 'x' } } })],
    ])('and answers with %s is not called again, and its answer is not repeated to the caller', async (_what, vend) => {
      listener = unity('s3://lake/orders', vend);
      const answer = await columns(await unityCatalog());
      expect([answer.status, answer.body.error_code]).toEqual([404, 'TABLE.MISSING']);
      expect(requests).toHaveLength(2);
      expect(JSON.stringify(answer.body)).not.toContain('hush');
    });
  });

  it.each<[string, (socket: Socket) => void]>([
    [
      'a frame of two gigabytes',
      (socket) => void socket.once('data', () => socket.write(Buffer.from('7fffffff7fffffff', 'hex'))),
    ],
    ['noise', (socket) => void socket.once('data', () => socket.write(Buffer.alloc(4096, 0xab)))],
    ['hanging up', (socket) => void socket.once('data', () => socket.destroy())],
  ])('of Hive gains nothing by %s', async (_what, act) => {
    onHive = act;
    const begun = performance.now();
    const answer = await schemas(await hiveCatalog());
    expect([answer.status, answer.body.error_code]).toEqual([500, expect.stringMatching(/^METASTORE\./)]);
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  it('that never responds delays only its own callers', async () => {
    let held = 0;
    onHive = () => (held += 1);
    listener = json({ schemas: [{ name: 'served' }], next_page_token: null });
    const [silent, other] = [await hiveCatalog(), await unityCatalog()];
    const waiting = Array.from({ length: 40 }, () => schemas(silent));
    await eventually(() => held > 0, { what: 'a call that waits' });
    let answered = 0;
    for (const one of waiting) void one.finally(() => (answered += 1));
    expect((await schemas(other)).body).toMatchObject([{ name: 'served' }]);
    // This request is sent before the others time out.
    expect(answered).toBeLessThan(waiting.length);
    for (const socket of sockets) socket.destroy();
    onHive = (socket) => void socket.destroy();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 500 && status !== 503)).toEqual([]);
  });

  describe('that a user names in a request', () => {
    let tenant: string;
    let user: Caller;

    beforeAll(async () => {
      tenant = await people.tenant();
      user = await people.member(tenant);
    });

    const basic = { secret_type: 'HIVE BASIC', username: 'ada', password: 'word' };
    const withPassword = (port: number) =>
      hiveSite(`thrift://127.0.0.1:${port}`, { 'metastore.client.auth.mode': 'PLAIN' });
    const validate = (caller: Caller, metastore_details: object, secret_details: object = basic) =>
      caller.call('POST', '/metastore/catalog/secret/user/validate', {
        secret: { secret_details },
        metastore: { metastore_details },
      });
    const kerberos = { secret_type: 'HIVE KERBEROS', principal: 'ada', keytab: Buffer.from([5, 2]).toString('base64') };
    const krb5Conf = (port: number) => `[realms]\nA.ORG = {\nkdc = 127.0.0.1:${port}\n}\n`;

    it('is not called in a private network, and neither is a KDC', async () => {
      const calls = jest.fn((socket: Socket) => void socket.destroy());
      onHive = calls;
      listener = calls as never;
      const port = portOf(hive);
      const site = hiveSite('thrift://metastore.invalid:9083', {
        'hive.metastore.sasl.enabled': 'true',
        'hive.metastore.kerberos.principal': 'hive/_HOST@A.ORG',
      });
      const token_ = { secret_type: 'DATABRICKS UNITY TOKEN', token: TOKEN };
      const made = await user.call('POST', '/user/secret', { name: 'token', ...token_ });
      const answers = [
        await validate(user, { hiveSiteXml: withPassword(port) }),
        await validate(user, { hiveSiteXml: hiveSite(`thrift://localhost:${port}`) }),
        await validate(user, { hiveSiteXml: hiveSite(`thrift://[::ffff:127.0.0.1]:${port}`) }),
        await validate(user, { hiveSiteXml: site, krb5Conf: krb5Conf(port) }, kerberos),
        await validate(user, { endpoint: `http://127.0.0.1:${portOf(server)}` }, token_),
        await user.call('POST', '/metastore/catalog/unity/fetch', {
          endpoint: `http://127.0.0.1:${portOf(server)}`,
          user_secret_id: Number(made.body.user_secret_id),
        }),
      ];
      const forbidden = [403, 'METASTORE.ENDPOINT_FORBIDDEN'];
      expect(answers.map(refusal)).toEqual(answers.map(() => forbidden));
      expect(answers[0]?.body.error_message).toContain('CAN MANAGE CLUSTER');
      expect(calls).not.toHaveBeenCalled();
    });

    it('receives no commands from a user who names a port, and looks the same as a closed port', async () => {
      const manager = await people.as(await people.user([['CAN MANAGE CLUSTER', tenant]]), tenant);
      const received: Buffer[] = [];
      onHive = (socket) => void socket.on('data', (chunk: Buffer) => void received.push(chunk));
      const password = '\r\nCONFIG SET dir /tmp\r\nSET x PWNED\r\n';
      const refused = await validate(manager, { hiveSiteXml: withPassword(portOf(hive)) }, { ...basic, password });
      expect(refused.body).toMatchObject({
        validation_status: 'INVALID',
        validation_message: expect.stringContaining('control character'),
      });
      expect(Buffer.concat(received).toString()).toBe('');

      onHive = (socket) => void socket.end('-ERR unknown command\r\n');
      const open = await validate(manager, { hiveSiteXml: withPassword(portOf(hive)) });
      const closed = await validate(manager, { hiveSiteXml: withPassword(await freePort()) });
      expect(open.body.validation_message).toContain('No metastore answers at the server that the request names.');
      expect(closed.body).toEqual({ ...open.body, validated_at: expect.anything() });
    });

    it('does not block the catalogs of other users by an invalid secret', async () => {
      const admin = await people.admin(tenant);
      const made = await admin.call('POST', '/metastore/catalog/glue', { name: 'glue' });
      const catalog = Number(made.body.metastore_catalog_id);
      const place = await people.workspace(admin);
      const others = await people.admin(tenant);
      const keys = (region: string) => ({
        name: region,
        secret_type: 'AWS ACCESS SECRET KEY PAIR',
        aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        aws_secret_access_key: 'hush',
        aws_default_region: region,
      });
      const attach = async (caller: Caller, region: string) => {
        const { body } = await caller.call('POST', '/user/secret', keys(region));
        const attached = { metastore_catalog_id: catalog, object_storage_secrets_user_id: Number(body.user_secret_id) };
        expect((await caller.call('POST', '/metastore/catalog/secret/user', attached)).status).toBe(200);
      };
      await attach(admin, 'xx-nowhere-9');
      await attach(others, 'eu-west-1');
      const browse = (caller: Caller) =>
        caller.call('GET', `/metastore/${catalog}/schemas?workspace_id=${place}&refresh=true`);
      for (let count = 0; count < 6; count += 1) await browse(admin);
      expect((await browse(admin)).body.error_message).toContain('has not answered lately');
      expect(JSON.stringify((await browse(others)).body)).not.toMatch(/lately|nowhere/);
    });
  });
});
