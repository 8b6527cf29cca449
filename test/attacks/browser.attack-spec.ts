import { makeTenancy } from '../medium/harness/records';
import { TestAgent } from '../medium/harness/test-agent';
import { wholeApi } from '../medium/harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the browser, which swagger.e2e-spec.ts has, and the pages of attackers.
describe('a page that misuses the browser of a user', () => {
  const api = wholeApi();
  let token: string;

  beforeAll(async () => {
    token = await api.login();
  });

  it.each([
    ['an answer', '/version', 200],
    ['a refusal', '/user/info', 401],
    ['what is not there', '/nothing', 404],
  ])('can neither frame, run, sniff nor refer to %s', async (_what, path, status) => {
    const answer = await api.call('GET', path);
    expect(answer.status).toBe(status);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(answer.headers.get('strict-transport-security')).toBeNull();
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('finds no token in a cache', async () => {
    const login = await api.call('POST', '/login', { body: { username: 'admin', password: 'wrong' } });
    const made = await api.call('POST', '/user/token', { token, body: {} });
    const sso = await api.call('GET', '/login/sso/callback?code=a&state=b');
    for (const answer of [login, made, sso]) expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(made.body.token).toBeDefined();
    const agent = await TestAgent.ofNewNode(api, await makeTenancy(api.database.manager, 'mine'));
    const poll = await agent.send('POST', '/poll', { body: { version: 0, wait_ms: 0 } });
    const joining = await TestAgent.unregistered(api, await makeTenancy(api.database.manager, 'other'));
    const again = await joining.send('POST', '/register', { token: joining.bootstrapToken, body: {} });
    for (const answer of [poll, again]) expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('finds lookups cacheable only with a check of their ETag', async () => {
    const first = await api.call('GET', '/lookup_disk_machine_type', { token });
    const tag = first.headers.get('etag') ?? '';
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/\S/)]);
    // Without the second header the client requests a fresh response.
    const headers = { 'if-none-match': tag, 'cache-control': 'max-age=0' };
    const second = await api.call('GET', '/lookup_disk_machine_type', { token, headers });
    expect(second.status).toBe(304);
  });
});
