import type { PollResponse } from '../../libs/contracts/agent-protocol';
import { ClusterNodesService } from '../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import { RunReportsService } from '../../src/modules/execution/runs/jobs/run-reports.service';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { soon, wholeApi } from './harness/test-api';

const LONG_MS = 30_000;

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('polls of nodes', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let one: TestAgent;
  let two: TestAgent;
  let three: TestAgent;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
    const agents: TestAgent[] = [];
    for (const number of [0, 1, 2]) {
      const agent = await TestAgent.unregistered(api, tenancy, number);
      expect(await agent.register()).toBe(200);
      // This spends the bootstrap token, which changes the row.
      await agent.poll();
      agents.push(agent);
    }
    [one, two, three] = agents as [TestAgent, TestAgent, TestAgent];
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE ended_at IS NULL`);
  });

  const versionOf = async ({ nodeId }: TestAgent): Promise<number> => {
    const sql = 'SELECT desired_version AS version FROM cluster_nodes WHERE node_id = $1';
    return Number((await api.database.query(sql, [nodeId]))[0].version);
  };

  /** Starts a poll that waits until the node should do something new. `answered` is true once it has a response. */
  async function begin(agent: TestAgent, waitMs = LONG_MS) {
    const version = await versionOf(agent);
    await expireHeartbeat(agent);
    const sent = agent.send('POST', '/poll', { body: { version, wait_ms: waitMs } });
    const poll = { answered: false, answer: sent.then(async (answer) => (await answer.json()) as PollResponse) };
    void poll.answer.then(() => (poll.answered = true));
    return poll;
  }

  const raiseVersion = ({ nodeId }: TestAgent) =>
    api.database.query('UPDATE cluster_nodes SET desired_version = desired_version + 1 WHERE node_id = $1', [nodeId]);

  const notify = (payload: string) => api.database.query('SELECT pg_notify($1, $2)', ['node', payload]);

  const expireHeartbeat = ({ nodeId }: TestAgent) =>
    api.database.query(`UPDATE cluster_nodes SET last_seen_at = now() - interval '1 hour' WHERE node_id = $1`, [
      nodeId,
    ]);

  const hasReported = async ({ nodeId }: TestAgent): Promise<boolean> => {
    const sql = `SELECT last_seen_at > now() - interval '1 minute' AS heard FROM cluster_nodes WHERE node_id = $1`;
    return (await api.database.query(sql, [nodeId]))[0].heard as boolean;
  };

  const reportsSoon = (agent: TestAgent) => soon(async () => expect(await hasReported(agent)).toBe(true));

  it('return for the notified nodes, and for no others', async () => {
    const polls = [await begin(one), await begin(two), await begin(three)] as const;
    for (const agent of [one, two, three]) await reportsSoon(agent);
    const runId = await two.assignRun(tenancy);
    await raiseVersion(two);
    await notify(String(two.nodeId));
    expect((await polls[1].answer).runs.map(({ run_id }) => run_id)).toEqual([String(runId)]);
    await raiseVersion(three);
    await notify(`${three.nodeId},17`);
    await polls[2].answer;
    expect(polls[0].answered).toBe(false);
    await notify(String(one.nodeId));
    await polls[0].answer;
  });

  it('return at their end the change whose notification was lost', async () => {
    const poll = await begin(one, 5_000);
    await reportsSoon(one);
    const runId = await one.assignRun(tenancy);
    await raiseVersion(one);
    const { version, runs } = await poll.answer;
    expect([version, runs.map(({ run_id }) => run_id)]).toEqual([await versionOf(one), [String(runId)]]);
  });

  it('are repeated with the older version if only a part of the response saw a change', async () => {
    const before = await versionOf(one);
    const reports = api.app.get(RunReportsService, { strict: false });
    const nodes = api.app.get(ClusterNodesService, { strict: false });
    let raised: () => void = () => undefined;
    const between = new Promise<void>((resolve) => (raised = resolve));
    jest.spyOn(reports, 'assignedTo').mockImplementationOnce(async (nodeId) => {
      const seen = await RunReportsService.prototype.assignedTo.call(reports, nodeId);
      await one.assignRun(tenancy);
      await raiseVersion(one);
      raised();
      return seen;
    });
    const desired = nodes.desired.bind(nodes);
    jest.spyOn(nodes, 'desired').mockImplementationOnce(async (nodeId) => {
      await between;
      return desired(nodeId);
    });
    const poll = await begin(one);
    await raiseVersion(one);
    await notify(String(one.nodeId));
    const { version, runs } = await poll.answer;
    expect([version, runs]).toEqual([before + 1, []]);
    const again = await one.send('POST', '/poll', { body: { version, wait_ms: LONG_MS } });
    expect(((await again.json()) as PollResponse).runs).toHaveLength(1);
  });

  it('count as heartbeats while they wait, before they return', async () => {
    const poll = await begin(one);
    await reportsSoon(one);
    expect(poll.answered).toBe(false);
    await notify(String(one.nodeId));
    await poll.answer;
    for (const agent of [one, two]) {
      await expireHeartbeat(agent);
      await agent.poll();
      expect(await hasReported(agent)).toBe(true);
    }
  });

  it('count as heartbeats although another node is locked', async () => {
    const locking = api.database.createQueryRunner();
    try {
      await expireHeartbeat(one);
      await locking.startTransaction();
      await locking.query('SELECT 1 FROM cluster_nodes WHERE node_id = $1 FOR UPDATE', [one.nodeId]);
      const version = await versionOf(one);
      const held = one.send('POST', '/poll', { body: { version, wait_ms: 0 } });
      const others = await Promise.all([begin(two, 0), begin(three, 0)]);
      await Promise.all(others.map(({ answer }) => answer));
      expect([await hasReported(two), await hasReported(three), await hasReported(one)]).toEqual([true, true, false]);
      await locking.commitTransaction();
      expect((await held).status).toBe(200);
      expect(await hasReported(one)).toBe(true);
    } finally {
      await locking.release();
    }
  });

  it('return the log offsets of its runs to an agent that lost its state', async () => {
    const runId = await one.assignRun(tenancy);
    const headers = { ...one.bearer, 'content-type': 'application/octet-stream' };
    const url = `${await api.app.getUrl()}/agent/v1/runs/${runId}/logs/stdout?offset=0`;
    expect((await fetch(url, { method: 'PUT', headers, body: 'twelve bytes' })).status).toBe(200);
    const offset = async (version: number) => {
      const answer = await one.send('POST', '/poll', { body: { version, wait_ms: 0 } });
      return ((await answer.json()) as PollResponse).runs[0]?.log_offsets.stdout;
    };
    expect(await offset(0)).toBe(0);
    await api.database.query('UPDATE runs SET report_seq = 1 WHERE run_id = $1', [runId]);
    expect([await offset(0), await offset(1)]).toEqual([12, 0]);
  });
});
