import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type TestApi, startWholeApi } from '../medium/harness/test-api';
import { hiveSite, unityDetails } from '../samples/metastore-catalog';

const TOKEN = 'dapi-hush-nobody-sees-this';
const MIB = 1024 * 1024;

// Real: the whole API and PostgreSQL. The metastores are the attacker's.
describe('a metastore in the hands of an attacker', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let token: string;
  let workspace: number;
  let server: Server;
  let listener: RequestListener;
  let hive: TcpServer;
  let onHive: (socket: Socket) => void;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    ({ api, stop } = await startWholeApi());
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

  afterAll(async () => {
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    for (const one of [server, hive]) await new Promise((resolve) => one.close(resolve));
    await stop?.();
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

  it('that never answers keeps only its own callers waiting', async () => {
    onHive = () => undefined;
    listener = json({ schemas: [{ name: 'served' }], next_page_token: null });
    const [silent, other] = [await hiveCatalog(), await unityCatalog()];
    const waiting = Array.from({ length: 40 }, () => schemas(silent));
    await new Promise((resolve) => setTimeout(resolve, 200));
    let given = 0;
    for (const one of waiting) void one.finally(() => (given += 1));
    expect((await schemas(other)).body).toMatchObject([{ name: 'served' }]);
    // Before those are given up.
    expect(given).toBeLessThan(waiting.length);
    for (const socket of sockets) socket.destroy();
    onHive = (socket) => void socket.destroy();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 500 && status !== 503)).toEqual([]);
  });
});
