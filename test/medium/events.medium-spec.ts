import { eventually } from '../harness/eventually';
import { EventStream } from './harness/event-stream';
import { type Caller, People } from './harness/people';
import { insertPlain, makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus, setNodeStatus } from './harness/statuses';
import { wholeApi } from './harness/test-api';

// Real: the whole API and PostgreSQL.
describe('the stream of events', () => {
  const api = wholeApi();
  const people = new People(api);
  const opened: EventStream[] = [];
  let mine: Tenancy;
  let foreign: Tenancy;
  let caller: Caller;
  let nodeId: number;

  beforeAll(async () => {
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    nodeId = await makeNode(api.database.manager, mine, 0);
    caller = await people.as(mine.userId, mine.tenantId);
  });

  afterEach(() => opened.splice(0).forEach((one) => one.close()));

  const open = async (who: Caller, options: { query?: string; lastEventId?: string } = {}) => {
    const stream = await EventStream.open(api, who.token, options);
    opened.push(stream);
    return stream.ready();
  };
  const submit = async (who = caller, tenancy = mine) => {
    const { status, body } = await who.call('POST', `/workspace/${tenancy.workspaceId}/spark/job`, {
      job_conf_id: tenancy.jobConfId,
    });
    expect([status, body]).toEqual([200, expect.anything()]);
    return Number(body.job_id);
  };
  const stop = (jobId: number) => caller.call('POST', `/workspace/${mine.workspaceId}/spark/job/kill/${jobId}`);
  const idsOf = (stream: EventStream) => stream.events.map(({ data }) => data.id);

  it('sends each transition of a run as a CloudEvent', async () => {
    const stream = await open(caller);
    expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const jobId = await submit();
    const [event] = await stream.received(1);
    expect(event).toEqual({
      event: 'run',
      data: {
        specversion: '1.0',
        id: expect.stringMatching(/^run-\d+$/),
        source: `/api/v1/workspace/${mine.workspaceId}/spark/job/${jobId}`,
        type: 'run.transitioned',
        subject: `run/${jobId}`,
        time: expect.any(String),
        datacontenttype: 'application/json',
        data: {
          job_id: jobId,
          name: 'mine',
          workspace_id: mine.workspaceId,
          cluster_id: mine.clusterId,
          conf_id: mine.jobConfId,
          from_status: null,
          status: 'SUBMITTED',
          reason: null,
          step: 'submit',
          created_by: 'mine',
        },
      },
    });
    await stop(jobId);
    const [, next] = await stream.received(2);
    expect(next?.data.data).toMatchObject({ from_status: 'SUBMITTED', status: 'STOPPING', created_by: 'mine' });
  });

  it('sends transitions of clusters and nodes to every member of the tenant, and only the requested kinds', async () => {
    const all = await open(await people.member(mine.tenantId));
    const nodes = await open(caller, { query: 'kinds=node' });
    await api.database.transaction((tx) => setClusterStatus(tx, mine.clusterId, 'RESIZING_UP'));
    await api.database.transaction((tx) => setNodeStatus(tx, nodeId, 'STOPPED'));
    await all.received(2);
    expect(all.events.map(({ data }) => [data.type, data.data.status])).toEqual([
      ['cluster.transitioned', 'RESIZING_UP'],
      ['node.transitioned', 'STOPPED'],
    ]);
    expect((await nodes.received(1)).map(({ event }) => event)).toEqual(['node']);
    await api.database.transaction((tx) => setClusterStatus(tx, mine.clusterId, 'RUNNING'));
    await api.database.transaction((tx) => setNodeStatus(tx, nodeId, 'RUNNING'));
  });

  it('sends what was committed while the client was away, once, in order', async () => {
    const before = await open(caller);
    const position = before.lastId ?? '';
    const live = await open(caller);
    const jobs = [await submit(), await submit(), await submit()];
    await live.received(3);
    before.close();
    const again = await open(caller, { lastEventId: position });
    await again.received(3);
    const later = await submit();
    await again.received(4);
    expect(again.events.map(({ data }) => data.data.job_id)).toEqual([...jobs, later]);
    expect(new Set(idsOf(again)).size).toBe(4);
    const query = await open(caller, { query: `last_event_id=${encodeURIComponent(position)}` });
    expect((await query.received(4)).length).toBe(4);
  });

  it('sends what a transaction commits late although a later one was sent before', async () => {
    const stream = await open(caller);
    const insert = `INSERT INTO run_states (run_id, sequence, status, start_time) VALUES ($1, $2, 'RUNNING', platform_clock())`;
    const jobId = await submit();
    await stream.received(1);
    const late = api.database.createQueryRunner();
    await late.startTransaction();
    await late.query(insert, [jobId, 100]);
    await submit();
    await stream.received(2);
    const position = stream.lastId ?? '';
    await late.commitTransaction();
    await late.release();
    await stream.received(3);
    expect(stream.events[2]?.data.data).toMatchObject({ job_id: jobId, status: 'RUNNING' });
    const again = await open(caller, { lastEventId: position });
    await again.received(1);
    expect(again.events[0]?.data.data).toMatchObject({ job_id: jobId, status: 'RUNNING' });
    expect(again.events).toHaveLength(1);
  });

  it('sends nothing of a transaction that is rolled back', async () => {
    const stream = await open(caller);
    const jobId = await submit();
    await stream.received(1);
    await api.database
      .transaction(async (tx) => {
        await tx.query(
          `INSERT INTO run_states (run_id, sequence, status, start_time) VALUES ($1, 200, 'DONE', platform_clock())`,
          [jobId],
        );
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await submit();
    await stream.received(2);
    expect(stream.events.map(({ data }) => data.data.status)).not.toContain('DONE');
  });

  it('sends events of one workspace only, if one is named', async () => {
    const admin = await people.admin(mine.tenantId);
    const other = await people.workspace(admin);
    const stream = await open(admin, { query: `workspace_id=${other}` });
    const all = await open(admin);
    await submit();
    await api.database.transaction((tx) => setClusterStatus(tx, mine.clusterId, 'RESIZING_UP'));
    await api.database.transaction((tx) => setClusterStatus(tx, mine.clusterId, 'RUNNING'));
    await all.received(3);
    expect(stream.events).toEqual([]);
  });

  it('says that something is missing if too much happened', async () => {
    const position = (await open(caller)).lastId ?? '';
    const jobId = await submit();
    await api.database.query(
      `INSERT INTO run_states (run_id, sequence, status, start_time)
       SELECT $1, 1000 + n, 'RUNNING', platform_clock() FROM generate_series(1, 6000) n`,
      [jobId],
    );
    const again = await open(caller, { lastEventId: position });
    await eventually(() => again.events.some(({ event }) => event === 'gap'), { what: 'a gap' });
    expect(again.events.at(-1)?.data).toMatchObject({ type: 'events.missing', specversion: '1.0' });
  });

  describe('keeps to the caller', () => {
    it('with events of the workspaces that the caller may view at that moment', async () => {
      const member = await people.member(mine.tenantId);
      const stream = await open(member);
      const witness = await open(caller);
      await submit();
      await witness.received(1);
      const permission = { tenant_id: mine.tenantId, workspace_id: mine.workspaceId, user_id: member.userId };
      await insertPlain(api.database.manager, 'workspace_users', { ...permission, permission_id: 0 });
      const seen = await submit();
      await stream.received(1);
      await api.database.query('UPDATE workspace_users SET to_date = platform_now() WHERE user_id = $1', [
        member.userId,
      ]);
      await submit();
      await witness.received(3);
      expect(stream.events.map(({ data }) => data.data.job_id)).toEqual([seen]);
    });

    it('and to the tenant', async () => {
      const stranger = await open(await people.admin(foreign.tenantId));
      const witness = await open(caller);
      await submit();
      await witness.received(1);
      expect(stranger.events).toEqual([]);
    });
  });
});
