import type { PollResponse } from '../../libs/contracts/agent-protocol';
import { MAX_WARM_DRIVERS } from '../../src/config/compute.config';
import { type Caller, People } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { setNodeStatus } from './harness/statuses';
import { TestAgent } from './harness/test-agent';
import { type TestApi, wholeApi } from './harness/test-api';

const READY = { state: 'ready', master_url: null, error: null };
const RUNNING = { state: 'running', outcome: null, reason: null, message: null, exit_code: null, pid: 1 };

/** A cluster, an administrator of its tenant, and the agents of its nodes, whose reports the test sends. */
class Fixture {
  tenancy: Tenancy;
  admin: Caller;
  private nodes = 0;

  constructor(private readonly api: TestApi) {}

  async make(name: string): Promise<void> {
    this.tenancy = await makeTenancy(this.api.database.manager, name);
    this.admin = await new People(this.api).admin(this.tenancy.tenantId);
    await this.setCluster('max_parallel_jobs = 5');
  }

  setCluster(change: string): Promise<unknown> {
    return this.api.database.query(`UPDATE clusters SET ${change} WHERE cluster_id = $1`, [this.tenancy.clusterId]);
  }

  async makeAgent(role = 'single'): Promise<TestAgent> {
    const agent = await TestAgent.unregistered(this.api, this.tenancy, this.nodes++);
    const sql = 'UPDATE cluster_nodes SET role = $2, cores = 4, memory_mb = 16384, busy_slots = 2 WHERE node_id = $1';
    await this.api.database.query(sql, [agent.nodeId, role]);
    expect(await agent.register()).toBe(200);
    return agent;
  }

  async report(agent: TestAgent, notes: object): Promise<number> {
    return (await agent.send('POST', '/report', { body: { daemons: READY, runs: [], ...notes } })).status;
  }

  reportRun(agent: TestAgent, runId: number, notes: object): Promise<number> {
    const run = { ...RUNNING, run_id: String(runId), seq: 1, application_id: null, at: 'now', ...notes };
    return this.report(agent, { warm_drivers: 0, runs: [run] });
  }

  async nodeRow({ nodeId }: TestAgent) {
    const sql = 'SELECT warm_drivers, warm_starts, cold_starts FROM cluster_nodes WHERE node_id = $1';
    return (await this.api.database.query<Record<string, unknown>[]>(sql, [nodeId]))[0];
  }

  async startOf(runId: number) {
    const sql = 'SELECT started_warm, cold_reason FROM runs WHERE run_id = $1';
    return (await this.api.database.query<Record<string, unknown>[]>(sql, [runId]))[0];
  }
}

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('warm drivers', () => {
  const api = wholeApi({ COMPUTE_WARM_DRIVERS: '3', COMPUTE_WARM_DRIVERS_MAX_CPU_PRESSURE: '35' });
  const fixture = new Fixture(api);

  beforeAll(() => fixture.make('warm'));

  const desired = async (agent: TestAgent) => (await agent.poll()).daemons.warm_drivers;

  describe('that a node should have', () => {
    afterEach(() =>
      fixture.setCluster(`max_parallel_jobs = 5, is_turbo_enabled = false, spark_config = spark_config - 'conf'`),
    );

    it.each(['single', 'master', 'master-and-workers'])('are those of the configuration: %s', async (role) => {
      const agent = await fixture.makeAgent(role);
      expect(await desired(agent)).toEqual({ count: 3, driver_memory: '3072m', max_cpu_pressure: 35, slots: 5 });
      await fixture.setCluster('max_parallel_jobs = 2');
      expect(await desired(agent)).toMatchObject({ count: 2, driver_memory: '7680m', slots: 2 });
    });

    it('are none if drivers start elsewhere', async () => {
      const { daemons } = await (await fixture.makeAgent('worker')).poll();
      expect(daemons).not.toHaveProperty('warm_drivers');
    });

    it.each([
      ['a plain cluster', '', '3072m'],
      ['turbo', ', is_turbo_enabled = true', '2048m'],
      [
        'a heap of the cluster',
        `, spark_config = spark_config || '{"conf": ["spark.driver.memory 1g", "spark.driver.memory  2g "]}'`,
        '2g',
      ],
    ])('have the heap of a job that names none: %s', async (_what, change, heap) => {
      const agent = await fixture.makeAgent();
      await fixture.setCluster(`max_parallel_jobs = 5${change}`);
      await agent.assignRun(fixture.tenancy);
      const { daemons, runs } = await agent.poll();
      expect([daemons.warm_drivers?.driver_memory, runs[0]?.spec.driver_memory]).toEqual([heap, heap]);
    });
  });

  describe('that a node reports', () => {
    it('are kept until a report has none', async () => {
      const agent = await fixture.makeAgent();
      for (const [reported, kept] of [
        [{ warm_drivers: 2 }, 2],
        [{ warm_drivers: 0 }, 0],
        [{ warm_drivers: 100_000 }, MAX_WARM_DRIVERS],
        [{}, null],
      ] as const) {
        expect(await fixture.report(agent, reported)).toBe(200);
        expect(await fixture.nodeRow(agent)).toMatchObject({ warm_drivers: kept });
      }
    });

    it('do not count on a node without drivers', async () => {
      const worker = await fixture.makeAgent('worker');
      expect(await fixture.report(worker, { warm_drivers: 2 })).toBe(200);
      expect(await fixture.nodeRow(worker)).toMatchObject({ warm_drivers: null });
    });

    it.each([-1, 0.5, 'one', null, 2 ** 31])('are no %p', async (count) => {
      const agent = await fixture.makeAgent();
      expect(await fixture.report(agent, { warm_drivers: count })).toBe(400);
      expect(await fixture.nodeRow(agent)).toMatchObject({ warm_drivers: null });
    });
  });

  describe('and the start of a run', () => {
    it.each([
      ['warm', { started_warm: true }, { started_warm: true, cold_reason: null }, [1, 0]],
      ['cold', { started_warm: false, cold_reason: 'It is.' }, { started_warm: false, cold_reason: 'It is.' }, [0, 1]],
      ['cold for no reason', { started_warm: false }, { started_warm: false, cold_reason: null }, [0, 1]],
      [
        'cold for an empty reason',
        { started_warm: false, cold_reason: '\n' },
        { started_warm: false, cold_reason: null },
        [0, 1],
      ],
      [
        'warm and cold',
        { started_warm: true, cold_reason: 'It is.' },
        { started_warm: true, cold_reason: null },
        [1, 0],
      ],
      [
        'not, as agents of older releases report',
        { cold_reason: 'It is.' },
        { started_warm: null, cold_reason: null },
        [0, 0],
      ],
    ])('is stored and counted: %s', async (_what, notes, stored, [warm, cold]) => {
      const agent = await fixture.makeAgent();
      const runId = await agent.assignRun(fixture.tenancy);
      expect(await fixture.reportRun(agent, runId, notes)).toBe(200);
      expect(await fixture.startOf(runId)).toEqual(stored);
      expect(await fixture.nodeRow(agent)).toMatchObject({ warm_starts: warm, cold_starts: cold });
    });

    it('is what the first report says, counted once', async () => {
      const agent = await fixture.makeAgent();
      const runId = await agent.assignRun(fixture.tenancy);
      const cold = { started_warm: false, cold_reason: 'No driver was ready.' };
      for (const [seq, notes] of [
        {},
        cold,
        cold,
        { started_warm: true },
        { ...cold, cold_reason: 'Another.' },
      ].entries())
        expect(await fixture.reportRun(agent, runId, { seq: seq + 1, ...notes })).toBe(200);
      const end = { state: 'ended', outcome: 'done', exit_code: 0, seq: 9, started_warm: true };
      expect(await fixture.reportRun(agent, runId, end)).toBe(200);
      expect(await fixture.startOf(runId)).toEqual(cold);
      expect(await fixture.nodeRow(agent)).toMatchObject({ warm_starts: 0, cold_starts: 1 });
    });

    it('is known even if the first report is that of the end', async () => {
      const agent = await fixture.makeAgent();
      const runId = await agent.assignRun(fixture.tenancy);
      const end = { state: 'ended', outcome: 'done', exit_code: 0, started_warm: true };
      expect(await fixture.reportRun(agent, runId, end)).toBe(200);
      expect(await fixture.startOf(runId)).toEqual({ started_warm: true, cold_reason: null });
      expect(await fixture.nodeRow(agent)).toMatchObject({ warm_starts: 1 });
    });

    it('has a reason of one short line', async () => {
      const agent = await fixture.makeAgent();
      const runId = await agent.assignRun(fixture.tenancy);
      const notes = { started_warm: false, cold_reason: `Because.\0\r\n\u001b[2J${' more\n'.repeat(3_000)}` };
      expect(await fixture.reportRun(agent, runId, notes)).toBe(200);
      const { cold_reason: reason } = (await fixture.startOf(runId)) as { cold_reason: string };
      expect(reason).toMatch(/^Because\. [^\p{Cc}]+$/u);
      expect(reason.length).toBeLessThanOrEqual(300);
    });

    it.each([{ started_warm: 'yes' }, { started_warm: null }, { started_warm: false, cold_reason: 7 }])(
      'is not %j',
      async (notes) => {
        const agent = await fixture.makeAgent();
        const runId = await agent.assignRun(fixture.tenancy);
        expect(await fixture.reportRun(agent, runId, notes)).toBe(400);
        expect(await fixture.startOf(runId)).toEqual({ started_warm: null, cold_reason: null });
      },
    );

    it('is not told by the agent of another node', async () => {
      const [agent, other] = [await fixture.makeAgent(), await fixture.makeAgent()];
      const runId = await agent.assignRun(fixture.tenancy);
      expect(await fixture.reportRun(other, runId, { started_warm: true })).toBe(200);
      expect(await fixture.startOf(runId)).toEqual({ started_warm: null, cold_reason: null });
      expect(await fixture.nodeRow(other)).toMatchObject({ warm_starts: 0 });
    });
  });

  it('are in the answers about jobs, clusters and metrics', async () => {
    const { tenancy, admin } = fixture;
    const agent = await fixture.makeAgent();
    const runId = await agent.assignRun(tenancy);
    const jobs = `/workspace/${tenancy.workspaceId}/spark/job`;
    expect((await admin.call('GET', `${jobs}/${runId}`)).body).toMatchObject({ started_warm: null, cold_reason: null });
    const reason = 'No driver was ready.';
    expect(await fixture.reportRun(agent, runId, { started_warm: false, cold_reason: reason })).toBe(200);
    const told = { job_id: runId, started_warm: false, cold_reason: reason };
    expect((await admin.call('GET', `${jobs}/${runId}`)).body).toMatchObject(told);
    expect((await admin.call('GET', `${jobs}s`)).body.data).toContainEqual(expect.objectContaining(told));

    expect(await fixture.report(agent, { warm_drivers: 1 })).toBe(200);
    const cluster = `/cluster?cluster_id=${tenancy.clusterId}`;
    const [{ node_number: number }] = (await api.database.query<{ node_number: number }[]>(
      'SELECT node_number FROM cluster_nodes WHERE node_id = $1',
      [agent.nodeId],
    )) as [{ node_number: number }];
    const measured = async () =>
      (await admin.call('GET', `/cluster/${tenancy.clusterId}/metrics?node_number=${number}`)).body.nodes[0];
    expect(await measured()).toMatchObject({ warm_drivers: 1, warm_starts: 0, cold_starts: 1 });
    const ready = { node_number: number, node_status: 'RUNNING', warm_drivers: 1 };
    expect((await admin.call('GET', cluster)).body.nodes).toContainEqual(expect.objectContaining(ready));
    // The last report of a node that has stopped says nothing about it.
    await setNodeStatus(api.database.manager, agent.nodeId, 'STOPPED');
    expect(await measured()).toMatchObject({ node_status: 'STOPPED', warm_drivers: null, cold_starts: 1 });
    const stopped = { node_number: number, node_status: 'STOPPED', warm_drivers: null };
    expect((await admin.call('GET', cluster)).body.nodes).toContainEqual(expect.objectContaining(stopped));
  });
});

// Real and left out: as above.
describe('a platform without warm drivers', () => {
  const api = wholeApi({ COMPUTE_WARM_DRIVERS: '0' });
  const fixture = new Fixture(api);

  beforeAll(() => fixture.make('cold'));

  it('asks no node for any', async () => {
    const agent = await fixture.makeAgent();
    const { daemons }: PollResponse = await agent.poll();
    expect(daemons).not.toHaveProperty('warm_drivers');
  });
});
