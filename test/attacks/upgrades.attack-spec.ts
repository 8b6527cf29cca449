import { randomBytes } from 'node:crypto';
import { eventually } from '../harness/eventually';
import { LiveOperations } from '../medium/harness/live-operations';
import { openSocket } from '../medium/harness/opened';
import { wholeApi } from '../medium/harness/test-api';
import { head, RawConnection } from './harness/raw-connection';

const HEAD_TIMEOUT_MS = 1_000;
const OF_ADDRESS = 10;
const SOCKETS_OF_CALLER = 3;
const MAX_MESSAGE = 64 * 1024;

// Real: the whole API, its server and PostgreSQL, with an upgrade of the test's own.
describe('a client that requests a WebSocket', () => {
  const api = wholeApi(
    {
      HTTP_HEAD_TIMEOUT_MS: String(HEAD_TIMEOUT_MS),
      HTTP_MAX_UNKNOWN_PER_ADDRESS: String(OF_ADDRESS),
      HTTP_MAX_SOCKETS_PER_CALLER: String(SOCKETS_OF_CALLER),
      HTTP_MAX_JSON_BYTES: String(MAX_MESSAGE),
    },
    [LiveOperations],
  );
  let token: string;
  let path: string;
  const opened: RawConnection[] = [];
  const sockets: Awaited<ReturnType<typeof openSocket>>[] = [];

  beforeAll(async () => {
    token = await api.login();
    const { body: workspace } = await api.call('POST', '/workspace', { token, body: { name: 'echoes' } });
    path = `/api/v1/workspace/${workspace.workspace_id}/echo/1`;
  });

  afterEach(() => {
    opened.splice(0).forEach((connection) => connection.close());
    sockets.splice(0).forEach((socket) => socket.close());
  });

  const origin = () => new URL(api.urlOf('/')).origin;
  const bearer = () => ({ authorization: `Bearer ${token}` });
  const handshake = () => ({
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': 13,
    'sec-websocket-key': randomBytes(16).toString('base64'),
  });

  async function connection(localAddress?: string): Promise<RawConnection> {
    const one = await RawConnection.open(origin(), { localAddress });
    opened.push(one);
    return one;
  }

  /** Sends a valid handshake, with the given headers replaced. */
  async function ask(headers: Record<string, string | number>, at = path): Promise<RawConnection> {
    const one = await connection();
    await one.write(head(at, { ...handshake(), ...headers }, 'GET'));
    return one;
  }

  /** Checks for the status and the usual error body, and that the connection closes. */
  async function expectRefusal(one: RawConnection, status: number, code: string): Promise<void> {
    expect(await one.status()).toBe(status);
    await one.closed();
    expect(one.answer).toContain(`"error_code":"${code}"`);
    expect(one.answer).not.toContain('101 Switching');
  }

  const open = async () => {
    const socket = await openSocket(`${origin()}${path}`, bearer());
    sockets.push(socket);
    return socket;
  };

  const works = async () => (await open()).close();

  it('gets none without a token, nor with a token in the URL', async () => {
    await expectRefusal(await ask({}), 401, 'AUTH.UNAUTHENTICATED');
    for (const name of ['token', 'access_token', 'authorization']) {
      await expectRefusal(await ask({}, `${path}?${name}=${token}`), 401, 'AUTH.UNAUTHENTICATED');
      await expectRefusal(await ask(bearer(), `${path}?${name}=${token}`), 400, 'REQUEST.INVALID');
    }
    await expectRefusal(await ask({ 'sec-websocket-protocol': token }), 401, 'AUTH.UNAUTHENTICATED');
  });

  it('gets none from a page of another site, and one from the same site', async () => {
    for (const foreign of ['https://evil.example', 'null', 'http://platform.evil.example', 'http://platform:81']) {
      await expectRefusal(await ask({ ...bearer(), origin: foreign }), 403, 'REQUEST.FOREIGN_ORIGIN');
    }
    const own = await ask({ ...bearer(), origin: 'http://platform' });
    expect(await own.status()).toBe(101);
  });

  it.each<[string, Record<string, string | number>]>([
    ['no key', { 'sec-websocket-key': '' }],
    ['a key of nonsense', { 'sec-websocket-key': 'nonsense' }],
    ['an invalid version', { 'sec-websocket-version': 1 }],
    ['invalid protocols', { 'sec-websocket-protocol': 'a,,b' }],
  ])('gets an error and no handshake with %s', async (_what, headers) => {
    await expectRefusal(await ask({ ...bearer(), ...headers }), 400, 'REQUEST.NO_HANDSHAKE');
    const rows: unknown[] = await api.database.query(
      `SELECT 1 FROM audit_events WHERE operation = 'echo' AND error_code = 'REQUEST.NO_HANDSHAKE'`,
    );
    expect(rows.length).toBeGreaterThan(0);
  });

  it('gets an ordinary response from an operation without upgrade', async () => {
    const ordinary = await ask({}, '/api/v1/version');
    expect(await ordinary.status()).toBe(200);
    const absent = await ask({}, '/api/v1/absent');
    expect(await absent.status()).toBe(404);
  });

  it('has limited time and space for its headers', async () => {
    const large = await ask({ ...bearer(), 'x-large': 'x'.repeat(64 * 1024) });
    expect(await large.status()).toBe(431);
    await large.closed();
    const slow = await connection();
    await slow.write(`GET ${path} HTTP/1.1\r\nhost: platform\r\nupgrade: websocket\r\nconnection: upgrade\r\nx-more: `);
    await slow.closed();
  });

  it('gets 503 if the platform does not finish the handshake in time', async () => {
    const guard = jest.spyOn(api.database.manager, 'query').mockImplementation(() => new Promise(() => undefined));
    // After this time the cached session has expired.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const one = await ask(bearer());
    await expectRefusal(one, 503, 'REQUEST.TIMEOUT');
    guard.mockRestore();
    await works();
  });

  it('is disconnected for bytes that are no frames, and for a message that is too large', async () => {
    for (const garbage of [
      randomBytes(1_000).fill(0xff, 0, 2),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      frame(2 ** 40),
    ]) {
      const one = await ask(bearer());
      expect(await one.status()).toBe(101);
      await one.write(garbage);
      await one.closed();
    }
    const socket = await open();
    socket.socket.send(Buffer.alloc(MAX_MESSAGE + 1));
    await eventually(() => socket.end() !== null, { what: 'the end' });
    await works();
  });

  it('is disconnected if it is silent, but not while it sends, even without answers to pings', async () => {
    const [silent, busy] = [await ask(bearer()), await ask(bearer())];
    expect([await silent.status(), await busy.status()]).toEqual([101, 101]);
    const sending = setInterval(() => void busy.write(MASKED_TEXT), 500);
    try {
      await silent.closed(120_000);
      expect(busy.isOpen).toBe(true);
    } finally {
      clearInterval(sending);
    }
  });

  it('has no more of them than the limit per caller', async () => {
    // WebSockets of the previous test may still be closing.
    for (let count = 0; count < SOCKETS_OF_CALLER; count += 1) await eventually(open, { what: 'a WebSocket' });
    await expect(open()).rejects.toThrow('429');
    sockets.splice(0).forEach((socket) => socket.close());
    await eventually(
      () =>
        works().then(
          () => true,
          () => false,
        ),
      { what: 'a WebSocket' },
    );
  });

  it('cannot lock out others with many unauthenticated ones, and keeps its open one under such an attack', async () => {
    const mine = await open();
    const attackers: RawConnection[] = [];
    for (let count = 0; count < OF_ADDRESS * 3; count += 1) {
      const one = await connection('127.0.0.9');
      await one.write(`GET ${path} HTTP/1.1\r\nhost: platform\r\nupgrade: websocket\r\n`);
      attackers.push(one);
    }
    await eventually(() => attackers.filter(({ isOpen }) => isOpen).length <= OF_ADDRESS, {
      what: 'fewer connections',
    });
    await works();
    expect(mine.end()).toBeNull();
  });
});

/** The text "a" in a frame of a client, with a mask of zeros. */
const MASKED_TEXT = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x61]);

/** The head of a frame that announces this many bytes. */
function frame(bytes: number): Buffer {
  const header = Buffer.alloc(14);
  header[0] = 0x82;
  header[1] = 0xff;
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}
