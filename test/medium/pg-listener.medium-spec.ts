import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { eventually } from '../harness/eventually';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { sendAfterCommit, notifyAfterCommit } from '../../src/platform/kernel/notifications/after-commit';
import { notify, PgListener } from '../../src/platform/kernel/notifications/pg-listener';
import { configure, createEmptyDatabase, type TestDatabase } from './harness/test-api';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

/** Reconnects are half a second apart, so several fail in this time. */
const FAILED_TRIES = 4;
/** Below half a second, because timers may fire slightly early. */
const MIN_PAUSE_MS = 450;

describe('PgListener', () => {
  let database: TestDatabase;
  let admin: Client;
  /** Connected to another database: a session cannot close connections to the database that it is in. */
  let server: Client;
  let listener: PgListener;
  let heard: string[];

  beforeEach(async () => {
    database = await createEmptyDatabase();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    server = new Client({ connectionString: process.env['TEST_DATABASE_ADMIN_URL'] });
    await server.connect();
    listener = anotherListener();
    await listener.onModuleInit();
    heard = [];
    listener.on('node', (payload) => heard.push(payload));
  });

  afterEach(async () => {
    await listener?.onApplicationShutdown();
    await admin?.end();
    await server?.end();
    await database?.drop();
  });

  const anotherListener = () => new PgListener(configure(database.url), createLogger('test', 'silent'));

  const CONNECTIONS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listener'`;

  async function connections(): Promise<number> {
    return (await admin.query(`SELECT 1 ${CONNECTIONS}`)).rows.length;
  }

  async function endConnections(): Promise<void> {
    await admin.query(`SELECT pg_terminate_backend(pid) ${CONNECTIONS}`);
  }

  const name = () => new URL(database.url).pathname.slice(1);
  const send = (payload: string) =>
    notify({ query: (sql: string, params?: unknown[]) => admin.query(sql, params) } as never, 'node', payload);

  it('receives notifications at commit, and calls all listeners when it reconnects', async () => {
    await send('1');
    await eventually(() => heard.length === 1, { what: 'the first wake-up' });
    await endConnections();
    await eventually(() => heard.at(-1) === '', { what: 'the call after the reconnect' });
    await send('2');
    await eventually(() => heard.at(-1) === '2', { what: 'the second wake-up' });
    expect(heard).toEqual(['1', '', '2']);
    expect(await connections()).toBe(1);
  });

  it('calls its own listeners at once and only once, and others with as few notifications as possible', async () => {
    const [other, toldOthers]: [PgListener, string[]] = [anotherListener(), []];
    await other.onModuleInit();
    other.on('node', (payload) => toldOthers.push(payload));
    try {
      const payloads = Array.from({ length: 2_000 }, (_, index) => `node-${index}`);
      listener.send(payloads.map((payload) => ({ channel: 'node', payload })));
      expect(heard).toEqual(payloads);
      await eventually(() => toldOthers.join(',').endsWith('node-1999'), { what: 'the wake-ups of others' });
      expect(toldOthers.join(',').split(',')).toEqual(payloads);
      expect(toldOthers).toHaveLength(3);
      // Notifications arrive in commit order: an echo of its own would have arrived before this one.
      await send('end');
      await eventually(() => heard.at(-1) === 'end', { what: 'the last wake-up' });
      expect(heard).toEqual([...payloads, 'end']);
    } finally {
      await other.onApplicationShutdown();
    }
  });

  it('receives the notifications of committed transactions only', async () => {
    const dataSource = new DataSource({ type: 'postgres', url: database.url });
    await dataSource.initialize();
    try {
      sendAfterCommit(dataSource, listener);
      await inTransaction(dataSource, async (tx) => {
        await notifyAfterCommit(tx, 'node', 'outer');
        await inTransaction(tx, (inner) => notifyAfterCommit(inner, 'node', 'inner'));
        expect(heard).toEqual([]);
      });
      expect(heard).toEqual(['outer', 'inner']);
      const failed = inTransaction(dataSource, async (tx) => {
        await notifyAfterCommit(tx, 'node', 'lost');
        throw new Error('refused');
      });
      await expect(failed).rejects.toThrow('refused');
      // This uses the connection that the failed transaction released.
      await inTransaction(dataSource, (tx) => notifyAfterCommit(tx, 'node', 'next'));
      expect(heard).toEqual(['outer', 'inner', 'next']);
    } finally {
      await dataSource.destroy();
    }
  });

  it('has one connection after an outage, however many attempts failed', async () => {
    const tries: number[] = [];
    const prototype: { connect: (this: Client) => Promise<unknown> } = Client.prototype;
    const { connect } = prototype;
    jest.spyOn(prototype, 'connect').mockImplementation(function (this: Client) {
      tries.push(performance.now());
      return connect.call(this);
    });
    await server.query(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS false`);
    await endConnections();
    await eventually(() => tries.length >= FAILED_TRIES, { what: 'several tries' });
    await server.query(`ALTER DATABASE ${name()} ALLOW_CONNECTIONS true`);
    await eventually(() => heard.includes(''), { what: 'the call after the reconnect' });
    await send('after');
    await eventually(() => heard.includes('after'), { what: 'a wake-up' });
    await send('last');
    await eventually(() => heard.includes('last'), { what: 'another wake-up' });
    expect(heard).toEqual(['', 'after', 'last']);
    expect(await connections()).toBe(1);
    // One attempt at a time: failed attempts do not multiply.
    for (const [at, time] of tries.slice(1).entries()) expect(time - (tries[at] ?? 0)).toBeGreaterThan(MIN_PAUSE_MS);
  });
});
