import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { eventually } from '../harness/eventually';
import { EventStream } from '../medium/harness/event-stream';
import { type Caller, People } from '../medium/harness/people';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { wholeApi } from '../medium/harness/test-api';

/** Access is checked twice a second, and on a busy machine a little later. */
const MAX_LIVE_MS = 2_000;

// Real: the whole API and PostgreSQL.
describe('streams of events', () => {
  const api = wholeApi();
  const people = new People(api);
  const opened: EventStream[] = [];
  let own: Tenancy;
  let foreign: Tenancy;
  let owner: Caller;

  beforeAll(async () => {
    own = await makeTenancy(api.database.manager, 'own');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    owner = await people.as(own.userId, own.tenantId);
  });

  afterEach(() => opened.splice(0).forEach((one) => one.close()));

  const open = async (caller: Caller, options: { query?: string; lastEventId?: string } = {}) => {
    const stream = await EventStream.open(api, caller.token, options);
    opened.push(stream);
    return stream;
  };
  const submit = async () => {
    const { status } = await owner.call('POST', `/workspace/${own.workspaceId}/spark/job`, {
      job_conf_id: own.jobConfId,
    });
    expect(status).toBe(200);
  };

  it('show nothing of another tenant, wherever the client says that it was', async () => {
    await submit();
    const stranger = await people.admin(foreign.tenantId);
    const streams = [
      await open(stranger),
      await open(stranger, { lastEventId: '1:1:' }),
      await open(stranger, { lastEventId: '3:9000000000000000:' }),
    ];
    const witness = await (await open(owner)).ready();
    await submit();
    await witness.received(1);
    const shown = streams.flatMap(({ events }) => events.map(({ data }) => data.data.cluster_id));
    // The tenant's own cluster began after the second position.
    expect(shown).toEqual([foreign.clusterId]);
    expect((await open(stranger, { query: `workspace_id=${own.workspaceId}` })).status).toBe(404);
  });

  it.each([
    '0',
    "1:1:'; DROP TABLE runs --",
    '2:1:',
    `1:2:${'1,'.repeat(50_000)}1`.slice(0, 8_000),
    'run-1',
    '1:5:7',
    '9999999999999999999:1:',
  ])('refuse the position %.40j, and go on', async (lastEventId) => {
    const stream = await open(owner, { lastEventId });
    expect(stream.status).toBe(400);
    expect((await (await open(owner)).ready()).status).toBe(200);
  });

  it('end within a second when the session, the role or the permission is lost', async () => {
    const losses: [string, string][] = [
      ['session', 'DELETE FROM sessions WHERE user_id = $1'],
      ['role', 'UPDATE user_roles SET to_date = platform_now() WHERE user_id = $1'],
    ];
    for (const [, sql] of losses) {
      const member = await people.member(own.tenantId);
      const stream = await (await open(member)).ready();
      await api.database.query(sql, [member.userId]);
      const lostAt = Date.now();
      await eventually(() => stream.isClosed, { what: 'the end of a stream' });
      expect(Date.now() - lostAt).toBeLessThan(MAX_LIVE_MS);
    }
    const stream = await (await open(owner, { query: `workspace_id=${own.workspaceId}` })).ready();
    const revoke = (end: string) =>
      api.database.query(`UPDATE workspace_users SET to_date = ${end} WHERE user_id = $1`, [owner.userId]);
    await revoke('platform_now()');
    await eventually(() => stream.isClosed, { what: 'the end of a stream' });
    await revoke(`'infinity'`);
  });

  it('show an administrator who was one nothing more than a user', async () => {
    const admin = await people.admin(own.tenantId);
    await people.giveRole(admin.userId, 'USER', own.tenantId);
    const stream = await (await open(admin)).ready();
    const witness = await (await open(owner)).ready();
    await submit();
    await stream.received(1);
    await api.database.query(
      `UPDATE user_roles SET to_date = platform_now() WHERE user_id = $1 AND role_id = (SELECT role_id FROM roles WHERE role = 'ADMIN')`,
      [admin.userId],
    );
    await submit();
    await witness.received(2);
    expect(stream.events).toHaveLength(1);
  });

  it('are broken off if the client does not read, and others go on', async () => {
    const accepted: Socket[] = [];
    (api.app.getHttpServer() as Server).on('connection', (socket: Socket) => accepted.push(socket));
    const slow = await (await open(owner)).ready();
    const reader = await (await open(owner)).ready();
    slow.response.pause();
    slow.response.socket.pause();
    const [{ run_id: runId }] = await api.database.query('SELECT run_id FROM runs LIMIT 1');
    // Both systems buffer some megabytes on top of what the platform keeps.
    for (let batch = 0; batch < 60 && !isCut(); batch += 1) {
      await api.database.query(
        `INSERT INTO run_states (run_id, sequence, status, reason, start_time)
         SELECT $1, $2 + n, 'RUNNING', repeat('x', 1000), platform_clock() FROM generate_series(1, 200) n`,
        [runId, 1_000 * (batch + 1)],
      );
      await submit();
      await reader.received((batch + 1) * 201);
    }
    expect(isCut()).toBe(true);

    // A client that does not read does not learn that its connection has ended.
    function isCut(): boolean {
      const { localPort } = slow.response.socket;
      const [socket] = accepted.filter(({ remotePort }) => remotePort === localPort);
      if (!socket) throw new Error(`The server has accepted no connection from port ${localPort}.`);
      return socket.destroyed;
    }
  });

  it('are limited per caller as all streams', async () => {
    const busy = await people.member(own.tenantId);
    const streams = [];
    for (let count = 0; count < 65; count += 1) streams.push(await open(busy));
    expect(streams.map(({ status }) => status).filter((status) => status !== 200)).toEqual([429]);
    expect((await (await open(owner)).ready()).status).toBe(200);
  });
});
