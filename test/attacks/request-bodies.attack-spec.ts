import { gzipSync } from 'node:zlib';
import { makeTenancy, type Tenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';
import { head, RawConnection } from './harness/raw-connection';

const MIB = 2 ** 20;
/** Longer than a slow machine needs to send the largest body at full speed. */
const BODY_TIMEOUT_MS = 8_000;
const STALL_MS = 1_500;
/** Timeout of a response that the server sends after one of these times. */
const RESPONSE_TIMEOUT_MS = 60_000;
/** Room for four of the largest bodies. */
const ROOM = 16 * MIB;

// Real: the whole API and PostgreSQL. Left out: the agent, whose token an attacker has stolen.
describe('an excessive request body', () => {
  const api = wholeApi({
    HTTP_BODY_TIMEOUT_MS: String(BODY_TIMEOUT_MS),
    HTTP_STALL_TIMEOUT_MS: String(STALL_MS),
    HTTP_BODY_MEMORY_BYTES: String(ROOM),
  });
  let token: string;
  let tenancy: Tenancy;
  let agent: TestAgent;

  beforeAll(async () => {
    token = await api.login();
    tenancy = await makeTenancy(api.database.manager, 'mine');
    agent = await TestAgent.ofNewNode(api, tenancy);
  });

  const origin = () => new URL(api.urlOf('/')).origin;
  const bearer = () => ({ authorization: `Bearer ${token}` });
  const json = { 'content-type': 'application/json' };
  const workspace = '/api/v1/workspace';

  /** Sends the text as the body of a request; `headers` may sign in a user. */
  async function send(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
    const answer = await fetch(`${origin()}${path}`, { method: 'POST', headers: { ...json, ...headers }, body });
    const text = await answer.text();
    return { status: answer.status, text, body: JSON.parse(text) };
  }

  async function expectServed() {
    const answer = await fetch(api.urlOf('/version'), { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    expect(answer.status).toBe(200);
    await answer.text();
  }

  const manyKeys = (bytes: number) => {
    const keys = Array.from({ length: Math.floor(bytes / 14) }, (_, index) => `"k${index}":1`);
    return `{${keys.join(',').slice(0, bytes)}}`;
  };

  describe('of many unknown keys', () => {
    it('is not even read before the caller is authenticated', async () => {
      const answer = await send('/api/v1/login', `{${manyKeys(3.8 * MIB).slice(1, -1)}}`);
      expect(answer).toMatchObject({ status: 413, body: { error_code: 'REQUEST.TOO_LARGE' } });
      expect(answer.text.length).toBeLessThan(1_000);
    });

    it('is refused because of its first few keys, however large the limit is', async () => {
      const unknown = `{${Array.from({ length: 900 }, (_, index) => `"k${index}":1`).join(',')}}`;
      const known = `{${Array.from({ length: 9_000 }, (_, index) => `"${index}${'k'.repeat(400)}":1`).join(',')}}`;
      for (const [path, body, headers] of [
        ['/api/v1/login', unknown, {}],
        [workspace, known, bearer()],
      ] as const) {
        const answer = await send(path, body, headers);
        expect(answer).toMatchObject({ status: 400, body: { error_code: 'REQUEST.INVALID' } });
        expect(answer.body.error).toContain('is not a known field');
        expect(Object.keys(answer.body.details.fields)).toHaveLength(20);
        expect(answer.text.length).toBeLessThan(10_000);
      }
    });

    it('is refused for its number of values before it is parsed', async () => {
      const answer = await send(workspace, manyKeys(3.8 * MIB).replace(/,[^,]*$/, '}'), bearer());
      expect(answer).toMatchObject({ status: 400, body: { error: 'The body has more than 10000 values.' } });
    });
  });

  it('of lists in lists is refused, however deep they are', async () => {
    const answer = await send(workspace, `{"name":${'['.repeat(MIB)}${']'.repeat(MIB)}}`, bearer());
    expect(answer).toMatchObject({ status: 400, body: { error: 'The request is nested deeper than 100 levels.' } });
  });

  it('with the maximum number of records does not block other requests, valid or not', async () => {
    const { body } = await send(workspace, JSON.stringify({ name: 'of-documents' }), bearer());
    const wrong = { name: 'a', job_type: 'SQL', conf: ['a'], files: Array.from({ length: 20 }, () => '..') };
    const document = JSON.stringify({ workspace: {}, spark_job_confs: Array.from({ length: 10_000 }, () => wrong) });
    const path = `${workspace}/import?workspace_id=${body.workspace_id}&permissive=true`;
    let isOver = false;
    const sent = Promise.all([send(path, document, bearer()), send(path, document, bearer())]).finally(() => {
      isOver = true;
    });
    let served = 0;
    for (; !isOver; served += 1) await expectServed();
    // A document that is processed in one piece leaves time for only one or two requests.
    expect(served).toBeGreaterThan(20);
    for (const answer of await sent) {
      expect(answer).toMatchObject({ status: 200, body: { imported: { spark_job_confs: 0 } } });
      expect(answer.body.failed).toHaveLength(10_000);
    }
  });

  it('with thousands of keys in the place of a name or of ids is refused like a single wrong value', async () => {
    const keys = Array.from({ length: 9_000 }, (_, index) => `"${index}key":1`).join(',');
    for (const body of [`{"name":{${keys}}}`, `{"name":[{${keys}}]}`, `{"name":"a","description":{${keys}}}`]) {
      const answer = await send(workspace, body, bearer());
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('must be a string') } });
    }
    const ids = Array.from({ length: 9_000 }, (_, index) => index).join(',');
    const answer = await send('/api/v1/cluster', `{"name":"a","mount_ids":[${ids}]}`, bearer());
    expect(answer.body.error).toContain('mount_ids must contain no more than 1000 elements');
  });

  it('cannot exceed the limit by gzip compression', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB, '['));
    expect(bomb.length).toBeLessThan(MIB);
    const before = process.memoryUsage().rss;
    const answer = await send(workspace, bomb, { ...bearer(), 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 413, body: { error_code: 'REQUEST.TOO_LARGE' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
    const honest = gzipSync(JSON.stringify({ name: 'of-a-gzip' }));
    expect(await send(workspace, honest, { ...bearer(), 'content-encoding': 'gzip' })).toMatchObject({ status: 200 });
    const broken = await send(workspace, honest.subarray(4), { ...bearer(), 'content-encoding': 'gzip' });
    expect(broken).toMatchObject({ status: 400, body: { error_code: 'REQUEST.INVALID' } });
  });

  it('without a Content-Length is stopped while it arrives', async () => {
    const connection = await RawConnection.open(origin());
    await connection.write(head(workspace, { ...bearer(), ...json, 'transfer-encoding': 'chunked' }));
    const chunk = `${MIB.toString(16)}\r\n${'a'.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 6 && connection.answer === ''; sent += 1) await connection.write(chunk);
    expect(await connection.status()).toBe(413);
    connection.close();
  });

  it('in chunks of single bytes does not use a thousand times as much memory', async () => {
    const connection = await RawConnection.open(origin());
    await connection.write(head(workspace, { ...bearer(), ...json, 'transfer-encoding': 'chunked' }));
    await connection.write('1\r\n{\r\n'.repeat(2_000));
    expect(await connection.status()).toBe(400);
    expect(connection.answer).toContain('too many small pieces');
    connection.close();
  });

  describe('without an end', () => {
    const unfinished = (headers: Record<string, string>) =>
      head(workspace, { ...headers, ...json, 'content-length': MIB });

    it('gets a response at the timeout, and the connection is closed', async () => {
      const connections = await Promise.all(Array.from({ length: 20 }, () => RawConnection.open(origin())));
      await Promise.all(connections.map((one) => one.write(`${unfinished(bearer())}{"name":`)));
      for (const one of connections) {
        expect(await one.status(RESPONSE_TIMEOUT_MS)).toBe(408);
        await one.closed();
      }
      await expectServed();
    });

    it('is not read if a required token is missing', async () => {
      const connection = await RawConnection.open(origin());
      await connection.write(unfinished({}));
      expect(await connection.status(RESPONSE_TIMEOUT_MS)).toBe(401);
      connection.close();
    });

    it('has a timeout before authentication, too', async () => {
      const connection = await RawConnection.open(origin());
      await connection.write(head('/api/v1/login', { ...json, 'content-length': 10_000 }) + '{"username":');
      expect(await connection.status(RESPONSE_TIMEOUT_MS)).toBe(408);
      await connection.closed();
    });

    it('uses only one user’s share of the memory for bodies', async () => {
      const each = 3.9 * MIB;
      const connections = await Promise.all(Array.from({ length: 5 }, () => RawConnection.open(origin())));
      const begun = connections.map(async (one) => {
        await one.write(head(workspace, { ...bearer(), ...json, 'content-length': 4 * MIB }));
        await one.write(Buffer.alloc(each, ' '));
        return one.status(RESPONSE_TIMEOUT_MS);
      });
      const statuses = await Promise.all(begun);
      const kept = statuses.filter((status) => status === 408).length;
      expect(kept * each).toBeLessThanOrEqual(ROOM / 2);
      expect(statuses.filter((status) => status === 503)).toHaveLength(5 - kept);
      for (const one of connections) one.close();
      await expectServed();
    });

    it('ends an upload when no more bytes arrive', async () => {
      const { body } = await api.call('POST', '/workspace', { token, body: { name: 'uploads' } });
      const path = `/api/v1/workspace/files?workspace_id=${body.workspace_id}&path=stalled.txt`;
      const stalled = await RawConnection.open(origin());
      await stalled.write(head(path, { ...bearer(), 'content-length': 8 }));
      await stalled.write('half');
      expect(await stalled.status(RESPONSE_TIMEOUT_MS)).toBe(408);
      await stalled.closed();
    });
  });

  describe('from a node', () => {
    it('is stopped while it arrives if it is a log without a length', async () => {
      const connection = await RawConnection.open(origin());
      const path = '/agent/v1/node/logs/stdout?offset=0';
      await connection.write(head(path, { ...agent.bearer, 'transfer-encoding': 'chunked' }, 'PUT'));
      const chunk = `${MIB.toString(16)}\r\n${'a'.repeat(MIB)}\r\n`;
      const before = process.memoryUsage().rss;
      for (let sent = 0; sent < 200 && connection.answer === ''; sent += 1) await connection.write(chunk);
      expect(await connection.status()).toBe(413);
      expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
      connection.close();
      await agent.poll();
    });

    it('must be small for registrations and polls', async () => {
      const joining = await TestAgent.unregistered(api, tenancy, 1);
      const body = { version: 0, wait_ms: 0, more: 'a'.repeat(20_000) };
      const register = await joining.send('POST', '/register', { token: joining.bootstrapToken, body });
      const poll = await agent.send('POST', '/poll', { body });
      expect([register.status, poll.status]).toEqual([413, 413]);
      // The guard runs first: without a valid bootstrap token no body is read.
      expect((await agent.send('POST', '/register', { body })).status).toBe(401);
    });

    it('has a timeout', async () => {
      const connection = await RawConnection.open(origin());
      await connection.write(
        head('/agent/v1/report', { ...agent.bearer, ...json, 'content-length': MIB }) + '{"daemons":',
      );
      expect(await connection.status(RESPONSE_TIMEOUT_MS)).toBe(408);
      await connection.closed();
    });
  });
});
