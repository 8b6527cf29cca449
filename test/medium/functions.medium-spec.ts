import { decodeRecords, encodeRecords } from '../../libs/contracts/channel-records';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import { eventually } from '../harness/eventually';
import { type Caller, People } from './harness/people';
import { makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

const FUNCTION = {
  platform_functions_script_path: 'project/serve.py',
  platform_functions_function_name: 'serve',
  platform_functions_request_timeout_sec: 300,
  platform_functions_example_request_body: '{"platform_functions_side": 3, "id": 9007199254740993, "x": 1.0}',
};
const SETTINGS = settingsOf(FUNCTION);
const HURRIED = settingsOf({ ...FUNCTION, platform_functions_request_timeout_sec: 1 });

interface Call {
  op: string;
  id: string;
  body: string;
}

// Real: the whole API and PostgreSQL. Left out: the agents and their functions, for which the test answers.
describe('functions', () => {
  const api = wholeApi({ HTTP_MAX_STREAMS: '8', HTTP_MAX_STREAMS_PER_CALLER: '3' });
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let admin: Caller;
  let runId: number;
  let framesSent: number;

  beforeEach(async () => {
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    admin = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    runId = await agent.assignRun(tenancy, SETTINGS, 'PLATFORM_FUNCTIONS');
    framesSent = 0;
  });

  /** A user with RUN in the workspace. */
  const runner = async () => {
    const one = await people.member(tenancy.tenantId);
    const given = { user_id: one.userId, permission_id: 1 };
    const { status: code } = await admin.call('POST', `/ac/workspace/${tenancy.workspaceId}/user`, given);
    expect(code).toBe(200);
    return one;
  };
  const path = (id = runId) => `/workspace/${tenancy.workspaceId}/spark/job/${id}/invoke`;
  const invoke = async (body: unknown, by = admin) => {
    const answer = await fetch(api.urlOf(path()), {
      method: 'POST',
      headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never };
  };

  async function sendFrame(header: unknown, body = ''): Promise<void> {
    framesSent += 1;
    const payload = Buffer.from(`${JSON.stringify(header)}\n${body}`);
    const sent = await agent.send('PUT', `/runs/${runId}/frames`, {
      body: encodeRecords([{ number: framesSent, payload }]),
    });
    expect(sent.status).toBe(200);
  }

  /** Returns the next requests for the node. */
  async function nextCalls(after: number): Promise<Call[]> {
    return eventually(async () => {
      const answer = await agent.send('GET', `/runs/${runId}/requests?after=${after}&wait_ms=1000`);
      const records = decodeRecords(Buffer.from(await answer.arrayBuffer()));
      const found = records.map(({ payload }) => {
        const [header = '', ...body] = payload.toString().split('\n');
        return { ...(JSON.parse(header) as Omit<Call, 'body'>), body: body.join('\n') };
      });
      return found.length > 0 ? found : null;
    });
  }

  const answer = (id: string, outcome: string, body = '') => sendFrame({ op: 'answer', id, outcome }, body);
  const status = async () =>
    ((await admin.call('GET', `/workspace/${tenancy.workspaceId}/spark/job/${runId}`)).body as { job_status: string })
      .job_status;

  it('are called once they are ready, and return the bytes of their JSON', async () => {
    expect(await invoke(1)).toMatchObject({ status: 409, body: { error_code: 'FUNCTION.NOT_RUNNING' } });
    await sendFrame({ op: 'ready' });
    expect(await status()).toBe('RUNNING');
    // Some clients start a text with a byte order mark.
    const called = invoke('\uFEFF{"n": 12345678901234567890}');
    const [call] = await nextCalls(0);
    expect(call).toMatchObject({ op: 'call', body: '{"n": 12345678901234567890}' });
    await answer('of-somebody-else', 'ok', '1');
    await answer(String(call?.id), 'ok', '{"platform_functions_x":[1.50]}');
    const { status: code, headers, body } = await called;
    expect([code, body, headers.get('x-invocation-id')]).toEqual([200, { platform_functions_x: [1.5] }, call?.id]);
  });

  it('are described with the example of their configuration, whatever the names of its keys', async () => {
    const job = `/workspace/${tenancy.workspaceId}/spark/job`;
    const { status: code, body } = await admin.call('GET', `${job}/${runId}/openapi`);
    const { post } = (body as { paths: Record<string, { post: never }> }).paths[`${job}/${runId}/invoke`] ?? {};
    expect([code, post]).toMatchObject([
      200,
      {
        operationId: 'serve',
        requestBody: { content: { 'application/json': { example: { platform_functions_side: 3 } } } },
      },
    ]);
    const described = await fetch(api.urlOf(`${job}/${runId}/openapi`), {
      headers: { authorization: `Bearer ${admin.token}` },
    });
    expect(await described.text()).toContain('{"platform_functions_side": 3, "id": 9007199254740993, "x": 1.0}');
    const other = await agent.assignRun(tenancy, undefined, 'THRIFT_SQL');
    expect(await admin.call('GET', `${job}/${other}/openapi`)).toMatchObject({
      status: 400,
      body: { error_code: 'FUNCTION.NOT_A_FUNCTION' },
    });
  });

  it('report the reason of a failed call', async () => {
    await sendFrame({ op: 'ready' });
    const outcomes: [string, string, number, string][] = [
      ['error', '{"type":"KeyError","message":"side","lines":["serve.py:3 in serve: x"]}', 422, 'FUNCTION.FAILED'],
      ['error', 'nonsense', 422, 'FUNCTION.FAILED'],
      ['full', '', 429, 'FUNCTION.FULL'],
      ['timeout', '', 504, 'FUNCTION.TIMEOUT'],
      ['ok', 'no JSON', 500, 'FUNCTION.UNANSWERABLE'],
    ];
    for (const [at, [outcome, body, code, error]] of outcomes.entries()) {
      const called = invoke({});
      const [call] = await nextCalls(at);
      await answer(String(call?.id), outcome, body);
      expect(await called).toMatchObject({ status: code, body: { error_code: error } });
    }
    const called = invoke({});
    const [call] = await nextCalls(outcomes.length);
    await answer(String(call?.id), 'error', outcomes[0]?.[1]);
    expect((await called).body).toMatchObject({
      details: { type: 'KeyError', message: 'side', lines: ['serve.py:3 in serve: x'] },
    });
  });

  it('time out if no response arrives', async () => {
    runId = await agent.assignRun(tenancy, HURRIED, 'PLATFORM_FUNCTIONS');
    await sendFrame({ op: 'ready' });
    const [late, other] = [invoke(1), invoke(2)];
    await nextCalls(0);
    expect(await late).toMatchObject({ status: 504, body: { error_code: 'CALL.TIMEOUT' } });
    await other;
    await eventually(async () => (await nextCalls(2)).filter(({ op }) => op === 'cancel').length === 2);
  });

  it('fail at once if their job has ended', async () => {
    await sendFrame({ op: 'ready' });
    const waits = invoke(3);
    await nextCalls(0);
    await api.database.query(`UPDATE runs SET status = 'ERROR', ended_at = now() WHERE run_id = $1`, [runId]);
    expect(await waits).toMatchObject({ status: 409, body: { error_code: 'CALL.ENDED' } });
  });

  it('block neither other callers nor other tenants, however many calls wait', async () => {
    await sendFrame({ op: 'ready' });
    const [user, other] = [await runner(), await runner()];
    const waiting = [invoke(1, user), invoke(2, user), invoke(3, user)];
    const ids = await eventually(async () => {
      const calls = await nextCalls(0);
      return calls.length === 3 ? calls.map(({ id }) => id) : undefined;
    });
    expect(await invoke(4, user)).toMatchObject({ status: 429, body: { error_code: 'REQUEST.TOO_MANY_STREAMS' } });
    waiting.push(invoke(5, other));
    const [fourth] = await nextCalls(3);
    expect(await invoke(6, other)).toMatchObject({
      status: 429,
      body: { error_code: 'CALL.TOO_MANY', error_message: expect.stringContaining('of your tenant (at most 4)') },
    });
    const [mine, first, myRun] = [tenancy, agent, runId];
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    const stranger = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
    [runId, framesSent] = [await agent.assignRun(tenancy, SETTINGS, 'PLATFORM_FUNCTIONS'), 0];
    await sendFrame({ op: 'ready' });
    const theirs = invoke(7, stranger);
    await answer(String((await nextCalls(0))[0]?.id), 'ok', '7');
    expect(await theirs).toMatchObject({ status: 200, body: 7 });
    [tenancy, agent, runId, framesSent] = [mine, first, myRun, 1];
    for (const id of [...ids, String(fourth?.id)]) await answer(id, 'ok', '1');
    expect((await Promise.all(waiting)).map(({ status: code }) => code)).toEqual([200, 200, 200, 200]);
  });

  it.each<[string, number, (user: Caller) => Promise<unknown>]>([
    ['has logged out', 401, (user) => user.call('POST', '/logout')],
    [
      'has lost RUN',
      403,
      (user) => admin.call('DELETE', `/ac/workspace/${tenancy.workspaceId}/user/${user.userId}/permission/1`),
    ],
  ])('return no result to a caller who %s', async (_what, code, lose) => {
    await sendFrame({ op: 'ready' });
    const user = await runner();
    const called = invoke(1, user);
    await nextCalls(0);
    expect((await lose(user)) as { status: number }).toMatchObject({ status: code === 401 ? 200 : 201 });
    expect(await called).toMatchObject({ status: code });
    await eventually(async () => (await nextCalls(1)).some(({ op }) => op === 'cancel'));
  });

  it('are only for jobs that are functions, and callers with RUN', async () => {
    await sendFrame({ op: 'ready' });
    const viewer = await people.member(tenancy.tenantId);
    await admin.call('POST', `/ac/workspace/${tenancy.workspaceId}/user`, { user_id: viewer.userId, permission_id: 0 });
    expect(await invoke(1, viewer)).toMatchObject({ status: 403 });
    expect(await invoke('{')).toMatchObject({ status: 400 });
    expect(await invoke(`"${'x'.repeat(5 * 1024 * 1024)}"`)).toMatchObject({ status: 413 });
    const job = await agent.assignRun(tenancy);
    expect(await admin.call('POST', path(job), {})).toMatchObject({
      status: 400,
      body: { error_code: 'FUNCTION.NOT_A_FUNCTION' },
    });
  });

  it('are described by their script and name', async () => {
    const base = { name: 'areas', job_type: 'PLATFORM_FUNCTIONS', cluster_id: tenancy.clusterId };
    const described = { platform_functions_script_path: 'project/serve.py', platform_functions_function_name: 'serve' };
    const describe = (fields: object) =>
      admin.call('POST', `/workspace/${tenancy.workspaceId}/spark/job/conf`, { ...base, ...fields });
    const wrong: object[] = [
      {},
      { platform_functions_script_path: 'project/serve.py' },
      { ...described, command: 'job.py' },
      { ...described, platform_functions_script_path: 'serve.py' },
      { ...described, platform_functions_script_path: '../serve.py' },
      { ...described, platform_functions_function_name: 'serve()' },
      { ...described, platform_functions_max_request_concurrency: 65 },
      { ...described, platform_functions_example_request_body: '{' },
    ];
    for (const fields of wrong) expect([fields, (await describe(fields)).status]).toEqual([fields, 400]);
    const { status: code, body } = await describe(described);
    expect([code, body.spark_job_type]).toEqual([200, { job_type: 'PLATFORM_FUNCTIONS', language: 'Python3' }]);
    await api.database.query('UPDATE clusters SET max_parallel_jobs = 5 WHERE cluster_id = $1', [tenancy.clusterId]);
    const { body: job } = await admin.call('POST', `/workspace/${tenancy.workspaceId}/spark/job`, {
      job_conf_name: 'areas',
    });
    const { runs } = await agent.poll();
    expect(runs.find(({ run_id }) => run_id === job.job_id)?.spec).toMatchObject({
      kind: 'function',
      function: { project: { kind: 'fetched', name: 'project.zip' }, script: 'serve.py', name: 'serve' },
    });
  });
});
