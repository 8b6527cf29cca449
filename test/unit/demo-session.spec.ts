import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const SESSION = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'demo', 'session.mjs')).href;

/** Asks once with the time that the request may take, and prints the answer or the class and message of the error. */
const PROGRAM = `
const { Session } = await import(${JSON.stringify(SESSION)});
const [baseUrl, timeoutMs] = process.argv.slice(1);
const session = new Session({ baseUrl });
await session.json('POST', '/invoke', { body: {}, timeoutMs: Number(timeoutMs) }).then(
  (answer) => console.log(JSON.stringify(answer)),
  ({ name, message }) => console.log(name + ': ' + message),
);
`;

describe('a request of the quickstart', () => {
  const ANSWERED_AFTER_MS = 1000;
  let server: Server;

  beforeAll(async () => {
    server = createServer((_, response) => {
      setTimeout(() => response.end('{"sum": 499500}'), ANSWERED_AFTER_MS).unref();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  const asked = async (timeoutMs: number): Promise<string> => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const program = ['--input-type=module', '-e', PROGRAM, url, String(timeoutMs)];
    return (await promisify(execFile)(process.execPath, program)).stdout.trim();
  };

  it('waits as long as its caller wants', async () => {
    expect(await asked(60_000)).toBe('{"sum":499500}');
  });

  it('says for how long it waited, without a stack', async () => {
    expect(await asked(100)).toMatch(
      /^SetupError: POST \/invoke was not answered within 0\.1 s\. This machine may be too busy/,
    );
  });
});
