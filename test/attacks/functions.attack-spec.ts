import { deflateSync } from 'node:zlib';
import { decodeRecords, encodeRecords } from '../../libs/contracts/channel-records';
import { eventually } from '../harness/eventually';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import { type Caller, People } from '../medium/harness/people';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';

const SETTINGS = settingsOf({
  platform_functions_script_path: 'project/serve.py',
  platform_functions_function_name: 'serve',
  platform_functions_request_timeout_sec: 300,
});

// Real: the whole API and PostgreSQL. Left out: the agents and their functions, in whose place the test speaks.
describe('a hostile function', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let admin: Caller;
  let frameCounts: Map<number, number>;

  beforeEach(async () => {
    frameCounts = new Map();
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    admin = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
  });

  async function served(): Promise<number> {
    const id = await agent.assignRun(tenancy, SETTINGS, 'PLATFORM_FUNCTIONS');
    await say(id, '{"op":"ready"}\n');
    return id;
  }

  async function say(id: number, ...payloads: (string | Buffer)[]): Promise<void> {
    const first = (frameCounts.get(id) ?? 0) + 1;
    const records = payloads.map((payload, at) => ({ number: first + at, payload: Buffer.from(payload) }));
    const sent = await agent.send('PUT', `/runs/${id}/frames`, { body: encodeRecords(records) });
    expect(sent.status).toBe(200);
    frameCounts.set(id, first + payloads.length - 1);
  }

  async function invoke(id: number, body = '1', by = admin, workspace = tenancy.workspaceId) {
    const answer = await fetch(api.urlOf(`/workspace/${workspace}/spark/job/${id}/invoke`), {
      method: 'POST',
      headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' },
      body,
    });
    return { status: answer.status, body: (await answer.json()) as { error_code?: string; details?: object } };
  }

  const callOf = (id: number, after = 0) =>
    eventually(async () => {
      const answer = await agent.send('GET', `/runs/${id}/requests?after=${after}&wait_ms=500`);
      const last = decodeRecords(Buffer.from(await answer.arrayBuffer())).at(-1);
      return last && (JSON.parse(last.payload.toString().split('\n', 1)[0] ?? '') as { id: string }).id;
    });

  it('can answer only its own calls, whatever it sends', async () => {
    const [one, other] = [await served(), await served()];
    const called = invoke(one);
    const call = await callOf(one);
    const answer = (more: object) => JSON.stringify({ op: 'answer', id: call, outcome: 'ok', ...more });
    await say(other, `${answer({})}\n"of another job"`);
    await say(
      one,
      '',
      '\n',
      'null\n',
      `${answer({ id: '../../etc' })}\n1`,
      `${answer({ outcome: 'constructor' })}\n1`,
      `${answer({ more: 'x'.repeat(100_000) })}\n1`,
      answer({}),
      `${answer({})}\n"mine"`,
      `${answer({})}\n"again"`,
    );
    expect(await called).toEqual({ status: 200, body: 'mine' });
  });

  it('cannot pass its error off as a response of the platform', async () => {
    const id = await served();
    const called = invoke(id);
    const call = await callOf(id);
    const error = {
      type: { a: 1 },
      message: '\ud800'.repeat(9_000),
      lines: Array.from({ length: 1_000 }, () => 'x'.repeat(9_000)),
    };
    await say(id, `${JSON.stringify({ op: 'answer', id: call, outcome: 'error' })}\n${JSON.stringify(error)}`);
    const { status, body } = await called;
    expect([status, body.error_code]).toEqual([422, 'FUNCTION.FAILED']);
    expect(JSON.stringify(body).length).toBeLessThan(200_000);
  });

  it('cannot block others for seconds with millions of values in a response, which is never parsed into objects', async () => {
    const id = await served();
    const answers: [string, string | null][] = [
      [`[${'[],'.repeat(8_000_000)}[]]`, null],
      ['['.repeat(16_000_000), 'FUNCTION.UNANSWERABLE'],
      [`${'['.repeat(2_000)}${']'.repeat(2_000)}`, 'FUNCTION.UNANSWERABLE'],
    ];
    for (const [index, [text, expected]] of answers.entries()) {
      const called = fetch(api.urlOf(`/workspace/${tenancy.workspaceId}/spark/job/${id}/invoke`), {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
        body: '1',
      });
      const header = { op: 'answer', id: await callOf(id, index), outcome: 'ok', deflated: true };
      const payload = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), deflateSync(text)]);
      const heapBefore = process.memoryUsage().heapUsed;
      await say(id, payload);
      const answer = await called;
      const body = Buffer.from(await answer.arrayBuffer());
      if (expected === null) expect(body.length).toBe(text.length);
      else expect(body.toString()).toContain(expected);
      // The text itself is outside the heap; its values would take 300 MB there.
      expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(100 * 1024 * 1024);
    }
  });

  it('cannot be called by strangers, nor with a body above the limit', async () => {
    const id = await served();
    const strange = await makeTenancy(api.database.manager, people.unique('strange'));
    const stranger = await people.admin(strange.tenantId);
    expect((await invoke(id, '1', stranger)).status).toBe(404);
    expect((await invoke(id, '1', stranger, strange.workspaceId)).status).toBe(404);
    expect((await invoke(id, '[')).status).toBe(400);
    const huge = await invoke(id, `"${'x'.repeat(100 * 1024 * 1024)}"`).catch(() => ({ status: 413 }));
    expect(huge.status).toBe(413);
    expect(await api.database.query('SELECT 1 FROM run_requests WHERE run_id = $1', [id])).toEqual([]);
  });
});
