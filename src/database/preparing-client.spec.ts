import { type AddressInfo, createServer, type Server } from 'node:net';
import { Pool } from 'pg';
import { PreparingClient } from './preparing-client';

/** Returns a message of the PostgreSQL protocol with its type, length and content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const ENDED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

// The driver and its pool are real. A fake PostgreSQL sends its messages in one piece.
describe('PreparingClient', () => {
  let server: Server;
  let pool: Pool;

  beforeEach(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(Buffer.concat([AUTHENTICATED, READY, ENDED])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    pool = new Pool({ host: '127.0.0.1', port, user: 'somebody', database: 'something', Client: PreparingClient });
  });

  afterEach(async () => {
    await pool.end();
    await new Promise((resolve) => server.close(resolve));
  });

  it('survives a session that ends as soon as it begins, and fails the next query', async () => {
    const client = await pool.connect();
    await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
    client.release(true);
  });
});
