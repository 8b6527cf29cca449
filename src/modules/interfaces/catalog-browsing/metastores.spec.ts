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

  it('uses one client for each key, and ends them with the process', async () => {
    expect(await Promise.all(['a', 'b', 'a'].map((key) => metastores.call(access(key), fine)))).toHaveLength(3);
    expect(open).toHaveBeenCalledTimes(2);
    metastores.onApplicationShutdown();
    await Promise.resolve();
    for (const { close } of clients) expect(close).toHaveBeenCalled();
  });

  it('opens again what could not be opened', async () => {
    open.mockRejectedValueOnce(new MetastoreError('denied', 'no token'));
    await expect(metastores.call(access('a'), fine)).rejects.toMatchObject({ code: 'METASTORE.DENIED' });
    expect(await metastores.call(access('a'), fine)).toBe('fine');
  });

  it('closes a client that made room for others once its last call has ended', async () => {
    let end = (): void => undefined;
    const long = metastores.call(access('first'), () => new Promise<void>((resolve) => (end = resolve)));
    for (let count = 0; count < 64; count += 1) await metastores.call(access(`other ${count}`, 2 + count), fine);
    expect(clients[0]?.close).not.toHaveBeenCalled();
    end();
    await long;
    await Promise.resolve();
    expect(clients[0]?.close).toHaveBeenCalledTimes(1);
  });

  it('names the catalog and says what the metastore said', async () => {
    const denied = () => Promise.reject(new MetastoreError('denied', 'the token has expired'));
    await expect(metastores.call(access('a'), denied)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'METASTORE.DENIED',
      message: 'The metastore of the catalog "sales": the token has expired',
    });
  });

  it('asks a metastore that does not answer no more for a while, and other metastores still', async () => {
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

  it('asks it still with the secrets of others, and tells nobody what another was told', async () => {
    for (let count = 0; count < 5; count += 1) await metastores.call(access('a'), silent).catch(() => undefined);
    expect(await metastores.call(access('b', 1, 2), fine)).toBe('fine');
    const refused = await metastores.call(access('a', 1, 2), fine).catch((error: Error) => error.message);
    expect(refused).toContain('has not answered lately');
    expect(refused).not.toContain('no answer within');
  });

  it('goes on asking one that refuses', async () => {
    const denied = () => Promise.reject(new MetastoreError('denied', 'no'));
    for (let count = 0; count < 8; count += 1) {
      await expect(metastores.call(access('a'), denied)).rejects.toMatchObject({ code: 'METASTORE.DENIED' });
    }
  });

  it('makes eight calls to a catalog at once', async () => {
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => metastores.call(access(`${index}`), work)));
    expect(most).toBe(8);
  });
});
