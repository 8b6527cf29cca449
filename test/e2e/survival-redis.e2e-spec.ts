import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, type Estate, reachStatus } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';
import { PrivateRedis } from './harness/private-redis';
import { endedWorkflow, expectNoStrayNodes, expectSound, QUICK_RECOVERY } from './harness/survival';

let redis: PrivateRedis;
let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;
let made = 0;

beforeAll(async () => {
  redis = await PrivateRedis.start();
  platform = await PlatformUnderTest.start({
    name: 'survival-redis',
    env: { ...QUICK_RECOVERY, REDIS_URL: redis.url },
  });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(async () => {
  redis?.resume();
  await platform?.close();
  await redis?.kill();
});

async function newCluster(fields: object = {}): Promise<number> {
  made += 1;
  return createCluster(client, estate, `cluster-${made}`, fields);
}

const ask = (operation: string, clusterId: number) => client.post(`/cluster/${operation}`, { cluster_id: clusterId });

async function health(): Promise<{ status: number; message: string }> {
  const { status, body } = await platform.anonymous().request('GET', '/healthCheck');
  return { status, message: body.message };
}

const isHealthy = async () => (await health()).status === 200;

/** Checks that the start was executed once and left nothing open. */
async function expectStartedOnce(clusterId: number): Promise<void> {
  await reachStatus(client, clusterId, 'RUNNING');
  const { state, steps } = await endedWorkflow(platform, clusterId);
  expect(state).toBe('DONE');
  const done = steps.filter(({ outcome }) => outcome === 'done').map(({ name }) => name);
  expect(done).toEqual(['plan-nodes', 'provision-nodes', 'await-nodes', 'mark-running']);
  await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
}

describe('Redis wiped with work queued', () => {
  it('every operation is executed once', async () => {
    const [started, stopped, destroyed, fresh] = await Promise.all([
      newCluster(),
      newCluster(),
      newCluster(),
      newCluster(),
    ]);
    for (const clusterId of [stopped, destroyed]) await ask('start', clusterId);
    for (const clusterId of [stopped, destroyed]) await reachStatus(client, clusterId, 'RUNNING');
    await platform.stopWorker();
    // This worker sends the messages of the outbox, but does not execute the work.
    await platform.startWorker({ WORKER_QUEUES: 'jobs' });
    await ask('start', started);
    await ask('stop', stopped);
    await ask('destroy', destroyed);
    const unsent = 'SELECT 1 FROM outbox_messages WHERE sent_at IS NULL';
    await eventually(async () => (await platform.sql(unsent)).length === 0, { what: 'everything sent' });
    await platform.stopWorker();
    await ask('start', fresh);
    await redis.kill();
    await redis.start();
    await platform.startWorker();

    await expectStartedOnce(started);
    await expectStartedOnce(fresh);
    await reachStatus(client, stopped, 'STOPPED');
    await reachStatus(client, destroyed, 'DESTROYED');
    const before = ['STOPPED', 'INITIATING', 'RUNNING'];
    await expectSound(platform, stopped, { history: [...before, 'STOPPING', 'STOPPED'], nodes: 1 });
    await expectSound(platform, destroyed, { history: [...before, 'DESTROYING', 'DESTROYED'], nodes: 0 });
    await expectNoStrayNodes(platform);
  });

  it('a start that waits for its nodes continues', async () => {
    const gate = join(platform.sharedDir, 'gate');
    const clusterId = await newCluster({ bootstrap_shell_script: `until [ -e ${gate} ]; do sleep 0.05; done` });
    await ask('start', clusterId);
    await eventually(() => waits(clusterId), { what: 'a start that waits for its nodes' });
    await platform.wipeRedis(redis.url);
    await expectFurtherLooks(clusterId, 2);
    writeFileSync(gate, '');
    await expectStartedOnce(clusterId);
  });
});

describe('Redis away', () => {
  it.each([
    ['ended', () => redis.kill(), () => redis.start()],
    ['halted', () => redis.halt(), async () => redis.resume()],
  ])(
    '%s: a start is accepted and executed when Redis is back; the health check names Redis',
    async (_how, end, back) => {
      const clusterId = await newCluster();
      await end();
      const away = await eventually(async () => ((await isHealthy()) ? null : health()), { what: 'an ill platform' });
      expect(away).toEqual({ status: 500, message: 'Redis cannot be reached' });
      await ask('start', clusterId);
      // Logins, reads and writes continue, too.
      await platform.admin();
      expect((await client.get('/cluster', { cluster_id: clusterId })).cluster_status).toBe('INITIATING');
      await back();
      await expectStartedOnce(clusterId);
      await eventually(isHealthy, { what: 'a healthy platform' });
    },
  );
});

async function waits(clusterId: number): Promise<boolean> {
  const found = await platform.sql(
    `SELECT 1 FROM workflow_steps s JOIN clusters c USING (workflow_job_instance_id)
     WHERE c.cluster_id = $1 AND s.name = 'await-nodes' AND s.outcome = 'waiting'`,
    [clusterId],
  );
  return found.length > 0;
}

/** Waits until the step has polled again, although the job that triggers the next poll was lost. */
async function expectFurtherLooks(clusterId: number, more: number): Promise<void> {
  const count = async () => {
    const [row] = await platform.sql<{ count: number }>(
      `SELECT count(*)::int FROM workflow_steps s JOIN clusters c USING (workflow_job_instance_id)
       WHERE c.cluster_id = $1 AND s.name = 'await-nodes'`,
      [clusterId],
    );
    return row?.count ?? 0;
  };
  const before = await count();
  await eventually(async () => (await count()) >= before + more, { timeoutMs: 180_000, what: 'another poll' });
}
