import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../../../config/config';
import { WorkerHealthServer } from './worker-health-server';

const at = (healthPort: number) => ({ worker: { healthPort }, http: { host: '127.0.0.1' } }) as Config;

async function takenPort() {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  return { other, port: (other.address() as AddressInfo).port };
}

describe('WorkerHealthServer', () => {
  it("is live from its start, and ready while the worker's check succeeds", async () => {
    const { other, port } = await takenPort();
    other.close();
    const server = new WorkerHealthServer(at(port));
    await server.start();
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect([await ask('/live'), await ask('/ready'), await ask('/other')]).toEqual([200, 503, 404]);
    let ready = true;
    server.setReadiness(() => Promise.resolve({ ready, message: '' }));
    expect(await ask('/ready')).toBe(200);
    ready = false;
    expect([await ask('/live'), await ask('/ready')]).toEqual([200, 503]);
    server.stop();
  });

  it('names the variable of a port that is taken', async () => {
    const { other, port } = await takenPort();
    await expect(new WorkerHealthServer(at(port)).start()).rejects.toMatchObject({
      code: 'LISTEN.REFUSED',
      help: { variable: 'WORKER_HEALTH_PORT' },
    });
    other.close();
  });
});
