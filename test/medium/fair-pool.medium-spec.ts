import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { type RequestContext, runWithoutCaller, runInContext } from '../../src/platform/kernel/context/request-context';
import { eventually } from '../harness/eventually';
import { configure, createTestDatabase, type TestDatabase } from './harness/test-api';

// Real: PostgreSQL and the smallest pool of connections, which gives each caller one.
describe('the pool of connections', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = configure(database.url, { DATABASE_POOL_SIZE: '2' });
    dataSource = await createDataSource(config.database, 'test', 1_500).initialize();
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  const requestOf = (userId: number): RequestContext => ({
    correlationId: 'test',
    idempotency: null,
    caller: { kind: 'user', id: userId, tenantId: null },
  });

  /** Opens a transaction of the caller until the test ends it. */
  async function opened(context: RequestContext, inside: () => Promise<unknown> = async () => undefined) {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let over: Promise<void> = Promise.resolve();
    await new Promise<void>((resolve, reject) => {
      over = runInContext(context, () =>
        dataSource.transaction(async (tx) => {
          await tx.query('SELECT 1');
          await inside();
          resolve();
          await ended;
        }),
      );
      over.catch(reject);
    });
    return { end: () => (end(), over) };
  }

  it('delays only further requests of a caller who has a connection', async () => {
    const { end } = await opened(requestOf(1));
    let isAnswered = false;
    const next = runInContext(requestOf(1), () => dataSource.query('SELECT 1')).then(() => (isAnswered = true));
    await runInContext(requestOf(2), () => dataSource.query('SELECT 1'));
    await runInContext(requestOf(1), () => runWithoutCaller(() => dataSource.query('SELECT 1')));
    expect(isAnswered).toBe(false);
    await end();
    await next;
  });

  it('lets a transaction read on a second connection, so that it does not wait for itself', async () => {
    const { end } = await opened(requestOf(1), () => dataSource.query('SELECT 1'));
    await end();
  });

  it('does not count failed connections', async () => {
    const failing = () => runInContext(requestOf(1), () => dataSource.query('SELECT 1/0'));
    for (let time = 0; time < 3; time += 1) await expect(failing()).rejects.toThrow('division by zero');
    const ended = () =>
      runInContext(requestOf(1), () => dataSource.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    for (let time = 0; time < 3; time += 1) await expect(ended()).rejects.toThrow('terminat');
    // A request may still get a connection that has just ended, and fails.
    await eventually(() => runInContext(requestOf(1), () => dataSource.query('SELECT 1')));
  });

  it('waits for a lock no longer than the timeout', async () => {
    await dataSource.query('CREATE TABLE things (thing_id int)');
    await dataSource.transaction(async (tx) => {
      await tx.query('LOCK TABLE things');
      await expect(dataSource.query('SELECT 1 FROM things')).rejects.toMatchObject({ driverError: { code: '55P03' } });
    });
  });
});
