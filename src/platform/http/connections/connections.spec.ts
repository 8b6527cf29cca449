import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { eventually } from '../../../../test/harness/eventually';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { type ConnectionLimits, Connections } from './connections';
import { setCaller } from './request-caller';

const LIMITS: ConnectionLimits = { all: 6, unknown: 4, unknownOfAddress: 3, readTimeoutMs: 60_000 };

describe('Connections', () => {
  let server: Server;
  const clients: Socket[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  async function serve(limits: Partial<ConnectionLimits> = {}): Promise<void> {
    server = createServer((request, response) => answer(request, response));
    new Connections({ ...LIMITS, ...limits }).watch(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }

  beforeEach(() => {
    answer = (_request, response) => void response.end('ok');
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function open(localAddress = '127.0.0.1'): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', localAddress });
    clients.push(client);
    client.on('error', () => undefined);
    await once(client, 'connect');
    return client;
  }

  const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
  const openOnes = () => clients.map((client) => !client.closed && !client.readableEnded && !client.destroyed);

  /** Sends a request and waits for its answer. */
  async function ask(client: Socket): Promise<void> {
    client.write(get);
    await once(client, 'data');
  }

  const expectOpen = (expected: boolean[]) =>
    eventually(() => JSON.stringify(openOnes()) === JSON.stringify(expected), { what: `${expected.join()}` });

  it('closes the connection of an address that has waited longest for its client', async () => {
    await serve();
    for (let count = 0; count < 4; count += 1) await open();
    await expectOpen([false, true, true, true]);
  });

  it('counts a request as activity', async () => {
    await serve();
    const [first] = [await open(), await open(), await open()];
    await ask(first);
    await open();
    await expectOpen([true, false, true, true]);
  });

  it('closes no connection whose request is being served, and refuses a new one if there are no others', async () => {
    await serve();
    answer = () => undefined;
    let requests = 0;
    server.on('request', () => (requests += 1));
    for (let count = 0; count < 3; count += 1) (await open()).write(get);
    await eventually(() => requests === 3);
    await open();
    await expectOpen([true, true, true, false]);
  });

  it('bounds the connections of all addresses, and closes the longest waiting one of any address', async () => {
    await serve();
    for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3', '127.0.0.4']) await open(address);
    await expectOpen([false, true, true, true, true]);
  });

  it('ignores addresses of proxies', async () => {
    await serve({ unknownOfAddress: null });
    for (let count = 0; count < 4; count += 1) await open();
    await expectOpen([true, true, true, true]);
  });

  it('keeps connections of known callers, and closes an idle one only if the total is reached', async () => {
    await serve();
    answer = (request, response) => {
      setCaller(request as AuthenticatedRequest, { kind: 'user', id: 1 });
      response.end('ok');
    };
    for (let count = 0; count < 4; count += 1) await ask(await open('127.0.0.5'));
    for (const address of ['127.0.0.6', '127.0.0.7']) await open(address);
    await expectOpen([true, true, true, true, true, true]);
    await open('127.0.0.8');
    await expectOpen([true, true, true, true, false, true, true]);
    for (const stranger of clients.slice(5)) await ask(stranger);
    await open('127.0.0.9');
    await expectOpen([false, true, true, true, false, true, true, true]);
  });

  it('closes a connection whose client does not read the response', async () => {
    await serve({ readTimeoutMs: 200 });
    answer = (_request, response) => void response.end(Buffer.alloc(50 * 2 ** 20));
    const client = await open();
    client.pause();
    client.write(get);
    const count = () =>
      new Promise<number>((resolve) => server.getConnections((_error, connections) => resolve(connections)));
    await eventually(async () => (await count()) === 0, { what: 'no connection' });
  });

  it('closes a connection that sends many requests ahead of their responses', async () => {
    await serve();
    answer = () => undefined;
    const client = await open();
    client.write(get.repeat(5));
    await expectOpen([false]);
  });
});
