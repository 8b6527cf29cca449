import { eventually } from '../harness/eventually';
import { suspend } from '../harness/suspend';
import type { ApiClient } from '../e2e/harness/api-client';
import { createCluster, describeEstate, type Estate, startCluster } from '../e2e/harness/estate';
import { PlatformUnderTest } from '../e2e/harness/platform';
import { nodeOf, processesOfNode, QUICK_RECOVERY } from '../e2e/harness/survival';
import { head, RawConnection } from './harness/raw-connection';

const MIB = 2 ** 20;
const LEASE_MS = 6_000;
const MARGIN_MS = 1_000;
/** Three times as long as a node may be silent before the platform marks it as lost. */
const ATTACK_MS = 3 * (LEASE_MS + MARGIN_MS);

// Real: the built API of clients, that of agents and the worker as processes, and a node with its agent. Left out: Spark.
describe('an attack on what clients call', () => {
  let platform: PlatformUnderTest | undefined;
  let client: ApiClient;
  let estate: Estate;
  let token: string;

  beforeAll(async () => {
    const env = {
      ...QUICK_RECOVERY,
      AGENT_LEASE_MS: String(LEASE_MS),
      // Without replacements a lost node shows in its cluster.
      CLUSTER_REPLACEMENTS_PER_HOUR: '0',
      AGENT_LEASE_MARGIN_MS: String(MARGIN_MS),
    };
    platform = await PlatformUnderTest.start({ name: 'attack-leases', agentsApart: true, env });
    client = await platform.admin();
    estate = await describeEstate(client, platform.runtime.sparkVersion);
    const login = { username: platform.username, password: platform.password };
    ({ token } = await platform.anonymous().post('/login', login));
  });

  afterAll(() => platform?.close());

  async function runningCluster(name: string): Promise<number> {
    const clusterId = await createCluster(client, estate, name);
    await startCluster(client, clusterId);
    return clusterId;
  }

  const status = async (clusterId: number): Promise<string | undefined> => {
    const sql = 'SELECT status FROM clusters WHERE cluster_id = $1';
    return (await platform?.sql<{ status: string }>(sql, [clusterId]))?.[0]?.status;
  };

  /** Returns the milliseconds since the last heartbeat of the cluster's node. */
  const silenceOf = async (clusterId: number): Promise<number> => {
    const sql = `SELECT extract(epoch FROM now() - last_seen_at) * 1000 AS ms FROM cluster_nodes WHERE cluster_id = $1`;
    return Number((await platform?.sql<{ ms: string }>(sql, [clusterId]))?.[0]?.ms);
  };

  it('finds the routes of clients and of agents only in their own process', async () => {
    const [clients, agents] = [platform?.baseUrl ?? '', platform?.agentsUrl ?? ''];
    const ask = async (method: string, url: string) => {
      const answer = await fetch(url, { method });
      return [answer.status, ((await answer.json()) as { error_code?: string }).error_code];
    };
    expect(await ask('POST', `${clients}/agent/v1/poll`)).toEqual([421, 'AGENT.MISDIRECTED']);
    expect(await ask('POST', `${agents}/agent/v1/poll`)).toEqual([401, 'AUTH.UNAUTHENTICATED']);
    expect(await ask('GET', `${agents}/api/v1/clusters`)).toEqual([404, 'ROUTE.NOT_FOUND']);
    expect(await ask('POST', `${agents}/api/v1/login`)).toEqual([404, 'ROUTE.NOT_FOUND']);
    expect(await ask('GET', `${agents}/api/v1/docs`)).toEqual([404, 'ROUTE.NOT_FOUND']);
    for (const url of [clients, agents]) expect((await fetch(`${url}/api/v1/version`)).status).toBe(200);
  });

  it('does not make nodes lose their leases, however busy that process is', async () => {
    const clusterId = await runningCluster('under-attack');
    const over = Date.now() + ATTACK_MS;
    let longest = 0;
    const watch = async () => {
      while (Date.now() < over) longest = Math.max(longest, await silenceOf(clusterId));
    };
    await Promise.all([watch(), ...Array.from({ length: 8 }, () => bodiesUntil(over)), ...logins(4, over)]);
    expect(longest).toBeLessThan(LEASE_MS);
    expect(await status(clusterId)).toBe('RUNNING');
  });

  it('marks no node as lost while the API of agents is frozen, and still detects a silent node', async () => {
    const [absent, silent] = [await runningCluster('platform-absent'), await runningCluster('node-silent')];
    const { token: nodeToken } = await nodeOf(platform!, silent);
    const resume = await platform!.haltAgentsApi();
    try {
      const isLong = async () => (await silenceOf(absent)) > ATTACK_MS;
      await eventually(isLong, { timeoutMs: 120_000, what: 'a long silence' });
    } finally {
      resume();
    }
    const { agents, supervisors } = processesOfNode(platform!, nodeToken);
    await Promise.all([...supervisors, ...agents].map(suspend));
    try {
      await eventually(async () => (await silenceOf(absent)) < LEASE_MS / 2, { what: 'a sign of life' });
      const isLost = async () => (await status(silent)) === 'ERROR';
      await eventually(isLost, { timeoutMs: 120_000, what: 'the loss of the silent node' });
    } finally {
      for (const pid of [...supervisors, ...agents]) process.kill(pid, 'SIGCONT');
    }
    expect(await status(absent)).toBe('RUNNING');
  });

  /** Sends the largest bodies, refused or not, each right after the last response. */
  async function bodiesUntil(over: number): Promise<void> {
    const filler = Buffer.from(`{"description":"${'a'.repeat(4 * MIB - 100)}","more":1}`);
    while (Date.now() < over) {
      const connection = await RawConnection.open(platform?.baseUrl ?? '');
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      await connection.write(head('/api/v1/workspace', { ...headers, 'content-length': filler.length }));
      await connection.write(filler);
      await connection.status(ATTACK_MS * 2).catch(() => undefined);
      connection.close();
    }
  }

  /** Repeats the most expensive login requests. */
  function logins(callers: number, over: number): Promise<void>[] {
    return Array.from({ length: callers }, async (_, caller) => {
      for (let attempt = 0; Date.now() < over; attempt += 1) {
        const body = JSON.stringify({ username: `nobody-${caller}-${attempt}`, password: 'p'.repeat(1_000) });
        const answer = await fetch(`${platform?.baseUrl}/api/v1/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        await answer.text();
      }
    });
  }
});
