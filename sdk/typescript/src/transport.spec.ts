import * as operations from './generated/operations.ts';
import {
  ApiError,
  ConfigurationError,
  Conflict,
  FunctionFailed,
  NotFound,
  Overloaded,
  Unauthenticated,
  Unreachable,
} from './errors.ts';
import { CookieSession, PasswordSession } from './sessions.ts';
import { broken, caught, ok, page, refused, TestPlatform, withoutPauses } from './testing/platform.ts';
import { Transport } from './transport.ts';

describe('Transport', () => {
  let platform: TestPlatform;
  let transport: Transport;
  let pauses: number[];

  beforeEach(() => {
    platform = new TestPlatform();
    transport = platform.transport();
    pauses = withoutPauses();
  });

  const keys = () => platform.requests.map(({ headers }) => headers.get('Idempotency-Key'));

  it('sends a POST whose answer was lost again with the same key', async () => {
    platform.answers = [broken(), refused(503, 'DATABASE.BUSY'), ok({ job_id: '17' })];
    const path = { workspace_id: 3 };
    const answer = await transport.call(operations.createJob, { path, body: { job_conf_name: 'sum' } });
    expect(answer.job_id).toBe(17);
    expect(new Set(keys()).size).toBe(1);
    expect(platform.paths).toEqual(Array(3).fill('/workspace/3/spark/job'));
    expect(platform.bodies[2]).toBe('{"job_conf_name":"sum"}');
  });

  it('gives every POST its own key, and a GET none', async () => {
    platform.answers = [ok(), ok(), ok()];
    for (let i = 0; i < 2; i += 1) await transport.call(operations.startCluster, { body: { cluster_id: 1 } });
    await transport.call(operations.getCluster, { query: { cluster_id: 1 } });
    const [first, second, read] = keys();
    expect(first).toMatch(/^[\da-f]{32}$/);
    expect(second).not.toBe(first);
    expect(read).toBeNull();
  });

  it('waits as long as Retry-After says', async () => {
    platform.answers = [refused(429, 'LOGIN.LIMITED', { headers: { 'Retry-After': '7' } }), ok()];
    await transport.call(operations.getUserInfo);
    const [pause = 0, ...others] = pauses.filter((milliseconds) => milliseconds > 1000);
    expect(others).toEqual([]);
    expect(pause).toBeGreaterThanOrEqual(7000);
    expect(pause).toBeLessThan(8000);
  });

  it('gives up when waiting would take too long', async () => {
    platform.handler = () => refused(503, 'X.Y', { headers: { 'Retry-After': '3600' } });
    const failure = await caught(transport.call(operations.getUserInfo));
    expect(failure).toBeInstanceOf(Overloaded);
    expect(failure).toMatchObject({ code: 'X.Y', correlationId: 'c-1', status: 503, message: 'X.Y: No.' });
    expect(platform.requests).toHaveLength(1);
  });

  it('says that a platform which never answers is unreachable', async () => {
    transport = new Transport({ url: 'https://spark.test', session: {}, fetch: platform.fetch, retryMs: 0 });
    platform.handler = () => broken('ECONNREFUSED');
    const failure = await caught(transport.call(operations.getUserInfo));
    expect(failure).toBeInstanceOf(Unreachable);
    expect(failure.message).toBe(
      'No answer from https://spark.test to getUserInfo: ECONNREFUSED: socket. Check that the platform is running and that the URL is right.',
    );
  });

  it('repeats what must act once only if it was not carried out', async () => {
    const path = { workspace_id: 1, job_id: 2 };
    const call = () => transport.call(operations.invokeFunction, { path, body: {}, repeatable: false });
    platform.answers = [refused(429, 'FUNCTION.FULL'), broken('ECONNREFUSED'), ok({ sum: 1 })];
    expect(await call()).toEqual({ sum: 1 });
    for (const lost of [broken(), refused(503, 'X.Y')]) {
      platform.requests.length = 0;
      platform.answers = [lost];
      expect(await caught(call())).toBeInstanceOf(Error);
      expect(platform.requests).toHaveLength(1);
    }
  });

  it('takes a DELETE whose answer was lost as done if the record is gone', async () => {
    const query = { workspace_id: 1, file_path: 'a' };
    platform.answers = [broken(), refused(404, 'FILE.NOT_FOUND')];
    await transport.call(operations.deleteWorkspaceFile, { query });
    platform.answers = [refused(404, 'FILE.NOT_FOUND')];
    expect(await caught(transport.call(operations.deleteWorkspaceFile, { query }))).toBeInstanceOf(NotFound);
  });

  it('throws errors with a class and a code', async () => {
    const details = { type: 'KeyError', lines: ['a:1'] };
    platform.answers = [refused(409, 'JOB.INVALID_STATE'), refused(422, 'FUNCTION.FAILED', { details })];
    const conflict = await caught(transport.call(operations.getUserInfo));
    expect(conflict).toBeInstanceOf(Conflict);
    expect(conflict.name).toBe('Conflict');
    const failed = await caught(transport.call(operations.getUserInfo));
    expect(failed).toBeInstanceOf(FunctionFailed);
    expect(failed).toMatchObject({ type: 'KeyError', lines: ['a:1'] });
  });

  it('takes the page of a proxy for an error, also if it is a success', async () => {
    const headers = { 'Content-Type': 'text/html' };
    platform.answers = [new Response('<html>', { status: 403, headers }), new Response('<html>', { headers })];
    const refusal = await caught(transport.call(operations.getUserInfo));
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal.message).toBe('The platform answered 403.');
    const other = await caught(transport.call(operations.getUserInfo));
    expect(other.message).toMatch(/^The answer to getUserInfo is not from the platform \(text\/html\)/);
  });

  it('reads pages as they are needed', async () => {
    platform.answers = [page([{ cluster_id: 1, name: 'a' }], 2), page([{ cluster_id: 2, name: 'b' }])];
    const found = transport.pages(operations.listClusters);
    expect((await found.next()).value).toMatchObject({ cluster_id: 1 });
    expect(platform.requests).toHaveLength(1);
    const names: string[] = [];
    for await (const { name } of found) names.push(name);
    expect(names).toEqual(['b']);
    expect(platform.requests.map(({ url }) => new URL(url).searchParams.get('pageNumber'))).toEqual(['1', '2']);
  });

  it('makes ids numbers and `infinity` null, but not in what users named', async () => {
    const cluster = {
      cluster_id: 1,
      name: 'infinity',
      nodes: [{ to_date: 'infinity' }],
      labels: { to_date: 'infinity' },
    };
    platform.answers = [ok({ workspace_id: '5', name: '5', to_date: 'infinity' }), page([cluster])];
    const workspace = await transport.call(operations.createWorkspace, { body: { name: '5' } });
    expect(workspace).toMatchObject({ workspace_id: 5, name: '5', to_date: null });
    const { data } = await transport.call(operations.listClusters);
    expect(data[0]).toMatchObject({ name: 'infinity', nodes: [{ to_date: null }], labels: { to_date: 'infinity' } });
  });

  it('logs in, selects the tenant, and does so again when the session has ended early', async () => {
    const session = new PasswordSession({ username: 'ada', password: 'secret', tenant: 'acme' });
    transport = platform.transport(session);
    const tenants = () =>
      page([
        { tenant_id: 'other', name: 'x' },
        { tenant_id: '0-1', name: 'acme' },
      ]);
    platform.answers = [ok({ token: 't-9' }), tenants(), ok(), ok(), ok(), refused(401, 'AUTH.ENDED')];
    platform.answers.push(ok({ token: 't-10' }), tenants(), ok(), ok());
    await Promise.all([transport.call(operations.getUserInfo), transport.call(operations.getUserInfo)]);
    await transport.call(operations.getUserInfo);
    const login = ['/login', '/user/tenants', '/user/select/0-1'];
    expect(platform.paths).toEqual([...login, ...Array<string>(3).fill('/user/info'), ...login, '/user/info']);
    expect(platform.bodies[0]).toBe('{"username":"ada","password":"secret"}');
    expect(platform.requests[0]?.headers.get('Authorization')).toBeNull();
    expect(platform.requests.at(-1)?.headers.get('Authorization')).toBe('Bearer t-10');
  });

  it('does not repeat a refused login', async () => {
    transport = platform.transport(new PasswordSession({ username: 'ada', password: 'wrong' }));
    platform.answers = [refused(401, 'AUTH.INVALID')];
    expect(await caught(transport.call(operations.getUserInfo))).toBeInstanceOf(Unauthenticated);
    expect(platform.requests).toHaveLength(1);
  });

  it('sends cookies and no token in a browser', async () => {
    transport = platform.transport(new CookieSession());
    platform.answers = [ok()];
    await transport.call(operations.getUserInfo);
    expect(platform.requests[0]?.credentials).toBe('same-origin');
    expect(platform.requests[0]?.headers.get('Authorization')).toBeNull();
  });

  it('keeps what is in a path in its place', async () => {
    platform.answers = [ok()];
    const path = { workspace_id: 1, job_id: 2, log_type: '../../x?y' as 'stdout' };
    await transport.send(operations.getJobLog, { path });
    expect(platform.requests[0]?.url).toMatch(/\/log\/\.\.%2F\.\.%2Fx%3Fy$/);
    const outside = transport.send(operations.getJobLog, { path: { ...path, log_type: '..' as 'stdout' } });
    expect(await caught(outside)).toBeInstanceOf(ConfigurationError);
  });

  it('ends with the reason of the caller when the caller aborts', async () => {
    const reason = new Error('closed');
    const controller = new AbortController();
    platform.handler = () => {
      controller.abort(reason);
      return broken();
    };
    expect(await caught(transport.call(operations.getUserInfo, { signal: controller.signal }))).toBe(reason);
    expect(platform.requests).toHaveLength(1);
  });
});
