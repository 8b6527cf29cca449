import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { eventually } from '../harness/eventually';
import type { Config } from '../../src/config/config';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { enqueueWorkflow } from '../../src/platform/background/outbox/outbox';
import { OutboxRelay } from '../../src/platform/background/outbox/outbox-relay';

import { Queues } from '../../src/platform/background/queues/queues';
import { RedisFailures } from '../../src/platform/kernel/errors/redis-failures';
import { sendAfterCommit } from '../../src/platform/kernel/notifications/after-commit';
import { PgListener } from '../../src/platform/kernel/notifications/pg-listener';
import { defineWorkflow } from '../../src/platform/background/workflows/workflow-definition';
import { PrivateRedis } from '../e2e/harness/private-redis';
import { configure, preparedDatabase } from './harness/test-api';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const ROWS = 250;
const SLOW_POLL = '60000';
const QUEUE = 'jobs';
const WORK = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'test.work', queue: QUEUE },
  deadlineMs: 60_000,
});

// Real: PostgreSQL, Redis, BullMQ's queues. Left out: the handlers of jobs.
describe('OutboxRelay', () => {
  // This runs before the database is dropped.
  afterAll(async () => {
    redis?.disconnect();
    await sender?.onApplicationShutdown();
  });
  const { config, dataSource } = preparedDatabase({ OUTBOX_POLL_MS: SLOW_POLL });
  /** The listener of the process that writes the rows. */
  let sender: PgListener;
  let redis: Redis;
  let stopping: (() => Promise<void>)[] = [];
  const logger = createLogger('test', 'silent');

  beforeAll(async () => {
    sender = new PgListener(config, logger);
    await sender.onModuleInit();
    sendAfterCommit(dataSource, sender);
    redis = new Redis(config.redis.url, { maxRetriesPerRequest: null });
  });

  afterEach(async () => {
    for (const stop of stopping.reverse()) await stop();
    stopping = [];
    await dataSource.query('DELETE FROM outbox_messages');
    const keys = await redis.keys(`${config.redis.prefix}:*`);
    if (keys.length > 0) await redis.del(keys);
  });

  /** Starts a relay with connections of its own, as another worker has. */
  async function newRelay(settings: Config = config): Promise<OutboxRelay> {
    const queues = new Queues(settings, new RedisFailures(logger));
    const listener = new PgListener(settings, logger);
    await listener.onModuleInit();
    const relay = new OutboxRelay(dataSource, queues, listener, settings, logger);
    stopping.push(async () => {
      await relay.stop();
      await listener.onApplicationShutdown();
      await queues.onApplicationShutdown();
    });
    return relay;
  }

  async function write(count: number): Promise<void> {
    await inTransaction(dataSource, async (tx) => {
      for (let id = 1; id <= count; id += 1) await enqueueWorkflow(tx, WORK.jobName, id);
    });
  }

  /** Returns the instances named by the jobs in the queue. */
  async function queued(): Promise<number[]> {
    // BullMQ does not close a connection that was passed to it.
    const connection = redis.duplicate({ maxRetriesPerRequest: null });
    const queue = new Queue(QUEUE, { connection, prefix: config.redis.prefix });
    try {
      const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized']);
      return jobs.map(
        (job) => (job.data as { payload: { workflow_job_instance_id: number } }).payload.workflow_job_instance_id,
      );
    } finally {
      await queue.close();
      connection.disconnect();
    }
  }

  async function unsent(): Promise<number> {
    const [row] = await dataSource.query<{ count: number }[]>(
      'SELECT count(*) FROM outbox_messages WHERE sent_at IS NULL',
    );
    return row?.count ?? 0;
  }

  const all = Array.from({ length: ROWS }, (_, index) => index + 1);
  const inOrder = (ids: number[]) => [...ids].sort((a, b) => a - b);
  const allSent = (but = 0) =>
    eventually(async () => (await unsent()) === but, { what: `an outbox with ${but} messages` });

  it('sends each row once, even if three run concurrently', async () => {
    await write(ROWS);
    for (const relay of await Promise.all([newRelay(), newRelay(), newRelay()])) relay.start();
    await allSent();
    expect(inOrder(await queued())).toEqual(all);
  });

  it('sends rows that commit while it runs, long before its next poll, and none that are rolled back', async () => {
    const relay = await newRelay();
    relay.start();
    await write(2);
    await allSent();
    const refused = inTransaction(dataSource, async (tx) => {
      await enqueueWorkflow(tx, WORK.jobName, 3);
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await inTransaction(dataSource, (tx) => enqueueWorkflow(tx, WORK.jobName, 4));
    await allSent();
    expect(inOrder(await queued())).toEqual([1, 2, 4]);
  });

  it('finds rows without a notification by its poll', async () => {
    const relay = await newRelay({ ...config, worker: { ...config.worker, relayPollMs: 100 } });
    relay.start();
    await dataSource.query(
      `INSERT INTO outbox_messages (job_name, payload, correlation_id, delay_ms)
       VALUES ('${WORK.jobName}', '{"workflow_job_instance_id": 7}', 'test', 0)`,
    );
    await allSent();
    expect(await queued()).toEqual([7]);
  });

  it('adds no job if a row is sent again after a crash between sending and marking', async () => {
    const relay = await newRelay();
    relay.start();
    await write(3);
    await allSent();
    await inTransaction(dataSource, async (tx) => {
      await tx.query('UPDATE outbox_messages SET sent_at = NULL');
      await tx.query(`SELECT pg_notify('outbox', '')`);
    });
    await allSent();
    expect(inOrder(await queued())).toEqual([1, 2, 3]);
  });

  it('leaves jobs that only another release knows to its workers, and sends all others', async () => {
    const relay = await newRelay({ ...config, worker: { ...config.worker, relayPollMs: 100 } });
    const others = (count: number) =>
      dataSource.query(
        `INSERT INTO outbox_messages (job_name, payload, correlation_id, delay_ms)
         SELECT 'cluster.paint', '{}', 'test', 0 FROM generate_series(1, $1)`,
        [count],
      );
    // More than a batch of them, in front and in between.
    await others(150);
    await write(1);
    await others(150);
    relay.start();
    await eventually(async () => (await queued()).length === 1, { what: 'the first message' });
    await write(2);
    // A message is in the queue before its row is marked as sent.
    await allSent(300);
    expect(inOrder(await queued())).toEqual([1, 1, 2]);
  });

  it('keeps the rows while Redis is unavailable, and then sends each once', async () => {
    const other = await PrivateRedis.start();
    try {
      const relay = await newRelay(configure(config.database.url, { REDIS_URL: other.url, OUTBOX_POLL_MS: SLOW_POLL }));
      await other.kill();
      relay.start();
      await write(3);
      const holds = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
      await eventually(async () => (await dataSource.query<unknown[]>(holds)).length > 0, { what: 'a try' });
      expect(await unsent()).toBe(3);
      await other.start();
      await allSent();
      for (const stop of stopping.splice(0)) await stop();
    } finally {
      await other.kill();
    }
  });
});
