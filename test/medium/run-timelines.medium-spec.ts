import { MAX_TIMELINE_STATES } from '../../src/modules/execution/runs/jobs/dto/run-timeline.dto';
import { ClusterHistoriesRepository } from '../../src/modules/execution/clusters/lifecycle/cluster-histories.repository';
import { type Caller, People } from './harness/people';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { explainedDatabase } from './harness/read-blocks';
import { wholeApi } from './harness/test-api';
import { vacuumWhole } from './harness/vacuum';

const MANY = 100_000;

// Real: the whole API and PostgreSQL. The cluster has a node but no agent.
describe('the timeline of a run', () => {
  const api = wholeApi();
  const people = new People(api);
  let mine: Tenancy;
  let foreign: Tenancy;
  let caller: Caller;

  beforeAll(async () => {
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    await makeNode(api.database.manager, mine, 0);
    caller = await people.as(mine.userId, mine.tenantId);
  });

  const spark = () => `/workspace/${mine.workspaceId}/spark`;
  const submit = async () => {
    const { status, body } = await caller.call('POST', `${spark()}/job`, { job_conf_id: mine.jobConfId });
    expect([status, body]).toEqual([200, expect.anything()]);
    return Number(body.job_id);
  };
  const timeline = async (runId: number) =>
    (await caller.call('GET', `/workspace/${mine.workspaceId}/run/${runId}/timeline`)).body;

  it('says who submitted and stopped it, at which step and why, and what it waited for', async () => {
    const running = await submit();
    const waiting = await submit();
    await caller.call('POST', `${spark()}/job/kill/${waiting}`);

    const { body } = await caller.call('GET', `${spark()}/job/${waiting}/status`);
    expect(body.status_history).toEqual([
      expect.objectContaining({ job_status: 'SUBMITTED', created_by: 'mine', step: 'submit', remedy: null }),
      expect.objectContaining({
        job_status: 'STOPPING',
        created_by: 'mine',
        step: 'stop',
        reason: 'Stop requested by mine',
      }),
      expect.objectContaining({ job_status: 'STOPPED', created_by: null, step: 'stop', remedy: null }),
    ]);

    const stopped = await timeline(waiting);
    expect(stopped).toMatchObject({
      run_status: 'STOPPED',
      start_date: null,
      reason_code: 'STOP_REQUESTED',
      is_truncated: false,
    });
    expect(stopped.phases).toEqual([
      { phase: 'WAITING_FOR_SLOT', from_date: stopped.submit_date, to_date: stopped.end_date },
    ]);
    expect(stopped.entries[0]).toMatchObject({ subject: 'cluster', status: 'RUNNING', reason: 'As a test has it' });

    const started = await timeline(running);
    expect(started.phases).toEqual([{ phase: 'STARTING', from_date: started.start_date, to_date: null }]);
    expect(started.stages_path).toBe(`${spark()}/job/${running}/metrics`);
  });

  it('says what to do about a failure', async () => {
    const runId = await submit();
    await api.database.query(
      `UPDATE runs SET status = 'ERROR', ended_at = platform_now(), reason_code = 'OUT_OF_MEMORY', reason = 'Heap.' WHERE run_id = $1`,
      [runId],
    );
    expect(await timeline(runId)).toMatchObject({
      run_status: 'ERROR',
      reason: 'Heap.',
      remedy: expect.stringContaining('driver_memory'),
    });
  });

  it('shows the states of the node that has the run, and no more than a number of others', async () => {
    await submit();
    await api.database.query(
      `INSERT INTO node_states (node_id, cluster_id, sequence, status, step, start_time, end_time)
       SELECT r.node_id, r.cluster_id, 1000 + n, 'RUNNING', 'await-nodes', r.from_date + n * interval '1 ms', r.from_date + (n + 1) * interval '1 ms'
       FROM runs r, generate_series(1, ${MAX_TIMELINE_STATES + 5}) n WHERE r.run_id = (SELECT min(run_id) FROM runs WHERE node_id IS NOT NULL)`,
    );
    const [first] = await api.database.query('SELECT min(run_id) AS id FROM runs WHERE node_id IS NOT NULL');
    await api.database.query(`UPDATE runs SET ended_at = from_date + interval '1 hour' WHERE run_id = $1`, [first.id]);
    const { entries, is_truncated: isTruncated } = await timeline(Number(first.id));
    const nodes = entries.filter(({ subject }: { subject: string }) => subject === 'node');
    expect(nodes).toHaveLength(MAX_TIMELINE_STATES);
    expect(nodes[0]).toMatchObject({ node_number: 0, is_node_of_run: true, step: 'await-nodes' });
    expect(isTruncated).toBe(true);
  });

  it('is not found in another workspace or tenant', async () => {
    const runId = await submit();
    const admin = await people.admin(mine.tenantId);
    const other = await people.workspace(admin);
    expect((await admin.call('GET', `/workspace/${other}/run/${runId}/timeline`)).status).toBe(404);
    const stranger = await people.as(foreign.userId, foreign.tenantId);
    expect((await stranger.call('GET', `/workspace/${foreign.workspaceId}/run/${runId}/timeline`)).status).toBe(404);
    expect((await stranger.call('GET', `/workspace/${mine.workspaceId}/run/${runId}/timeline`)).status).toBe(404);
  });

  it('reads few blocks beside a long history', async () => {
    await api.database.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO cluster_states (cluster_id, sequence, status, start_time, end_time, node_count)
         SELECT $1, 10000 + n, 'RUNNING', timestamptz '2020-01-01' + n * interval '1 min', timestamptz '2020-01-01' + (n + 1) * interval '1 min', 1
         FROM generate_series(1, ${MANY}) n`,
        [mine.clusterId],
      );
      await tx.query(
        `INSERT INTO node_states (node_id, cluster_id, sequence, status, start_time, end_time)
         SELECT (SELECT min(node_id) FROM cluster_nodes WHERE cluster_id = $1), $1, 10000 + n, 'RUNNING', timestamptz '2020-01-01' + n * interval '1 min',
           timestamptz '2020-01-01' + (n + 1) * interval '1 min' FROM generate_series(1, ${MANY}) n`,
        [mine.clusterId],
      );
    });
    for (const table of ['cluster_states', 'node_states']) await vacuumWhole(api.database, table);
    const { dataSource, blocks } = explainedDatabase(api.database);
    const repository = new ClusterHistoriesRepository(dataSource);
    const found = await repository.between(
      mine.clusterId,
      new Date('2020-02-01T00:00:30Z'),
      new Date('2020-02-01T00:03:30Z'),
      MAX_TIMELINE_STATES + 1,
    );
    expect(found).toHaveLength(7);
    expect(blocks).toHaveLength(1);
    expect(Math.max(...blocks)).toBeLessThan(100);
  });
});
