import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../harness/eventually';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { startWholeApi, type TestApi } from '../medium/harness/test-api';
import { head, RawConnection } from './harness/raw-connection';

const HEAD_TIMEOUT_MS = 1_000;
const UNKNOWN = 20;
const OF_ADDRESS = 10;
const STREAMS_OF_CALLER = 3;
const STALL_MS = 4_000;

/** Returns status and error code of the API's response to bytes that are no request. */
const refusalOf = async (connection: RawConnection | undefined) => {
  await connection?.closed();
  const [lines, json = ''] = (connection?.answer ?? '').split('\r\n\r\n');
  const body = JSON.parse(json) as Record<string, unknown>;
  expect(lines).toContain(`x-correlation-id: ${String(body.correlation_id)}`);
  expect(body).toEqual({
    error: body.error_message,
    error_code: body.error_code,
    error_message: expect.any(String),
    details: {},
    correlation_id: expect.any(String),
  });
  return [await connection?.status(), body.error_code];
};

// Real: the whole API, its server and PostgreSQL. Addresses of the loopback network stand for those of clients.
describe('a client that opens connections and leaves them idle', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let token: string;
  let tenancy: Tenancy;
  const opened: RawConnection[] = [];

  beforeAll(async () => {
    ({ api, stop } = await startWholeApi({
      // No timeout may pass while a test opens its other connections.
      ...{ HTTP_HEAD_TIMEOUT_MS: '60000', HTTP_KEEP_ALIVE_MS: '60000' },
      HTTP_MAX_UNKNOWN: String(UNKNOWN),
      HTTP_MAX_UNKNOWN_PER_ADDRESS: String(OF_ADDRESS),
      HTTP_MAX_STREAMS_PER_CALLER: String(STREAMS_OF_CALLER),
      HTTP_STALL_TIMEOUT_MS: String(STALL_MS),
    }));
    token = await api.login();
    tenancy = await makeTenancy(api.database.manager, 'mine');
  });

  afterEach(() => opened.splice(0).forEach((connection) => connection.close()));
  afterAll(() => stop?.());

  const origin = () => new URL(api.urlOf('/')).origin;
  const version = '/api/v1/version';
  const bearer = () => ({ authorization: `Bearer ${token}` });

  async function open(localAddress: string): Promise<RawConnection> {
    const connection = await RawConnection.open(origin(), { localAddress });
    opened.push(connection);
    return connection;
  }

  async function openMany(count: number, localAddress: string): Promise<RawConnection[]> {
    const connections: RawConnection[] = [];
    for (let index = 0; index < count; index += 1) connections.push(await open(localAddress));
    return connections;
  }

  const countOpen = (connections: RawConnection[]) => connections.filter(({ isOpen }) => isOpen).length;

  it('holds no more of them than the limit per address, and other clients keep theirs', async () => {
    const [friend] = await openMany(1, '127.0.0.2');
    const attacker = await openMany(OF_ADDRESS * 2, '127.0.0.3');
    await eventually(() => countOpen(attacker) <= OF_ADDRESS, { what: 'fewer connections' });
    expect(attacker.slice(-OF_ADDRESS).every(({ isOpen }) => isOpen)).toBe(true);
    await friend?.write(head(version, {}, 'GET'));
    expect(await friend?.status()).toBe(200);
  });

  it('loses its own connections first when the total is too high, and new clients get in', async () => {
    const attackers = await Promise.all(
      ['127.0.0.4', '127.0.0.5', '127.0.0.6'].map((one) => openMany(OF_ADDRESS, one)),
    );
    await eventually(() => countOpen(attackers.flat()) <= UNKNOWN, { what: 'fewer connections' });
    const [friend] = await openMany(1, '127.0.0.7');
    await friend?.write(head(version, {}, 'GET'));
    expect(await friend?.status()).toBe(200);
  });

  it('does not lock out authenticated clients', async () => {
    const [friend] = await openMany(1, '127.0.0.8');
    const ask = head('/api/v1/user/info', bearer(), 'GET');
    await friend?.write(ask);
    expect(await friend?.status()).toBe(200);
    for (const address of ['127.0.0.8', '127.0.0.9', '127.0.0.10']) await openMany(OF_ADDRESS * 2, address);
    const before = friend?.answer.length ?? 0;
    await friend?.write(ask);
    await eventually(() => (friend?.answer.length ?? 0) > before, { what: 'a second answer' });
  });

  it('gets 431 for headers that are too large, and nothing else', async () => {
    for (const size of [48 * 1024, 4 * 2 ** 20]) {
      const [one, other] = await openMany(2, '127.0.0.14');
      await one?.write(head(version, { 'x-large': 'x'.repeat(size) }, 'GET'));
      expect(await refusalOf(one)).toEqual([431, 'REQUEST.HEAD_TOO_LARGE']);
      await other?.write(head(`${version}?${'x'.repeat(size)}`, {}, 'GET'));
      expect(await refusalOf(other)).toEqual([431, 'REQUEST.HEAD_TOO_LARGE']);
    }
  });

  it('does not keep the connection by sending more headers', async () => {
    const [endless] = await openMany(1, '127.0.0.15');
    const started = Date.now();
    while (endless?.isOpen && Date.now() - started < 60_000) {
      await endless.write('x'.repeat(64 * 1024));
      await delay(1);
    }
    expect(endless?.isOpen).toBe(false);
    expect(await refusalOf(endless)).toEqual([400, 'REQUEST.MALFORMED']);
  });

  it('gets an error for bytes that are no request', async () => {
    const [wrong] = await openMany(1, '127.0.0.16');
    await wrong?.write('HELO platform\r\n\r\n');
    expect(await refusalOf(wrong)).toEqual([400, 'REQUEST.MALFORMED']);
  });

  it('cannot pipeline a hundred requests ahead of their responses', async () => {
    const [connection] = await openMany(1, '127.0.0.12');
    await connection?.write(head('/api/v1/user/info', bearer(), 'GET').repeat(200));
    await connection?.closed();
    const answers = connection?.answer.match(/HTTP\/1\.1 200/g) ?? [];
    expect(answers.length).toBeLessThan(100);
  });

  it('has no more downloads than the limit per user, and none that stalls stays open', async () => {
    const { body: workspace } = await api.call('POST', '/workspace', { token, body: { name: 'downloads' } });
    const file = `/api/v1/workspace/files?workspace_id=${workspace.workspace_id}&path=large.bin`;
    // The file is larger than the socket buffers of a client that does not read.
    const body = Buffer.alloc(80 * 2 ** 20);
    // On a busy machine the upload itself may stall until the server cuts it; the test retries only that.
    const uploaded = await eventually(async () => {
      const { status } = await fetch(`${origin()}${file}`, { method: 'POST', headers: bearer(), body });
      return status === 408 ? null : status;
    });
    expect(uploaded).toBe(200);
    const path = `/api/v1/workspace/file/download?workspace_id=${workspace.workspace_id}&file_path=large.bin`;
    const begin = async () => {
      const reader = await open('127.0.0.13');
      reader.readOnce();
      await reader.write(head(path, bearer(), 'GET'));
      return reader;
    };
    // The slot of the upload may be freed a moment after its response, and on a busy machine the readers may be cut before
    // the next request.
    const refused = await eventually(async () => {
      opened.splice(0).forEach((connection) => connection.close());
      const readers = await Promise.all(Array.from({ length: STREAMS_OF_CALLER }, begin));
      for (const reader of readers) if ((await reader.status()) !== 200) return null;
      const answer = await fetch(`${origin()}${path}`, { headers: bearer(), method: 'GET' });
      await answer.body?.cancel();
      return answer.status === 429 ? answer : null;
    });
    expect(refused.headers.get('retry-after')).toBe('1');
    // No client reads, so the server ends these downloads and others get their slots.
    await eventually(
      async () => {
        const answer = await fetch(`${origin()}${path}`, { headers: bearer() });
        return answer.status === 200 && (await answer.arrayBuffer()).byteLength === body.length;
      },
      { timeoutMs: 60_000 },
    );
  });

  it('keeps only one poll per node open', async () => {
    const agent = await TestAgent.ofNewNode(api, tenancy);
    const waiting = { body: { version: 1_000, wait_ms: 30_000 } };
    const polls = Array.from({ length: 5 }, () => agent.send('POST', '/poll', waiting).then(({ status }) => status));
    let ended = 0;
    for (const poll of polls) void poll.then(() => (ended += 1));
    await eventually(() => ended === 4, { what: 'four answers' });
    await api.database.query(`SELECT pg_notify('node', $1)`, [String(agent.nodeId)]);
    expect(await Promise.all(polls)).toEqual([200, 200, 200, 200, 200]);
  });
});

// Real: as above. Left out: the proxy, whose header the test sends itself.
describe('a client that leaves requests unfinished, also behind a proxy', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    const limits = { HTTP_MAX_UNKNOWN: String(UNKNOWN), HTTP_MAX_UNKNOWN_PER_ADDRESS: String(OF_ADDRESS) };
    const times = { HTTP_HEAD_TIMEOUT_MS: String(HEAD_TIMEOUT_MS) };
    ({ api, stop } = await startWholeApi({ HTTP_TRUSTED_PROXIES: '1', ...limits, ...times }));
  });

  afterAll(() => stop?.());

  const open = () => RawConnection.open(new URL(api.urlOf('/')).origin);

  it('has limited time for the headers of a request, begun or not, and gets 408', async () => {
    const [silent, slow] = [await open(), await open()];
    await slow.write('GET /api/v1/version HTTP/1.1\r\nhost: platform\r\nx-more: ');
    await silent.closed();
    expect(await refusalOf(slow)).toEqual([408, 'REQUEST.TIMEOUT']);
  });

  it('has no more of them than the limit per address, over any number of connections, and blocks no health probe', async () => {
    const { origin } = new URL(api.urlOf('/'));
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const unfinished = { 'content-type': 'application/json', 'content-length': 1_000, ...from('192.0.2.1') };
    const begin = async () => {
      const connection = await open();
      await connection.write(head('/api/v1/login', unfinished));
      return connection;
    };
    const begun = await Promise.all(Array.from({ length: OF_ADDRESS }, begin));
    const ask = async (address: string) => (await api.call('GET', '/version', { headers: from(address) })).status;
    await eventually(async () => (await ask('192.0.2.1')) === 503, { what: 'a refusal' });
    expect(await ask('192.0.2.2')).toBe(200);
    for (const path of ['/live', '/ready'])
      expect((await fetch(origin + path, { headers: from('192.0.2.1') })).status).toBe(200);
    for (const connection of begun) connection.close();
    await eventually(async () => (await ask('192.0.2.1')) === 200, { what: 'an answer' });
  });
});
