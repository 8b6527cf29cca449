import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { putNode } from '../medium/harness/statuses';
import { TestAgent } from '../medium/harness/test-agent';
import { startWholeApi, type TestApi } from '../medium/harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the agent, whose tokens somebody else has got hold of.
describe('somebody who has the tokens of a node', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let tenancy: Tenancy;

  beforeAll(async () => {
    ({ api, stop } = await startWholeApi());
    tenancy = await makeTenancy(api.database.manager, 'mine');
  });

  afterAll(() => stop?.());

  /** A node that is no longer part of the cluster when the test is over. */
  async function newNode(): Promise<TestAgent> {
    await api.database.query(`UPDATE cluster_nodes SET node_number = node_number + 1`);
    return TestAgent.ofNewNode(api, tenancy);
  }

  it('is not the installation that may repeat a registration whose answer was lost', async () => {
    const agent = await newNode();
    expect(await agent.register('another installation')).toBe(401);
    expect(await agent.register()).toBe(200);
    await agent.poll();
  });

  it('cannot register once the node has used its own token', async () => {
    const agent = await newNode();
    await agent.poll();
    expect(await agent.register()).toBe(401);
    expect(await agent.register('another installation')).toBe(401);
    await agent.poll();
  });

  it('cannot say that the machine of a node failed once the node has an agent', async () => {
    const stateOf = async ({ nodeId }: TestAgent) => {
      const sql = 'SELECT daemons_state, error FROM cluster_nodes WHERE node_id = $1';
      const [row] = await api.database.query<{ daemons_state: string | null; error: string | null }[]>(sql, [nodeId]);
      return row;
    };
    const claim = async (agent: TestAgent, error: string) => {
      const call = { token: agent.bootstrapToken, body: { error } };
      return (await agent.send('POST', '/boot-failure', call)).status;
    };
    await api.database.query(`UPDATE cluster_nodes SET node_number = node_number + 1`);
    const agent = await TestAgent.unregistered(api, tenancy);
    expect(await claim(agent, 'x'.repeat(2_001))).toBe(400);
    expect(await claim(agent, 'no Java\u001b[2J\u0000here')).toBe(200);
    expect(await stateOf(agent)).toEqual({ daemons_state: 'failed', error: 'no Java [2J here' });
    // It got further after all.
    expect(await agent.register()).toBe(200);
    expect(await claim(agent, 'lies')).toBe(401);
    await agent.poll();
    expect(await claim(agent, 'lies')).toBe(401);
    expect(await stateOf(agent)).toEqual({ daemons_state: 'failed', error: 'no Java [2J here' });
  });

  it('cannot speak for the node once it is destroyed', async () => {
    const agent = await newNode();
    const runId = await agent.giveRun(tenancy);
    await agent.poll();
    await putNode(api.database.manager, agent.nodeId, 'DESTROYED');
    const report = { daemons: { state: 'failed', master_url: null, error: 'lies' }, runs: [] };
    const calls: [string, string, object?][] = [
      ['POST', '/poll', { version: 0, wait_ms: 0 }],
      ['POST', '/report', report],
      ['PUT', '/node/logs/stdout?offset=0', { lies: true }],
      ['PUT', `/runs/${runId}/logs/stdout?offset=0`, { lies: true }],
      ['GET', `/runs/${runId}/files/0`],
    ];
    for (const [method, path, body] of calls) {
      expect([path, (await agent.send(method, path, { body })).status]).toEqual([path, 410]);
    }
    expect(await agent.register()).toBe(401);
  });

  it('cannot have the cluster grow for what only its master knows, nor speak of more than its node has', async () => {
    const [worker, other] = [await newNode(), await newNode()];
    await api.database.query(`UPDATE cluster_nodes SET role = 'worker', cores = 2 WHERE node_id = ANY($1)`, [
      [worker.nodeId, other.nodeId],
    ]);
    const most = 1_000_000;
    const report = {
      ...{ daemons: { state: 'ready', master_url: null, error: null }, runs: [], drained: true },
      load: { pending_cores: most, used_cores: most, executors: most },
      // Of nobody's node, which is ignored as what a newer agent might say.
      ...{ node_id: other.nodeId, cluster_id: 1 },
    };
    await worker.poll();
    expect((await worker.send('POST', '/report', { body: report })).status).toBe(200);
    const rows = await api.database.query<object[]>(
      `SELECT node_id::int, pending_cores, used_cores, executors, drained_at FROM cluster_nodes
       WHERE node_id = ANY($1) ORDER BY node_id`,
      [[worker.nodeId, other.nodeId]],
    );
    expect(rows).toEqual([
      { node_id: worker.nodeId, pending_cores: null, used_cores: 2, executors: 2, drained_at: null },
      { node_id: other.nodeId, pending_cores: null, used_cores: null, executors: null, drained_at: null },
    ]);
  });
});
