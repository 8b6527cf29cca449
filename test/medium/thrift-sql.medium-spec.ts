import { decodeRecords, encodeRecords } from '../../libs/contracts/channel-records';
import { eventually } from '../../libs/testing/eventually';
import { openSession } from '../../libs/testing/hive-messages';
import { settingsOf } from '../../src/modules/jobs/dto/job-conf.dto';
import { type Caller, People } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { startWholeApi, type TestApi } from './harness/test-api';

const MIB = 1024 * 1024;

interface Call {
  op: string;
  id: string;
  user?: string;
  body: Buffer;
}

// Real: the whole API and PostgreSQL. Left out: the agents and their SQL servers, in whose place the test answers.
describe('SQL that jobs serve', () => {
  let api: TestApi;
  let people: People;
  let stop: (() => Promise<void>) | undefined;
  let tenancy: Tenancy;
  let agent: TestAgent;
  let ada: Caller;
  let runId: number;
  let said: number;

  beforeAll(async () => {
    ({ api, stop } = await startWholeApi());
    people = new People(api);
  });

  afterAll(() => stop?.());

  beforeEach(async () => {
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    ada = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    runId = await agent.giveRun(tenancy, settingsOf({}), 'THRIFT_SQL');
    said = 0;
  });

  const username = async (by: Caller) => {
    const sql = 'SELECT username FROM users WHERE user_id = $1';
    const [user] = await api.database.query<{ username: string }[]>(sql, [by.userId]);
    return user?.username ?? '';
  };
  const basic = (name: string, token: string) => `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}`;

  async function post(
    message: Buffer,
    {
      authorization = `Bearer ${ada.token}`,
      type = 'application/x-thrift',
      id = runId,
      signal,
      key,
    }: {
      authorization?: string;
      type?: string;
      id?: number;
      signal?: AbortSignal;
      key?: string;
    } = {},
  ) {
    const answer = await fetch(api.urlOf(`/workspace/${tenancy.workspaceId}/spark/job/${id}/thrift`), {
      method: 'POST',
      headers: { authorization, 'content-type': type, ...(key && { 'idempotency-key': key }) },
      body: new Uint8Array(message),
      ...(signal && { signal }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    const isError = answer.headers.get('content-type')?.startsWith('application/json');
    const code = isError ? (JSON.parse(body.toString()) as { error_code: string }).error_code : null;
    return { status: answer.status, type: answer.headers.get('content-type'), body, code };
  }

  async function say(header: object, body: Buffer | string = ''): Promise<void> {
    said += 1;
    const payload = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), Buffer.from(body)]);
    const sent = await agent.send('PUT', `/runs/${runId}/frames`, { body: encodeRecords([{ number: said, payload }]) });
    expect(sent.status).toBe(200);
  }

  async function asked(after: number): Promise<Call[]> {
    return eventually(async () => {
      const answer = await agent.send('GET', `/runs/${runId}/requests?after=${after}&wait_ms=1000`);
      const found = decodeRecords(Buffer.from(await answer.arrayBuffer())).map(({ payload }) => {
        const end = payload.indexOf('\n');
        return { ...(JSON.parse(payload.toString('utf8', 0, end)) as Call), body: payload.subarray(end + 1) };
      });
      return found.length > 0 ? found : null;
    });
  }

  const answer = (id: string, outcome: string, body: Buffer | string, more = false) =>
    say({ op: 'answer', id, outcome, more }, body);

  it('takes messages in the name of their senders, and answers with the bytes of all parts', async () => {
    expect(await post(openSession())).toMatchObject({ status: 409, code: 'THRIFT.NOT_RUNNING' });
    await say({ op: 'ready' });
    const name = await username(ada);
    const message = openSession('somebody else');
    const called = post(message, { authorization: basic(name.toUpperCase(), ada.token) });
    const [call] = await asked(0);
    expect(call).toMatchObject({ op: 'call', user: name });
    expect(call?.body.equals(message)).toBe(true);
    const parts = [Buffer.alloc(3 * MIB, 1), Buffer.alloc(3 * MIB, 2), Buffer.from('\n{"op":"ready"}\n')];
    for (const [at, part] of parts.entries()) await answer(String(call?.id), 'ok', part, at < 2);
    const { status, type, body } = await called;
    expect([status, type]).toEqual([200, 'application/x-thrift']);
    expect(body.equals(Buffer.concat(parts))).toBe(true);
  });

  it('is for those who are who they say, and have RUN', async () => {
    await say({ op: 'ready' });
    const viewer = await people.member(tenancy.tenantId);
    await ada.call('POST', `/ac/workspace/${tenancy.workspaceId}/user`, { user_id: viewer.userId, permission_id: 0 });
    const stranger = await people.admin((await makeTenancy(api.database.manager, people.unique('tenancy'))).tenantId);
    const refused: [string, number][] = [
      ['', 401],
      [basic('somebody', ada.token), 401],
      [basic('', ada.token), 401],
      [basic(await username(ada), 'password'), 401],
      [`Bearer ${viewer.token}`, 403],
      [basic(await username(viewer), viewer.token), 403],
      [basic(await username(stranger), stranger.token), 404],
    ];
    for (const [authorization, status] of refused) {
      expect([authorization, (await post(openSession(), { authorization })).status]).toEqual([authorization, status]);
    }
    // Elsewhere a token is no password.
    const elsewhere = await fetch(api.urlOf(`/workspace/${tenancy.workspaceId}/spark/jobs`), {
      headers: { authorization: basic(await username(ada), ada.token) },
    });
    expect(elsewhere.status).toBe(401);
  });

  it('says what became of a message that was not answered', async () => {
    await say({ op: 'ready' });
    const outcomes: [string, string, number, string][] = [
      ['error', 'The session or operation is not one of ada, or is closed.', 400, 'THRIFT.REFUSED'],
      ['error', '\ud800', 400, 'THRIFT.REFUSED'],
      ['full', '', 503, 'THRIFT.FULL'],
      ['unanswerable', '', 500, 'THRIFT.UNANSWERABLE'],
    ];
    for (const [at, [outcome, text, status, code]] of outcomes.entries()) {
      const called = post(openSession());
      const [call] = await asked(at);
      await answer(String(call?.id), outcome, text);
      expect(await called).toMatchObject({ status, code });
    }
    const waits = post(openSession());
    await asked(outcomes.length);
    await api.database.query(`UPDATE runs SET status = 'ERROR', ended_at = now() WHERE run_id = $1`, [runId]);
    expect(await waits).toMatchObject({ status: 409, code: 'CALL.ENDED' });
  });

  it('refuses other bodies, and other jobs', async () => {
    await say({ op: 'ready' });
    expect((await post(Buffer.from('{}'), { type: 'application/json' })).status).toBe(415);
    expect((await post(Buffer.alloc(9 * MIB))).status).toBe(413);
    const job = await agent.giveRun(tenancy);
    expect(await post(openSession(), { id: job })).toMatchObject({ status: 400, code: 'THRIFT.NO_SERVER' });
  });

  it('bears answers without end, answers to nobody, and callers who go away', async () => {
    await say({ op: 'ready' });
    const called = post(openSession());
    const [call] = await asked(0);
    await answer('of-nobody', 'ok', 'x', true);
    for (let part = 0; part < 4; part += 1) await answer(String(call?.id), 'ok', Buffer.alloc(10 * MIB), true);
    expect(await called).toMatchObject({ status: 500, code: 'CALL.ANSWER_TOO_LONG' });
    const gone = new AbortController();
    const left = post(openSession(), { signal: gone.signal }).catch(() => 'gone');
    const [second] = await asked(1);
    gone.abort();
    expect(await left).toBe('gone');
    expect(await asked(2)).toMatchObject([{ op: 'cancel', id: second?.id }]);
  });

  it('sends a message once, whatever key it has', async () => {
    await say({ op: 'ready' });
    const called = post(openSession(), { key: 'once' });
    const [call] = await asked(0);
    await answer(String(call?.id), 'ok', 'done');
    expect((await called).body.toString()).toBe('done');
    expect(await post(openSession(), { key: 'once' })).toMatchObject({ status: 409, code: 'CALL.REPEATED' });
  });

  it('is described without a command, runs until it says so, and fills no audit log', async () => {
    const base = { name: 'sql', job_type: 'THRIFT_SQL', cluster_id: tenancy.clusterId };
    const describe = (fields: object) =>
      ada.call('POST', `/workspace/${tenancy.workspaceId}/spark/job/conf`, { ...base, ...fields });
    expect((await describe({ command: 'a.py' })).status).toBe(400);
    expect((await describe({ rawScalaCode: 'select 1' })).status).toBe(400);
    const { status, body } = await describe({});
    expect([status, body.spark_job_type]).toEqual([200, { job_type: 'THRIFT_SQL', language: 'SQL' }]);
    await api.database.query('UPDATE clusters SET max_parallel_jobs = 5 WHERE cluster_id = $1', [tenancy.clusterId]);
    const { body: job } = await ada.call('POST', `/workspace/${tenancy.workspaceId}/spark/job`, {
      job_conf_name: 'sql',
    });
    const { runs } = await agent.poll();
    expect(runs.find(({ run_id }) => run_id === job.job_id)?.spec).toMatchObject({
      kind: 'thrift',
      sql_idle_timeout_sec: 3_600,
    });
    await say({ op: 'ready' });
    const called = post(openSession());
    const [call] = await asked(0);
    await answer(String(call?.id), 'ok', '');
    expect((await called).status).toBe(200);
    expect((await post(Buffer.from(''), { type: 'text/plain' })).status).toBe(415);
    const rows: { status: number }[] = await api.database.query(
      `SELECT * FROM audit_events WHERE operation = 'thriftSql' AND user_id = $1`,
      [ada.userId],
    );
    expect(rows).toHaveLength(1);
  });
});
