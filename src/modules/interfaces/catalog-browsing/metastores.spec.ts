import { type MetastoreClient, MetastoreError } from '../../../../libs/metastore-clients/metastore-client';
import { createLogger } from '../../../platform/kernel/logging/logger';
import { type MetastoreAccess, Metastores } from './metastores';

describe('Metastores', () => {
  let metastores: Metastores;
  const clients: { close: jest.Mock }[] = [];
  const open = jest.fn(() => {
    const client = { close: jest.fn() };
    clients.push(client);
    return Promise.resolve(client as unknown as MetastoreClient);
  });
  const access = (key: string, catalogId = 1, userId = 1): MetastoreAccess => ({
    tenantId: 't',
    userId,
    catalogId,
    catalogName: 'sales',
    key,
    open,
  });
  const silent = () => Promise.reject(new MetastoreError('timeout', 'no answer within 5 s'));
  const fine = () => Promise.resolve('fine');

  beforeEach(() => {
    clients.length = 0;
    open.mockClear();
    metastores = new Metastores(createLogger('test', 'fatal'));
  });

  it('uses one client per key, and closes them at shutdown', async () => {
    expect(await Promise.all(['a', 'b', 'a'].map((key) => metastores.call(access(key), fine)))).toHaveLength(3);
    expect(open).toHaveBeenCalledTimes(2);
    metastores.onApplicationShutdown();
    await Promise.resolve();
    for (const { close } of clients) expect(close).toHaveBeenCalled();
  });

  it('opens a client again after a failure', async () => {
    open.mockRejectedValueOnce(new MetastoreError('denied', 'no token'));
    await expect(metastores.call(access('a'), fine)).rejects.toMatchObject({ code: 'METASTORE.DENIED' });
    expect(await metastores.call(access('a'), fine)).toBe('fine');
  });

  it('closes an evicted client after its last call', async () => {
    let end = (): void => undefined;
    const long = metastores.call(access('first'), () => new Promise<void>((resolve) => (end = resolve)));
    for (let count = 0; count < 64; count += 1) await metastores.call(access(`other ${count}`, 2 + count), fine);
    expect(clients[0]?.close).not.toHaveBeenCalled();
    end();
    await long;
    await Promise.resolve();
    expect(clients[0]?.close).toHaveBeenCalledTimes(1);
  });

  it("names the catalog in the metastore's error", async () => {
    const denied = () => Promise.reject(new MetastoreError('denied', 'the token has expired'));
    await expect(metastores.call(access('a'), denied)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'METASTORE.DENIED',
      message: 'The metastore of the catalog "sales": the token has expired',
    });
  });

  it('stops calling a metastore that does not answer for a while, but still calls others', async () => {
    for (let count = 0; count < 5; count += 1) {
      await expect(metastores.call(access('a'), silent)).rejects.toMatchObject({
        kind: 'unavailable',
        code: 'METASTORE.TIMEOUT',
      });
    }
    const work = jest.fn(fine);
    await expect(metastores.call(access('a'), work)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'METASTORE.UNREACHABLE',
      message: expect.stringMatching(/"sales" has not answered lately.*no answer within 5 s/) as string,
      details: { retry_after_seconds: 10 },
    });
    expect(work).not.toHaveBeenCalled();
    expect(await metastores.call(access('c', 2), fine)).toBe('fine');
  });

  it("still calls it with other users' secrets, and shows nobody another user's error", async () => {
    for (let count = 0; count < 5; count += 1) await metastores.call(access('a'), silent).catch(() => undefined);
    expect(await metastores.call(access('b', 1, 2), fine)).toBe('fine');
    const refused = await metastores.call(access('a', 1, 2), fine).catch((error: Error) => error.message);
    expect(refused).toContain('has not answered lately');
    expect(refused).not.toContain('no answer within');
  });

  it('keeps calling a metastore that refuses', async () => {
    const denied = () => Promise.reject(new MetastoreError('denied', 'no'));
    for (let count = 0; count < 8; count += 1) {
      await expect(metastores.call(access('a'), denied)).rejects.toMatchObject({ code: 'METASTORE.DENIED' });
    }
  });

  it('makes up to eight concurrent calls to a catalog', async () => {
    let running = 0;
    let maxRunning = 0;
    const work = async (): Promise<void> => {
      maxRunning = Math.max(maxRunning, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => metastores.call(access(`${index}`), work)));
    expect(maxRunning).toBe(8);
  });
});
