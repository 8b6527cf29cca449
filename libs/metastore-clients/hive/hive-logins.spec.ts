import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import type { HiveLogin } from './hive-authentication';
import { HiveMetastoreClient } from './hive-metastore-client';

const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });
const schema = { catalog: null, schema: 'sales' };
const never = new AbortController().signal;
const PLAIN: HiveLogin = { kind: 'plain', username: 'ada', password: 'pass word' };
const [START, OK, BAD, ERROR, COMPLETE] = [1, 2, 3, 4, 5];

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
const message = (status: number, payload: Buffer | string = ''): Buffer =>
  Buffer.concat([Buffer.from([status]), u32(Buffer.byteLength(payload)), Buffer.from(payload)]);
const framed = (bytes: Buffer): Buffer => Buffer.concat([u32(bytes.length), bytes]);

/** A call as Thrift writes it. */
interface Call {
  method: string;
  sequence: number;
  bytes: Buffer;
}
const callOf = (bytes: Buffer): Call => {
  const length = bytes.readInt32BE(4);
  return { method: bytes.toString('utf8', 8, 8 + length), sequence: bytes.readInt32BE(8 + length), bytes };
};
const header = ({ method, sequence }: Call, type = 2): Buffer =>
  Buffer.concat([u32(0x8001_0000 + type), text(method), u32(sequence)]);
const names = (call: Call, all: string[]): Buffer =>
  Buffer.concat([header(call), Buffer.from([15, 0, 0, 11]), u32(all.length), ...all.map(text), Buffer.from([0])]);
const unknownMethod = (call: Call): Buffer =>
  Buffer.concat([
    header(call, 3),
    Buffer.from([11, 0, 1]),
    text('Invalid method'),
    Buffer.from([8, 0, 2]),
    u32(1),
    Buffer.from([0]),
  ]);

describe('logins at a Hive metastore', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** A server that runs a script for each connection, with all received bytes. */
  const serve = async (talk: (socket: Socket, received: () => Buffer) => void): Promise<number> => {
    const open = new Set<Socket>();
    const server: Server = createServer((socket) => {
      open.add(socket);
      let all = Buffer.alloc(0);
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        all = Buffer.concat([all, chunk]);
        talk(socket, () => all);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const tables = (port: number, login: HiveLogin): Promise<string[]> => {
    const uris = [{ host: '127.0.0.1', port }];
    const client = new HiveMetastoreClient({ uris, outbound, deadlineMs: 4_000, login });
    ends.push(() => client.close());
    return client.listTables(schema, never).then((found) => found.map(({ name }) => name));
  };

  const SAID = Buffer.concat([message(START, 'PLAIN'), message(COMPLETE, '\0ada\0pass word')]);
  /** Accepts a client that sends the expected login, and answers its call. */
  const honest =
    (
      answer: (call: Call) => Buffer,
      write: (socket: Socket, bytes: Buffer) => void = (socket, bytes) => void socket.write(bytes),
    ) =>
    (socket: Socket, received: () => Buffer): void => {
      const all = received();
      if (all.length === SAID.length) {
        expect(all).toEqual(SAID);
        write(socket, message(COMPLETE));
      } else if (all.length > SAID.length + 4 && all.length === SAID.length + 4 + all.readUInt32BE(SAID.length)) {
        write(socket, answer(callOf(all.subarray(SAID.length + 4))));
      }
    };

  it('are made by user name and password', async () => {
    const port = await serve(honest((call) => framed(names(call, ['b', 'a']))));
    expect(await tables(port, PLAIN)).toEqual(['a', 'b']);
  });

  it('work byte by byte, and with a response in several frames', async () => {
    const drip = (socket: Socket, bytes: Buffer): void => {
      socket.setNoDelay(true);
      void (async () => {
        for (const value of bytes) {
          socket.write(Buffer.from([value]));
          await turn();
        }
      })();
    };
    const port = await serve(
      honest((call) => {
        const whole = names(call, ['größe', 'a']);
        return Buffer.concat([framed(whole.subarray(0, 7)), framed(Buffer.alloc(0)), framed(whole.subarray(7))]);
      }, drip),
    );
    expect(await tables(port, PLAIN)).toEqual(['a', 'größe']);
  });

  it.each([
    ['BAD', BAD],
    ['ERROR', ERROR],
  ])('are refused by %s in the words of the metastore, but without the password', async (_name, status) => {
    const port = await serve((socket) => socket.write(message(status, 'ada has no password "pass word"\nat line 1')));
    await expect(tables(port, PLAIN)).rejects.toMatchObject({
      fault: 'denied',
      message: `127.0.0.1:${port}: ada has no password "***".`,
    });
  });

  it.each([
    ['announces a message of 4 GB', Buffer.concat([Buffer.from([OK]), u32(0xffff_ffff)]), /too-large/],
    ['asks for more than a password', message(OK, 'more'), /failed/],
    ['says what is no status', message(77), /failed/],
    ['speaks HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /too-large|failed/],
    ['says more than its end', Buffer.concat([message(COMPLETE), Buffer.from('more')]), /failed/],
  ])('fail if the metastore %s', async (_name, response, fault) => {
    const port = await serve((socket, received) => received().length >= SAID.length && socket.write(response));
    await expect(tables(port, PLAIN)).rejects.toMatchObject({
      name: 'MetastoreError',
      fault: expect.stringMatching(fault),
    });
  });

  it.each([
    ['announces a frame of 4 GB', () => u32(0xffff_ffff), /too-large/],
    ['answers without a frame', (call: Call) => names(call, ['a']), /too-large|failed/],
    ['answers another call', (call: Call) => framed(names({ ...call, sequence: call.sequence + 1 }, [])), /failed/],
  ])('do not help a metastore that then %s', async (_name, answer, fault) => {
    const port = await serve(honest(answer));
    await expect(tables(port, PLAIN)).rejects.toMatchObject({
      name: 'MetastoreError',
      fault: expect.stringMatching(fault),
    });
  });

  it('time out at a metastore that sends nothing', async () => {
    const port = await serve(() => undefined);
    await expect(tables(port, PLAIN)).rejects.toMatchObject({ fault: expect.stringMatching(/unreachable|timeout/) });
  });

  it.each<[string, HiveLogin]>([
    ['a password with a null character', { ...PLAIN, password: 'a\0b' }],
    ['a password with a command', { ...PLAIN, password: 'a\r\nCONFIG SET dir /tmp\r\nb' }],
    ['a user name with a line break', { ...PLAIN, username: 'a\nb' }],
    ['the name of a caller with a line break', { kind: 'none', user: 'a\nb' }],
    [
      'a principal with a line break',
      {
        kind: 'kerberos',
        service: 'hive/_HOST@A.ORG',
        identity: {
          principal: 'a\nb@A.ORG',
          keytab: Buffer.alloc(0),
          krb5: { defaultRealm: null, realms: [], domainRealm: new Map() },
        },
      },
    ],
  ])('do not connect with %s, which a server of another protocol could run as a command', async (_case, login) => {
    let connections = 0;
    const server = createServer(() => (connections += 1));
    ends.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const listed = async () => tables((server.address() as AddressInfo).port, login);
    await expect(listed()).rejects.toMatchObject({ fault: 'denied', message: expect.stringContaining('control') });
    expect(connections).toBe(0);
  });

  it.each([
    ['that takes it', (call: Call) => names(call, ['ada'])],
    ['that knows no such call', unknownMethod],
  ])('send only the user name to a metastore without logins %s', async (_name, setUgiAnswer) => {
    const calls: Call[] = [];
    const port = await serve((socket, received) => {
      const all = received();
      const call = callOf(all.subarray(calls.reduce((sum, { bytes }) => sum + bytes.length, 0)));
      calls.push(call);
      socket.write(call.method === 'set_ugi' ? setUgiAnswer(call) : names(call, ['a']));
    });
    expect(await tables(port, { kind: 'none', user: 'ada' })).toEqual(['a']);
    expect(calls.map(({ method }) => method)).toEqual(['set_ugi', 'get_all_tables']);
    expect(calls[0]?.bytes.includes('ada')).toBe(true);
  });
});
