import { deflateSync } from 'node:zlib';
import { decodeRecords, encodeRecords } from '../../libs/contracts/channel-records';
import { eventually } from '../harness/eventually';
import {
  closeOperation,
  type HiveHandle,
  fetchResults,
  getOperationStatus,
  openSession,
  operationStatus,
} from '../harness/hive-messages';
import { parseRepeated } from '../../src/modules/execution/runs/thrift-sql/hive-message';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import { type Caller, People } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

const MIB = 1024 * 1024;

const operation: HiveHandle = { guid: Buffer.alloc(16, 1), secret: Buffer.alloc(16, 2) };

interface Call {
  op: string;
  id: string;
  user?: string;
  body: Buffer;
}

// Real: the whole API and PostgreSQL. Left out: the agents and their SQL servers, for which the test answers.
describe('SQL that jobs serve', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let ada: Caller;
  let runId: number;
  let framesSent: number;

  beforeEach(async () => {
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    ada = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    runId = await agent.assignRun(tenancy, settingsOf({}), 'THRIFT_SQL');
    framesSent = 0;
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

  async function sendFrame(header: object, body: Buffer | string = ''): Promise<void> {
    framesSent += 1;
    const payload = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), Buffer.from(body)]);
    const sent = await agent.send('PUT', `/runs/${runId}/frames`, {
      body: encodeRecords([{ number: framesSent, payload }]),
    });
    expect(sent.status).toBe(200);
  }

  async function nextCalls(after: number): Promise<Call[]> {
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
    sendFrame({ op: 'answer', id, outcome, more }, body);

  it('forwards messages with the name of their senders, and returns the bytes of all parts', async () => {
    expect(await post(openSession())).toMatchObject({ status: 409, code: 'THRIFT.NOT_RUNNING' });
    await sendFrame({ op: 'ready' });
    const name = await username(ada);
    const message = openSession('somebody else');
    const called = post(message, { authorization: basic(name.toUpperCase(), ada.token) });
    const [call] = await nextCalls(0);
    expect(call).toMatchObject({ op: 'call', user: name });
    expect(call?.body.equals(message)).toBe(true);
    const parts = [Buffer.alloc(3 * MIB, 1), Buffer.alloc(3 * MIB, 2), Buffer.from('\n{"op":"ready"}\n')];
    for (const [at, part] of parts.entries()) await answer(String(call?.id), 'ok', part, at < 2);
    const { status, type, body } = await called;
    expect([status, type]).toEqual([200, 'application/x-thrift']);
    expect(body.equals(Buffer.concat(parts))).toBe(true);
  });

  it('requires that the user name is the caller’s, and RUN', async () => {
    await sendFrame({ op: 'ready' });
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
    // Other operations do not accept a token as the password.
    const elsewhere = await fetch(api.urlOf(`/workspace/${tenancy.workspaceId}/spark/jobs`), {
      headers: { authorization: basic(await username(ada), ada.token) },
    });
    expect(elsewhere.status).toBe(401);
  });

  it('reports the reason if a message gets no response', async () => {
    await sendFrame({ op: 'ready' });
    const outcomes: [string, string, number, string][] = [
      ['error', 'The session or operation is not one of ada, or is closed.', 400, 'THRIFT.REFUSED'],
      ['error', '\ud800', 400, 'THRIFT.REFUSED'],
      ['full', '', 503, 'THRIFT.FULL'],
      ['unanswerable', '', 500, 'THRIFT.UNANSWERABLE'],
    ];
    for (const [at, [outcome, text, status, code]] of outcomes.entries()) {
      const called = post(openSession());
      const [call] = await nextCalls(at);
      await answer(String(call?.id), outcome, text);
      expect(await called).toMatchObject({ status, code });
    }
    const waits = post(openSession());
    await nextCalls(outcomes.length);
    await api.database.query(`UPDATE runs SET status = 'ERROR', ended_at = now() WHERE run_id = $1`, [runId]);
    expect(await waits).toMatchObject({ status: 409, code: 'CALL.ENDED' });
  });

  it('refuses other bodies, and other jobs', async () => {
    await sendFrame({ op: 'ready' });
    expect((await post(Buffer.from('{}'), { type: 'application/json' })).status).toBe(415);
    expect((await post(Buffer.alloc(9 * MIB))).status).toBe(413);
    const job = await agent.assignRun(tenancy);
    expect(await post(openSession(), { id: job })).toMatchObject({ status: 400, code: 'THRIFT.NO_SERVER' });
  });

  it('unpacks compressed responses up to the size limit', async () => {
    await sendFrame({ op: 'ready' });
    const last = (id: unknown) => ({ op: 'answer', id, outcome: 'ok', more: false, deflated: true });
    const rows = Buffer.from('rows '.repeat(100_000));
    const packed = deflateSync(rows);
    const answers: [Buffer, Buffer, object][] = [
      [packed.subarray(0, 100), packed.subarray(100), { status: 200, body: rows }],
      [packed.subarray(0, 100), Buffer.alloc(0), { status: 500, code: 'CALL.ANSWER_MALFORMED' }],
      [Buffer.alloc(0), deflateSync(Buffer.alloc(33 * MIB)), { status: 500, code: 'CALL.ANSWER_TOO_LONG' }],
    ];
    for (const [at, [first, second, expected]] of answers.entries()) {
      const called = post(openSession());
      const [call] = await nextCalls(at);
      await answer(String(call?.id), 'ok', first, true);
      await sendFrame(last(call?.id), second);
      expect(await called).toMatchObject(expected);
    }
  });

  it('survives endless responses, responses without a call, and callers who disconnect', async () => {
    await sendFrame({ op: 'ready' });
    const called = post(openSession());
    const [call] = await nextCalls(0);
    await answer('of-nobody', 'ok', 'x', true);
    for (let part = 0; part < 4; part += 1) await answer(String(call?.id), 'ok', Buffer.alloc(10 * MIB), true);
    expect(await called).toMatchObject({ status: 500, code: 'CALL.ANSWER_TOO_LONG' });
    const gone = new AbortController();
    const storedResults = post(openSession(), { signal: gone.signal }).catch(() => 'gone');
    const [second] = await nextCalls(1);
    gone.abort();
    expect(await storedResults).toBe('gone');
    expect(await nextCalls(2)).toMatchObject([{ op: 'cancel', id: second?.id }]);
  });

  it('sends a message once, whatever its key', async () => {
    await sendFrame({ op: 'ready' });
    const called = post(openSession(), { key: 'once' });
    const [call] = await nextCalls(0);
    await answer(String(call?.id), 'ok', 'done');
    expect((await called).body.toString()).toBe('done');
    expect(await post(openSession(), { key: 'once' })).toMatchObject({ status: 409, code: 'CALL.REPEATED' });
  });

  it('answers for a statement that has finished without asking the job, until its user sends something else', async () => {
    await sendFrame({ op: 'ready' });
    let sent = 0;
    const asks = async (by: Caller, message: Buffer, reply: Buffer, isFinal: boolean) => {
      const called = post(message, { authorization: `Bearer ${by.token}` });
      const [call] = await nextCalls(sent);
      sent += 1;
      await sendFrame(
        { op: 'answer', id: call?.id, outcome: 'ok', more: false, ...(isFinal && { final: true }) },
        reply,
      );
      expect((await called).body.equals(reply)).toBe(true);
    };
    const status = getOperationStatus(operation);
    const again = Buffer.from(status);
    const sequenceAt = 8 + 'GetOperationStatus'.length;
    again.writeInt32BE(77, sequenceAt);
    await asks(ada, status, operationStatus(1), false);
    await asks(ada, status, operationStatus(2), true);
    const { body } = await post(again);
    expect(body.readInt32BE(sequenceAt)).toBe(77);
    expect(body.subarray(sequenceAt + 4)).toEqual(operationStatus(2).subarray(sequenceAt + 4));
    await asks(ada, fetchResults(operation), Buffer.from('rows'), false);
    expect((await post(status)).body.equals(operationStatus(2))).toBe(true);
    const eve = await people.admin(tenancy.tenantId);
    await asks(eve, again, operationStatus(), false);
    await asks(ada, closeOperation(operation), Buffer.from('closed'), false);
    await asks(ada, status, operationStatus(), false);
  });

  describe('with prefetched results', () => {
    let name: string;

    beforeEach(async () => {
      await sendFrame({ op: 'ready' });
      name = await username(ada);
    });

    /** Returns a fetch with a sequence number; a response starts with the same bytes. */
    const numbered = (sequence: number, message = fetchResults(operation)) => {
      const copy = Buffer.from(message);
      copy.writeInt32BE(sequence, 20);
      return copy;
    };
    const rowsWith = (sequence: number, text: string) => Buffer.concat([numbered(sequence), Buffer.from(text)]);
    const keyOf = (user = name) => parseRepeated(fetchResults(operation), user)?.key ?? '';
    const prefetch = (id: string, text: string, key = keyOf()) =>
      sendFrame({ op: 'answer', id, outcome: 'ok', more: false, ahead: { key, parts: 1 } }, rowsWith(0, text));
    const left = async () => {
      const sql = 'SELECT call_id, claimed FROM thrift_answers_ahead WHERE run_id = $1 ORDER BY first';
      return api.database.query<{ call_id: string; claimed: boolean }[]>(sql, [runId]);
    };
    const notifications = async (after: number) => JSON.parse(JSON.stringify(await nextCalls(after))) as unknown;

    it('returns them at once, in order, with the sequence number of the request, and notifies the job', async () => {
      for (const id of ['a', 'b', 'c', 'd']) await prefetch(id, `rows ${id}`);
      expect((await post(numbered(7))).body.equals(rowsWith(7, 'rows a'))).toBe(true);
      expect(await left()).toMatchObject([{ claimed: true }, {}, {}, { claimed: false }]);
      expect((await post(numbered(8))).body.equals(rowsWith(8, 'rows b'))).toBe(true);
      expect(await notifications(0)).toMatchObject([{ op: 'claimed', ids: ['a', 'b'] }]);
      expect(await left()).toEqual([
        { call_id: 'c', claimed: false },
        { call_id: 'd', claimed: false },
      ]);
    });

    it('returns results of several parts, compressed', async () => {
      const packed = deflateSync(rowsWith(0, 'rows'));
      await answer('long', 'ok', packed.subarray(0, 9), true);
      const header = { op: 'answer', id: 'long', outcome: 'ok', more: false, deflated: true };
      await sendFrame({ ...header, ahead: { key: keyOf(), parts: 2 } }, packed.subarray(9));
      expect((await post(numbered(5))).body.equals(rowsWith(5, 'rows'))).toBe(true);
    });

    it('returns each result once to concurrent requests', async () => {
      const ids = Array.from({ length: 8 }, (_, at) => `page-${at}`);
      for (const id of ids) await prefetch(id, id);
      const asking = ids.map(async (_, at) => (await post(numbered(at))).body.toString('latin1').slice(-6));
      const gone = new AbortController();
      // A request without a prefetched result is sent to the job.
      const answered = (async () => {
        for (let after = 0; !gone.signal.aborted;) {
          const batch = await agent.send('GET', `/runs/${runId}/requests?after=${after}&wait_ms=200`);
          for (const { payload, number } of decodeRecords(Buffer.from(await batch.arrayBuffer()))) {
            after = number;
            const header = JSON.parse(payload.toString('latin1').split('\n')[0] ?? '') as Call;
            if (header.op === 'call') await answer(header.id, 'ok', 'behind');
          }
        }
      })();
      const got = await Promise.all(asking);
      gone.abort();
      await answered;
      const pages = got.filter((page) => page !== 'behind');
      expect(new Set(pages).size).toBe(pages.length);
      expect(pages.length).toBeGreaterThan(0);
    });

    it('returns no results of another user or another fetch, and no recalled ones', async () => {
      await prefetch('of-bob', 'x', keyOf('bob'));
      await prefetch('void', 'x');
      await sendFrame({ op: 'void', ids: ['void'] });
      const called = post(numbered(3));
      const [call] = await nextCalls(0);
      expect(call).toMatchObject({ op: 'call', user: name });
      await answer(String(call?.id), 'ok', 'of the server');
      expect((await called).body.toString()).toBe('of the server');
      await prefetch('next', 'x');
      const others = post(fetchResults(operation, 7));
      const [second] = await nextCalls(1);
      await answer(String(second?.id), 'ok', 'other');
      expect((await others).body.toString()).toBe('other');
      expect(await left()).toMatchObject([{ call_id: 'of-bob' }, { call_id: 'next' }]);
    });

    it('reports returned results to the job before the next call', async () => {
      await prefetch('a', 'x');
      await prefetch('b', 'x');
      await prefetch('c', 'x');
      await post(numbered(1));
      const called = post(fetchResults(operation, 7));
      const requests = await eventually(async () => {
        const found = await nextCalls(0);
        return found.length > 1 ? found : null;
      });
      expect(requests).toMatchObject([{ op: 'claimed', ids: ['a'] }, { op: 'call' }]);
      await answer(String(requests[1]?.id), 'ok', 'x');
      await called;
    });

    it('sends requests with a key to the job, because a repetition would get the next rows', async () => {
      await prefetch('a', 'x');
      const called = post(numbered(1), { key: 'fetch' });
      const [call] = await nextCalls(0);
      await sendFrame({ op: 'answer', id: call?.id, outcome: 'ok', more: false, instead_of: 'a' }, 'x');
      expect((await called).status).toBe(200);
      expect(await left()).toEqual([]);
    });

    it('refuses rows that another request has already got', async () => {
      const called = post(numbered(1));
      const [call] = await nextCalls(0);
      await prefetch('a', 'x');
      expect((await post(numbered(2))).status).toBe(200);
      await sendFrame({ op: 'answer', id: call?.id, outcome: 'ok', more: false, instead_of: 'a' }, 'x');
      expect(await called).toMatchObject({ status: 409, code: 'THRIFT.ROWS_TAKEN' });
      // The job is notified of claimed results after the response to the request that claimed them.
      await eventually(async () => ((await left()).length === 0 ? true : null));
    });

    it('survives a job that announces endless results, or others than it sent', async () => {
      const batch = (count: number, header: (at: number) => object) =>
        Array.from({ length: count }, (_, at) => {
          framesSent += 1;
          return { number: framesSent, payload: Buffer.from(`${JSON.stringify(header(at))}\n`) };
        });
      const key = keyOf();
      const part = { op: 'answer', outcome: 'ok', more: false };
      const foreign = [
        { ...part, id: 'none', ahead: { key, parts: 0 } },
        { ...part, id: 'many', ahead: { key, parts: 17 } },
        { ...part, id: 'short', ahead: { key: 'k', parts: 1 } },
        { ...part, id: 'no', outcome: 'error', ahead: { key, parts: 1 } },
        { ...part, id: 'before', ahead: { key, parts: 16 } },
        { op: 'void', ids: [1] },
        { op: 'void', ids: Array.from({ length: 21 }, () => 'x') },
      ];
      for (const frames of [
        batch(3_000, (at) => ({ ...part, id: `a-${at}`, ahead: { key, parts: 2 } })),
        batch(foreign.length, (at) => foreign[at] ?? {}),
      ]) {
        expect((await agent.send('PUT', `/runs/${runId}/frames`, { body: encodeRecords(frames) })).status).toBe(200);
      }
      expect(await left()).toHaveLength(1_000);
      // The job announced these as one result, but they were two.
      const called = post(numbered(1));
      const [call] = await nextCalls(0);
      await answer(String(call?.id), 'ok', 'of the server');
      expect((await called).body.toString()).toBe('of the server');
    });
  });

  it('needs no command, runs until it ends by itself, and does not fill the audit log', async () => {
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
    await sendFrame({ op: 'ready' });
    const called = post(openSession());
    const [call] = await nextCalls(0);
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
