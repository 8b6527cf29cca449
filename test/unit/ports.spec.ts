import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../scripts/embedded/ports.mjs';

describe('a free port', () => {
  it('is none that the system may give to another process before it is used', async () => {
    // Linux assigns ports from 32768 on, other systems from 49152 on.
    for (let tried = 0; tried < 50; tried += 1) expect(await freePort()).toBeLessThan(32_768);
  });

  it('is the remembered one unless another program listens there', async () => {
    const other = createServer();
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await freePort(port)).not.toBe(port);
    other.close();
    await once(other, 'close');
    expect(await freePort(port)).toBe(port);
  });
});
