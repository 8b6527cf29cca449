import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '../harness/eventually';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, type Estate, reachStatus } from './harness/estate';
import { PlatformUnderTest } from './harness/platform';
import { endedWorkflow, expectNoStrayNodes, expectSound, nodesOf, QUICK_RECOVERY } from './harness/survival';

/** One LISTEN connection of the API, one of the worker. */
const LISTENERS = 2;

/** Long enough for hundreds of connections if each failure were retried twice. */
const OUTAGE_MS = 5_000;

let platform: PlatformUnderTest;
let client: ApiClient;
let estate: Estate;
let made = 0;

beforeAll(async () => {
  platform = await PlatformUnderTest.start({ name: 'survival-database', env: QUICK_RECOVERY });
  // A worker that loses its database during its start exits and expects a restart, so the test waits until it has started.
  await eventually(() => platform.workerLog().includes('The worker has started'), {
    timeoutMs: 180_000,
    what: 'the worker',
  });
  client = await platform.admin();
  estate = await describeEstate(client, platform.runtime.sparkVersion);
});

afterAll(() => platform?.close());

async function newCluster(fields: object = {}): Promise<number> {
  made += 1;
  return createCluster(client, estate, `cluster-${made}`, fields);
}

const ask = (operation: string, clusterId: number) => client.post(`/cluster/${operation}`, { cluster_id: clusterId });

const CONNECTIONS = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** Ends the connections of the platform, all or those of one name; returns their number. */
async function endConnections(name: string | null = null): Promise<number> {
  const ended = await platform.sql(
    `SELECT pg_terminate_backend(pid) ${CONNECTIONS} AND ($1::text IS NULL OR application_name = $1)`,
    [name],
  );
  return ended.length;
}

async function listeners(): Promise<number> {
  return (await platform.sql(`SELECT 1 ${CONNECTIONS} AND application_name = 'listener'`)).length;
}

const allListen = async () => (await listeners()) === LISTENERS;

describe('lost wake-up connections', () => {
  it('are opened again, once each, and requests during the outage are executed', async () => {
    const clusterId = await newCluster();
    await eventually(allListen, { what: 'every listener' });
    expect(await endConnections('listener')).toBe(LISTENERS);
    await ask('start', clusterId);
    await reachStatus(client, clusterId, 'RUNNING');
    await eventually(allListen, { what: 'every listener again' });
    await ask('stop', clusterId);
    await reachStatus(client, clusterId, 'STOPPED');
    const history = ['STOPPED', 'INITIATING', 'RUNNING', 'STOPPING', 'STOPPED'];
    await expectSound(platform, clusterId, { history, nodes: 1 });
  });
});

describe('a database that ends every connection', () => {
  it('again and again during a start, a stop and a destroy: each reaches its state', async () => {
    const clusterId = await newCluster({ min_instances: 2, max_instances: 2 });
    const history = ['STOPPED'];
    for (const [operation, begin, end] of [
      ['start', 'INITIATING', 'RUNNING'],
      ['stop', 'STOPPING', 'STOPPED'],
      ['destroy', 'DESTROYING', 'DESTROYED'],
    ] as const) {
      await ask(operation, clusterId);
      for (let time = 0; time < 3; time += 1) {
        await endConnections();
        await eventually(async () => (await connections()) > 0, { what: 'new connections' });
      }
      await eventually(() => isAt(clusterId, end), { timeoutMs: 180_000, what: `cluster ${clusterId} in ${end}` });
      expect((await endedWorkflow(platform, clusterId)).state).toBe('DONE');
      history.push(begin, end);
      await expectSound(platform, clusterId, { history, nodes: operation === 'destroy' ? 0 : 2 });
    }
    await expectNoStrayNodes(platform);
  });

  it('and accepts none for a while: a start that waits for its nodes survives, and no connection leaks', async () => {
    const gate = join(platform.sharedDir, 'gate');
    const clusterId = await newCluster({ bootstrap_shell_script: `until [ -e ${gate} ]; do sleep 0.05; done` });
    await ask('start', clusterId);
    await eventually(async () => (await nodesOf(platform, clusterId)).length > 0, { what: 'a node' });
    await withoutDatabase(OUTAGE_MS, async () => {
      const { status, body } = await platform.anonymous().request('GET', '/healthCheck');
      expect([status, body.message]).toEqual([500, 'PostgreSQL cannot be reached']);
      writeFileSync(gate, '');
    });
    await eventually(() => isAt(clusterId, 'RUNNING'), { timeoutMs: 180_000, what: 'a running cluster' });
    await expectSound(platform, clusterId, { history: ['STOPPED', 'INITIATING', 'RUNNING'], nodes: 1 });
    await eventually(allListen, { what: 'every listener' });
    await platform.waitHealthy();
    expect(await listeners()).toBe(LISTENERS);
  });
});

async function connections(): Promise<number> {
  return (await platform.sql(`SELECT 1 ${CONNECTIONS} AND backend_type = 'client backend'`)).length;
}

async function isAt(clusterId: number, status: string): Promise<boolean> {
  return (await client.get('/cluster', { cluster_id: clusterId })).cluster_status === status;
}

/** Refuses connections of the platform to its database for `ms`; the test keeps its own connection. */
async function withoutDatabase(ms: number, meanwhile: () => Promise<void>): Promise<void> {
  const url = new URL(platform.databaseUrl);
  const name = url.pathname.slice(1);
  const server = new URL(process.env['TEST_DATABASE_ADMIN_URL'] ?? '');
  const admin = new Client({ connectionString: server.href });
  await admin.connect();
  try {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    const until = performance.now() + ms;
    await endConnections();
    await meanwhile();
    await eventually(() => performance.now() > until, { timeoutMs: 2 * ms, what: 'the end of the outage' });
  } finally {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await admin.end();
  }
}
