import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { eventually } from '../../../test/harness/eventually';
import { MAX_ENTRIES } from '../metastore-client';
import { HiveMetastoreClient } from './hive-metastore-client';

const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });
const schema = { catalog: null, schema: 'sales' };
const never = new AbortController().signal;

const MEBIBYTE = 2 ** 20;
/** Longer than a hostile answer may keep a call. */
const SOON_MS = 15_000;
const DEADLINE_MS = 60_000;

/** Parts of an answer in Thrift's binary protocol. */
const byte = (value: number): Buffer => Buffer.from([value]);
const i16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const i32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([i32(Buffer.byteLength(value)), Buffer.from(value)]);
const field = (type: number, id: number): Buffer => Buffer.concat([byte(type), i16(id)]);
const STOP = byte(0);
const [I64, STRING, STRUCT, MAP, LIST] = [10, 11, 12, 13, 15];
const [REPLY, EXCEPTION] = [2, 3];

interface Request {
  method: string;
  sequence: number;
  /** From the first field on. */
  body: Buffer;
}

const header = ({ method, sequence }: Request, type = REPLY): Buffer =>
  Buffer.concat([i32((0x8001_0000 | 0) + type), text(method), i32(sequence)]);
const reply = (request: Request, ...result: Buffer[]): Buffer => Buffer.concat([header(request), ...result, STOP]);
const names = (request: Request, all: string[]): Buffer =>
  reply(request, field(LIST, 0), byte(STRING), i32(all.length), ...all.map(text));
const exception = (request: Request, id: number, message: string): Buffer =>
  reply(request, field(STRUCT, id), field(STRING, 1), text(message), STOP);
const table = (name: string): Buffer => Buffer.concat([field(STRING, 1), text(name), STOP]);

type Answer = (request: Request, socket: Socket) => Buffer | null;

/** A metastore with scripted responses. */
class FakeMetastore {
  connections = 0;
  readonly open = new Set<Socket>();
  readonly requests: Request[] = [];

  private constructor(private readonly server: Server) {}

  static async start(answer: Answer, greet: (socket: Socket) => void = () => undefined): Promise<FakeMetastore> {
    const server = createServer();
    const metastore = new FakeMetastore(server);
    server.on('connection', (socket) => {
      metastore.connections += 1;
      metastore.open.add(socket);
      socket.on('error', () => undefined).on('close', () => metastore.open.delete(socket));
      greet(socket);
      socket.on('data', (data: Buffer) => {
        const length = data.readInt32BE(4);
        const method = data.toString('utf8', 8, 8 + length);
        const request = { method, sequence: data.readInt32BE(8 + length), body: data.subarray(12 + length) };
        metastore.requests.push(request);
        const answered = answer(request, socket);
        if (answered) socket.write(answered);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return metastore;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('HiveMetastoreClient', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const fake = async (answer: Answer, greet?: (socket: Socket) => void): Promise<FakeMetastore> => {
    const metastore = await FakeMetastore.start(answer, greet);
    ends.push(() => metastore.stop());
    return metastore;
  };
  const clientOf = (ports: number[], deadlineMs = DEADLINE_MS): HiveMetastoreClient => {
    const uris = ports.map((port) => ({ host: '127.0.0.1', port }));
    const client = new HiveMetastoreClient({ uris, outbound, deadlineMs });
    ends.push(() => client.close());
    return client;
  };
  const clientFor = async (answer: Answer, deadlineMs?: number): Promise<HiveMetastoreClient> =>
    clientOf([(await fake(answer)).port], deadlineMs);

  describe('ends the call when the metastore', () => {
    const attacks: [name: string, fault: string, answer: Answer][] = [
      ['announces a text of 2 GB', 'too-large', (request) => head(request, field(STRING, 9), i32(0x7fff_ffff))],
      ['announces a name of 2 GB', 'too-large', (request) => list(request, STRING, 1, i32(0x7fff_ffff))],
      ['announces a text of a negative size', 'failed', (request) => list(request, STRING, 1, i32(-1))],
      ['announces a list of 2^31 names', 'too-large', (request) => list(request, STRING, 0x7fff_ffff)],
      ['announces a list of a negative size', 'failed', (request) => list(request, STRING, -5)],
      ['announces many empty structs', 'too-large', (request) => list(request, STRUCT, 600_000, Buffer.alloc(600_000))],
      [
        'announces a map of 2^31 entries',
        'too-large',
        (request) => head(request, field(MAP, 9), byte(STRING), byte(STRING), i32(0x7fff_ffff)),
      ],
      [
        'nests structs endlessly',
        'failed',
        (request) => head(request, ...Array<Buffer>(10_000).fill(field(STRUCT, 1))),
      ],
      [
        'nests lists endlessly',
        'failed',
        (request) => head(request, field(LIST, 9), ...Array<Buffer>(10_000).fill(Buffer.from([LIST, 0, 0, 0, 1]))),
      ],
      ['answers another call', 'failed', (request) => names({ ...request, sequence: request.sequence + 1 }, [])],
      ['answers another method', 'failed', (request) => names({ ...request, method: 'get_all_fables' }, [])],
      ['says a value of no known type', 'failed', (request) => head(request, field(77, 9))],
      ['says garbage', 'failed', () => Buffer.alloc(100_000, 'garbage')],
      ['says more than its answer', 'failed', (request) => Buffer.concat([names(request, ['a']), byte(1)])],
      ['answers a call of its own', 'failed', (request) => Buffer.concat([header(request, 1), STOP])],
      ['answers nothing that was declared', 'failed', (request) => reply(request)],
      [
        'answers numbers for names',
        'failed',
        (request) => reply(request, field(LIST, 0), byte(I64), i32(1), i32(7), i32(7)),
      ],
      ['demands a login by SASL', 'denied', () => Buffer.concat([byte(4), text('Invalid status -128')])],
      [
        'breaks off its answer',
        'unreachable',
        (request, socket) => {
          socket.end(names(request, ['a']).subarray(0, -3));
          return null;
        },
      ],
    ];
    const head = (request: Request, ...parts: Buffer[]) => Buffer.concat([header(request), ...parts]);
    const list = (request: Request, type: number, size: number, ...parts: Buffer[]) =>
      head(request, field(LIST, 0), byte(type), i32(size), ...parts);

    it.each(attacks)('%s', async (_name, fault, answer) => {
      const client = await clientFor(answer);
      const begun = performance.now();
      await expect(client.listTables(schema, never)).rejects.toMatchObject({ name: 'MetastoreError', fault });
      expect(performance.now() - begun).toBeLessThan(SOON_MS);
    });

    it('never finishes its response', async () => {
      let sent = 0;
      const chunk = Buffer.concat([field(STRING, 99), i32(MEBIBYTE), Buffer.alloc(MEBIBYTE)]);
      const pour = async (socket: Socket): Promise<void> => {
        for (; !socket.destroyed && sent < 1024 * MEBIBYTE; sent += chunk.length) {
          if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
          await turn();
        }
      };
      const client = await clientFor((request, socket) => {
        socket.write(header(request));
        void pour(socket).catch(() => undefined);
        return null;
      });
      await expect(client.listTables(schema, never)).rejects.toMatchObject({ fault: 'too-large' });
      expect(sent).toBeLessThan(100 * MEBIBYTE);
    });

    it('sends its response too slowly to finish', async () => {
      const drip = async (socket: Socket, bytes: Buffer): Promise<void> => {
        for (const value of bytes) {
          if (socket.destroyed) return;
          socket.write(byte(value));
          await delay(5);
        }
      };
      const client = await clientFor((request, socket) => {
        void drip(socket, names(request, Array<string>(1000).fill('name')));
        return null;
      }, 500);
      await expect(client.listTables(schema, never)).rejects.toMatchObject({ fault: 'timeout' });
    });

    it('sends data without a request', async () => {
      const metastore = await fake(
        () => null,
        (socket) => socket.write('220 mail.example.org ESMTP\r\n'),
      );
      await expect(clientOf([metastore.port]).listTables(schema, never)).rejects.toMatchObject({
        name: 'MetastoreError',
        fault: expect.stringMatching(/failed|unreachable/),
      });
    });
  });

  it('reads a response that arrives byte by byte', async () => {
    const client = await clientFor((request, socket) => {
      socket.setNoDelay(true);
      void (async () => {
        for (const value of names(request, ['b', 'größe', 'a', 'b'])) {
          socket.write(byte(value));
          await turn();
        }
      })();
      return null;
    });
    expect((await client.listTables(schema, never)).map((info) => info.name)).toEqual(['a', 'b', 'größe']);
  });

  it('returns a list of the maximum length, and refuses a longer one', async () => {
    const all = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);
    const full = await clientFor((request) => names(request, all(MAX_ENTRIES)));
    expect(await full.listTables(schema, never)).toHaveLength(MAX_ENTRIES);
    const over = await clientFor((request) => names(request, all(MAX_ENTRIES + 1)));
    await expect(over.listTables(schema, never)).rejects.toMatchObject({ fault: 'too-large' });
  });

  it.each([
    ['missing', (request: Request) => exception(request, 2, 'sales.gone')],
    [
      'denied',
      (request: Request) => exception(request, 1, 'java.security.AccessControlException: Permission denied: user=ada'),
    ],
    ['failed', (request: Request) => exception(request, 1, 'no connection to the database')],
    [
      'unsupported',
      (request: Request) =>
        Buffer.concat([
          header(request, EXCEPTION),
          field(STRING, 1),
          text('Invalid method name'),
          field(8, 2),
          i32(1),
          STOP,
        ]),
    ],
    [
      'failed',
      (request: Request) =>
        Buffer.concat([header(request, EXCEPTION), field(STRING, 1), text('oh'), field(8, 2), i32(6), STOP]),
    ],
  ])('reports %s if the metastore refuses a call, and keeps the connection', async (fault, refuse) => {
    const metastore = await fake(refuse);
    const client = clientOf([metastore.port]);
    for (let times = 0; times < 3; times += 1) {
      const read = client.readTable({ ...schema, table: 'gone' }, never);
      if (fault === 'missing') expect(await read).toBeNull();
      else await expect(read).rejects.toMatchObject({ name: 'MetastoreError', fault });
    }
    expect(metastore.connections).toBe(1);
  });

  it('returns only requested tables', async () => {
    const client = await clientFor((request) =>
      request.method === 'get_table'
        ? reply(request, field(STRUCT, 0), table('other'))
        : reply(request, field(LIST, 0), byte(STRUCT), i32(3), ...['b', 'other', 'a'].map(table)),
    );
    const described = await client.describeTables(schema, ['a', 'b', 'c'], never);
    expect(described.map((info) => info.name)).toEqual(['a', 'b']);
    await expect(client.readTable({ ...schema, table: 'a' }, never)).rejects.toMatchObject({ fault: 'failed' });
  });

  it('sends names unchanged', async () => {
    const metastore = await fake((request) => exception(request, 2, 'none'));
    const client = clientOf([metastore.port]);
    for (const name of ['a.b', 'a`b', `a'"b`, 'a b', '*', 'größe', '表🙂', 'x'.repeat(255), '\u0000', '../a']) {
      expect(await client.readTable({ catalog: null, schema: name, table: name }, never)).toBeNull();
      const sent = Buffer.concat([field(STRING, 1), text(name), field(STRING, 2), text(name), STOP]);
      expect(metastore.requests.at(-1)?.body).toEqual(sent);
    }
  });

  it('sends no request for an impossible name', async () => {
    const metastore = await fake((request) => names(request, ['a']));
    const client = clientOf([metastore.port]);
    for (const name of ['', 'x'.repeat(256), 'a\ud800']) {
      expect(await client.readTable({ ...schema, table: name }, never)).toBeNull();
      expect(await client.describeTables(schema, [name], never)).toEqual([]);
      const none = { catalog: null, schema: name };
      for (const list of [client.listTables(none, never), client.listVolumes(none, never)])
        await expect(list).rejects.toMatchObject({ fault: 'missing' });
    }
    expect(metastore.requests).toEqual([]);
  });

  it('opens at most two connections and reuses them', async () => {
    const held: (() => void)[] = [];
    const metastore = await fake((request, socket) => {
      held.push(() => socket.write(names(request, ['a'])));
      return null;
    });
    const client = clientOf([metastore.port]);
    const calls = Array.from({ length: 6 }, () => client.listTables(schema, AbortSignal.timeout(DEADLINE_MS)));
    for (let answered = 0; answered < calls.length; answered += 1) {
      const answer = await eventually(() => held.shift());
      expect(metastore.requests.length).toBeLessThanOrEqual(answered + 2);
      answer();
    }
    expect(await Promise.all(calls)).toHaveLength(6);
    expect(metastore.connections).toBe(2);
  });

  it('reconnects if an idle connection was closed', async () => {
    const metastore = await fake((request) => names(request, ['a']));
    const client = clientOf([metastore.port]);
    for (let times = 0; times < 3; times += 1) {
      expect(await client.listTables(schema, never)).toHaveLength(1);
      for (const socket of metastore.open) socket.destroy();
    }
    expect(metastore.connections).toBe(3);
    client.close();
    await eventually(() => metastore.open.size === 0);
  });

  it('reports the errors of all metastores if none answers', async () => {
    const [closing, gone] = [await fake((_request, socket) => (socket.destroy(), null)), await fake(() => null)];
    const [first, second] = [closing.port, gone.port];
    await gone.stop();
    const error: unknown = await clientOf([first, second])
      .listSchemas(null, never)
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      fault: 'unreachable',
      message: `127.0.0.1:${first} closed the connection. 127.0.0.1:${second} cannot be reached (ECONNREFUSED).`,
    });
    const working = await fake((request) => names(request, []));
    expect(await clientOf([first, second, working.port]).listSchemas(null, never)).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '169.254.169.254', '::1'])(
    'does not call %s if the policy refuses it',
    async (host) => {
      const strict = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] });
      const metastore = await fake((request) => names(request, []));
      const uris = [{ host, port: metastore.port }];
      const client = new HiveMetastoreClient({ uris, outbound: strict, deadlineMs: DEADLINE_MS });
      ends.push(() => client.close());
      await expect(client.listSchemas(null, never)).rejects.toMatchObject({
        fault: 'unreachable',
        message: expect.stringContaining('are refused'),
      });
      expect(metastore.connections).toBe(0);
    },
  );
});
