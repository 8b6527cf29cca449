import { MAX_LINE_LENGTH } from '../../libs/contracts/single-line';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { setNodeStatus } from '../medium/harness/statuses';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the agent, whose tokens an attacker has stolen.
describe('an attacker who has the tokens of a node', () => {
  const api = wholeApi();
  let tenancy: Tenancy;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
  });

  /** A node that leaves the cluster at the end of the test. */
  async function newNode(): Promise<TestAgent> {
    await api.database.query(`UPDATE cluster_nodes SET node_number = node_id + 1000 WHERE node_number = 0`);
    return TestAgent.ofNewNode(api, tenancy);
  }

  it('cannot repeat the registration: after a lost response only the same installation may', async () => {
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

  it('cannot report a failed machine once the node has an agent', async () => {
    const stateOf = async ({ nodeId }: TestAgent) => {
      const sql = 'SELECT daemons_state, error FROM cluster_nodes WHERE node_id = $1';
      const [row] = await api.database.query<{ daemons_state: string | null; error: string | null }[]>(sql, [nodeId]);
      return row;
    };
    const claim = async (agent: TestAgent, error: string) => {
      const call = { token: agent.bootstrapToken, body: { error } };
      return (await agent.send('POST', '/boot-failure', call)).status;
    };
    await api.database.query(`UPDATE cluster_nodes SET node_number = node_id + 1000 WHERE node_number = 0`);
    const agent = await TestAgent.unregistered(api, tenancy);
    expect(await claim(agent, 'x'.repeat(5_000))).toBe(200);
    expect((await stateOf(agent))?.error?.length).toBeLessThanOrEqual(MAX_LINE_LENGTH);
    expect(await claim(agent, 'no Java\u001b[2J\u0000here')).toBe(200);
    expect(await stateOf(agent)).toEqual({ daemons_state: 'failed', error: 'no Java [2J here' });
    // The node starts after all.
    expect(await agent.register()).toBe(200);
    expect(await claim(agent, 'lies')).toBe(401);
    await agent.poll();
    expect(await claim(agent, 'lies')).toBe(401);
    expect(await stateOf(agent)).toEqual({ daemons_state: 'failed', error: 'no Java [2J here' });
  });

  it('cannot act as the node once it is destroyed', async () => {
    const agent = await newNode();
    const runId = await agent.assignRun(tenancy);
    await agent.poll();
    await setNodeStatus(api.database.manager, agent.nodeId, 'DESTROYED');
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

  it('cannot report a run as stopped or killed if nobody requested that', async () => {
    const agent = await newNode();
    const run = { state: 'ended', exit_code: 1, pid: null, seq: 1, at: 'now', application_id: null, reason: null };
    for (const outcome of ['stopped', 'killed']) {
      const id = await agent.assignRun(tenancy);
      await api.database.query('UPDATE cluster_nodes SET busy_slots = 1 WHERE node_id = $1', [agent.nodeId]);
      const runs = [{ ...run, outcome, run_id: String(id), message: null }];
      const daemons = { state: 'ready', master_url: null, error: null };
      expect((await agent.send('POST', '/report', { body: { daemons, runs } })).status).toBe(200);
      const found = await api.database.query('SELECT status FROM runs WHERE run_id = $1', [id]);
      expect(found).toEqual([{ status: 'TERMINATED' }]);
    }
  });

  it('can only store single lines of limited length, and no text makes its reports fail', async () => {
    const agent = await newNode();
    const [first, second] = [await agent.assignRun(tenancy), await agent.assignRun(tenancy)];
    await api.database.query('UPDATE cluster_nodes SET busy_slots = 2 WHERE node_id = $1', [agent.nodeId]);
    const flood = `It ended.\u001b[2J\0\r\n\u202e${'\u{1f389} more\n'.repeat(3_000)}\u2028\ud83d the end`;
    const run = { state: 'ended', outcome: 'error', exit_code: 1, pid: null, seq: 1, at: flood };
    const report = {
      daemons: { state: 'failed', master_url: flood, error: flood },
      runs: [
        {
          ...{ ...run, run_id: String(first), application_id: flood, reason: flood, message: flood },
          ...{ started_warm: false, cold_reason: flood },
        },
        { ...run, run_id: String(second), application_id: 'app-1', reason: 'NEWER_CODE', message: '\0\n' },
      ],
      interruption: { detail: flood, ends_at: flood },
      more: flood,
    };
    await agent.poll();
    expect((await agent.send('POST', '/report', { body: report })).status).toBe(200);
    const line = expect.stringMatching(/^It ended\. \[2J [^\p{Cc}\p{Zl}\p{Bidi_Control}]+ the end$/u) as string;
    const coldReason = expect.stringMatching(
      /^It ended\. \[2J [^\p{Cc}\p{Zl}\p{Bidi_Control}]{1,280} the end$/u,
    ) as string;
    const nodes = await api.database.query<Record<'error' | 'interruption', string>[]>(
      'SELECT daemons_state, error, interruption, master_url FROM cluster_nodes WHERE node_id = $1',
      [agent.nodeId],
    );
    expect(nodes).toEqual([{ daemons_state: 'failed', error: line, interruption: line, master_url: null }]);
    const runs = await api.database.query<Record<'reason', string>[]>(
      'SELECT status, reason, reason_code, application_id, cold_reason FROM runs WHERE run_id = ANY($1) ORDER BY run_id',
      [[first, second]],
    );
    expect(runs).toEqual([
      { status: 'ERROR', reason: line, reason_code: 'AGENT_ERROR', application_id: null, cold_reason: coldReason },
      {
        status: 'ERROR',
        reason: 'The agent of the node reported no reason.',
        reason_code: 'NEWER_CODE',
        application_id: 'app-1',
        cold_reason: null,
      },
    ]);
    const lengths = [nodes[0]?.error, nodes[0]?.interruption, runs[0]?.reason].map((text) => text?.length ?? 0);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_LINE_LENGTH);
  });

  it('cannot make the cluster grow by a load that only the master may report, nor report more than its node has', async () => {
    const [worker, other] = [await newNode(), await newNode()];
    await api.database.query(`UPDATE cluster_nodes SET role = 'worker', cores = 2 WHERE node_id = ANY($1)`, [
      [worker.nodeId, other.nodeId],
    ]);
    const excess = 1_000_000;
    const report = {
      ...{ daemons: { state: 'ready', master_url: null, error: null }, runs: [], drained: true },
      load: { pending_cores: excess, used_cores: excess, executors: excess },
      // Fields for another node are ignored like unknown fields of a newer agent.
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
