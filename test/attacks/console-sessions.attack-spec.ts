import { hash } from '@node-rs/argon2';
import { insertPlain } from '../medium/harness/records';
import { ADMIN_PASSWORD, soon, type TestAnswer, wholeApi } from '../medium/harness/test-api';

const OWN = { 'sec-fetch-site': 'same-origin' };
const CONSOLE = { ...OWN, 'x-console': '1' };
const CREDENTIALS = { username: 'admin', password: ADMIN_PASSWORD };

// Real: the whole API and PostgreSQL. Left out: the browser, whose headers are sent as it would send them.
describe('a page that uses the session of the console', () => {
  const api = wholeApi();

  const open = (headers: Record<string, string> = CONSOLE, body: object = CREDENTIALS): Promise<TestAnswer> =>
    api.call('POST', '/browser/session', { headers, body });

  /** Logs in as the console does; returns the cookie. */
  async function cookieOf(body?: object): Promise<string> {
    const answer = await open(CONSOLE, body);
    expect(answer.status).toBe(200);
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  }

  const info = (cookie: string, headers: Record<string, string> = OWN) =>
    api.call('GET', '/user/info', { headers: { ...headers, cookie } });

  it('finds its token neither in the answer nor where scripts can read it', async () => {
    const answer = await open();
    expect(Object.keys(answer.body as object)).toEqual(['expires_at']);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^session=[\w.-]+; Max-Age=43(199|200); Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const secure = await open({ ...CONSOLE, origin: `https://${new URL(api.urlOf('/')).host}` });
    expect(secure.headers.getSetCookie()[0]).toMatch(
      /^__Host-session=[\w.-]+; .*; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  it('cannot read with it unless it is a page of the console', async () => {
    const cookie = await cookieOf();
    expect((await info(cookie)).status).toBe(200);
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await info(cookie, { 'sec-fetch-site': site, 'x-console': '1' })).status).toBe(401);
    expect((await info(cookie, { origin: 'https://evil.test' })).status).toBe(401);
    expect((await info(cookie, {})).status).toBe(401);
  });

  it('cannot change anything by a form or a link', async () => {
    const cookie = await cookieOf();
    const forms: Record<string, string>[] = [
      OWN,
      { origin: 'https://evil.test' },
      { 'sec-fetch-site': 'cross-site', 'x-console': '1' },
      {},
    ];
    for (const headers of forms) {
      const made = await api.call('POST', '/user/token', { headers: { ...headers, cookie }, body: {} });
      expect(made.status).toBe(401);
      const left = await api.call('DELETE', '/browser/session', { headers: { ...headers, cookie } });
      expect(left.status).toBe(401);
    }
    expect((await info(cookie)).status).toBe(200);
  });

  it('cannot log its visitor in to an account of its own', async () => {
    const foreign: Record<string, string>[] = [
      {},
      OWN,
      { 'sec-fetch-site': 'cross-site', 'x-console': '1' },
      { origin: 'https://evil.test', 'x-console': '1' },
    ];
    for (const headers of foreign) {
      const answer = await open(headers);
      expect([answer.status, answer.body.error_code, answer.headers.getSetCookie()]).toEqual([
        403,
        'REQUEST.FOREIGN_ORIGIN',
        [],
      ]);
    }
    const token = await api.login();
    const basic = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`;
    expect((await open({ ...CONSOLE, authorization: basic }, {})).status).toBe(400);
    for (const place of [`/user/info?token=${token}`, `/user/info?session=${token}`])
      expect((await api.call('GET', place, { headers: CONSOLE })).status).toBe(401);
  });

  it('finds the session ended for every request after a logout', async () => {
    const [cookie, other] = [await cookieOf(), await cookieOf()];
    const left = await api.call('DELETE', '/browser/session', { headers: { ...CONSOLE, cookie } });
    expect(left.status).toBe(200);
    expect(left.headers.getSetCookie()[0]).toMatch(/^session=; .*Expires=Thu, 01 Jan 1970/);
    expect((await info(cookie)).status).toBe(401);
    const [, token = ''] = cookie.split('=');
    expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
    expect((await info(other)).status).toBe(200);
  });

  it('finds all sessions of the user ended after a logout everywhere, but no token of a program and nobody else', async () => {
    await insertPlain(api.database.manager, 'users', {
      username: 'ben',
      email: 'ben@example.com',
      password_hash: await hash('the password of ben'),
    });
    const ben = await cookieOf({ username: 'ben', password: 'the password of ben' });
    const [cookie, other, login] = [await cookieOf(), await cookieOf(), await api.login()];
    const { body: program } = await api.call('POST', '/user/token', { token: login, body: {} });
    expect((await api.call('DELETE', '/browser/sessions', { headers: { ...CONSOLE, cookie } })).status).toBe(200);
    expect([(await info(cookie)).status, (await info(other)).status]).toEqual([401, 401]);
    expect((await api.call('GET', '/user/info', { token: login })).status).toBe(401);
    expect((await api.call('GET', '/user/info', { token: program.token as string })).status).toBe(200);
    expect((await info(ben)).status).toBe(200);
  });

  it('finds the session ended when its user is disabled', async () => {
    const cookie = await cookieOf();
    await api.database.query(`UPDATE users SET to_date = platform_now() WHERE username = 'admin'`);
    await soon(async () => expect((await info(cookie)).status).toBe(401), 2_000);
  });
});
