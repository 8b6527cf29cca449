import { randomBytes } from 'node:crypto';
import { Config } from '../../src/config/config';
import { EXPIRED_SSO_LOGINS } from '../../src/modules/foundation/iam/login/sso-logins.repository';
import { LOGGER, type Logger } from '../../src/platform/kernel/logging/logger';
import { RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { giveGroupRole, startIamApi } from './harness/directory-api';
import { type Fault, type OidcPerson, OidcServer } from './harness/oidc-server';
import { People } from './harness/people';
import {
  type TestApi,
  ADMIN_PASSWORD,
  createTestDatabase,
  type TestAnswer,
  type TestDatabase,
} from './harness/test-api';

function person(name: string, claims: Record<string, unknown> = {}): OidcPerson {
  return {
    password: `${name}'s password`,
    claims: {
      sub: `sub-of-${name}`,
      preferred_username: `${name}@example.org`,
      name: `${name} of the provider`,
      email: `${name}@example.org`,
      groups: ['engineers'],
      ...claims,
    },
  };
}

const PEOPLE = {
  jane: person('jane', { groups: ['engineers', 'analysts'] }),
  john: person('john'),
  leaver: person('leaver'),
  taker: person('taker', { preferred_username: 'Admin' }),
  many: person('many', { groups: undefined, _claim_names: { groups: 'src1' } }),
  nameless: person('nameless', { preferred_username: undefined }),
};
const JANE = 'jane@example.org';

/** Real: OpenID Connect provider, PostgreSQL, Redis, guards, pipes and filters. */
class OidcFixture {
  api: TestApi;
  oidc: OidcServer;
  private database: TestDatabase;

  constructor(authType: 'AAD' | 'AZURE_SSO', claimsInIdToken: boolean) {
    beforeAll(async () => {
      this.database = await createTestDatabase();
      this.oidc = await OidcServer.start(PEOPLE, claimsInIdToken);
      this.api = await startIamApi(this.database, this.oidc.environment(authType));
    });
    afterEach(async () => {
      await this.oidc.setFault({});
      await this.oidc.setPeople(PEOPLE);
    });
    afterAll(async () => {
      await this.api?.stop();
      await this.oidc?.stop();
      await this.database?.drop();
    });
  }

  /** Another API over the same database. */
  async withApi(environment: Record<string, string>, work: (at: TestApi) => Promise<void>): Promise<void> {
    const at = await startIamApi(this.database, environment);
    try {
      await work(at);
    } finally {
      await at.stop();
    }
  }

  /** Settings of an API with a short timeout for the provider. */
  hurried(authType: 'AAD' | 'AZURE_SSO'): Record<string, string> {
    return { ...this.oidc.environment(authType), OIDC_TIMEOUT_MS: '500' };
  }

  async infoOf(token: string): Promise<Record<string, unknown>> {
    const { body } = await this.api.call('GET', '/user/info', { token });
    return { ...body, groups: body.group_info.map(({ groupname }: { groupname: string }) => groupname).sort() };
  }

  storedAs(username: string): Promise<Record<string, unknown>[]> {
    return this.api.database.query('SELECT * FROM users WHERE username = $1', [username]);
  }
}

const FAULTS: [string, Fault][] = [
  ['of another issuer', { claims: { iss: 'https://elsewhere.example.org' } }],
  ['for another client', { claims: { aud: 'another client' } }],
  ['that has expired', { claims: { exp: Math.floor(Date.now() / 1000) - 3600 } }],
  ['signed by a foreign key', { foreignKey: true }],
];

describe('logins by the password grant (AAD)', () => {
  const fixture = new OidcFixture('AAD', false);

  function login(name: string, password = `${name}'s password`, at = fixture.api): Promise<TestAnswer> {
    return at.call('POST', '/login', { body: { username: name, password } });
  }

  it('imports the account and its groups at the first login', async () => {
    expect((await fixture.api.call('GET', '/login/auth_type')).body).toEqual({ auth_type: 'AAD' });
    const { status, body } = await login('jane');
    expect(status).toBe(200);
    expect(await fixture.infoOf(body.token)).toMatchObject({
      username: JANE,
      display_name: 'jane of the provider',
      email: JANE,
      groups: ['analysts', 'engineers'],
    });
    expect(await fixture.storedAs(JANE)).toEqual([
      expect.objectContaining({ directory: 'oidc', external_id: 'sub-of-jane', password_hash: null }),
    ]);
  });

  it('updates groups, roles and names at each login', async () => {
    const { token } = (await login('john')).body;
    const tenantId = await giveGroupRole(fixture.api, 'engineers', 'USER');
    expect((await fixture.api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(201);
    const moved = {
      groups: ['writers'],
      preferred_username: 'johnny@example.org',
      email_verified: false,
      email: 'x@y.z',
    };
    await fixture.oidc.setPeople({ ...PEOPLE, john: person('john', moved) });
    const again = await login('john');
    expect(await fixture.infoOf(again.body.token)).toMatchObject({
      username: 'johnny@example.org',
      email: 'john@example.org',
      tenant_id: null,
      groups: ['writers'],
    });
    expect((await fixture.api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(403);
    expect(await fixture.storedAs('john@example.org')).toEqual([]);
  });

  it.each([
    ['a wrong password', 'jane', 'wrong'],
    ['an unknown user', 'nobody', 'wrong'],
  ])('refuses %s', async (_what, name, password) => {
    const { status, body } = await login(name, password);
    expect([status, body.error_code]).toEqual([401, 'AUTH.UNAUTHENTICATED']);
  });

  it.each(FAULTS)('refuses an ID token %s', async (_what, fault) => {
    await fixture.oidc.setFault(fault);
    const { status, body } = await login('jane');
    expect([status, body.error_code]).toEqual([401, 'AUTH.DIRECTORY_REFUSED']);
  });

  it('gives no user the account of another one', async () => {
    const local = await login('taker');
    expect([local.status, local.body.error_code]).toEqual([403, 'AUTH.NAME_TAKEN']);
    expect(await fixture.storedAs('admin')).toEqual([expect.objectContaining({ directory: 'local' })]);

    await login('jane');
    await fixture.oidc.setPeople({ thief: person('thief', { preferred_username: JANE }) });
    const thief = await login('thief');
    expect([thief.status, thief.body.error_code]).toEqual([403, 'AUTH.NAME_TAKEN']);
    expect(await fixture.storedAs(JANE)).toEqual([expect.objectContaining({ external_id: 'sub-of-jane' })]);
  });

  it('checks local accounts here', async () => {
    expect((await login('admin', ADMIN_PASSWORD)).status).toBe(200);
    expect((await login('admin', 'wrong')).status).toBe(401);
  });

  it('refuses a disabled account although the password is right', async () => {
    await login('leaver');
    await fixture.api.database.query(`UPDATE users SET to_date = now() WHERE username = 'leaver@example.org'`);
    expect((await login('leaver')).status).toBe(401);
  });

  it('refuses users whose groups the token leaves out, and users without a name', async () => {
    const many = await login('many');
    expect([many.status, many.body.error]).toEqual([401, expect.stringContaining('too many groups')]);
    const nameless = await login('nameless');
    expect([nameless.status, nameless.body.error]).toEqual([401, expect.stringContaining('preferred_username')]);
  });

  it('limits failed logins', async () => {
    const limits = { LOGIN_ATTEMPTS: '2', REDIS_PREFIX: `oidc-${randomBytes(4).toString('hex')}` };
    await fixture.withApi({ ...fixture.oidc.environment('AAD'), ...limits }, async (at) => {
      for (const _ of [1, 2]) expect((await login('jane', 'wrong', at)).status).toBe(401);
      expect((await login('jane', undefined, at)).status).toBe(429);
    });
  });

  it('returns stored accounts and groups from the synchronization', async () => {
    await login('jane');
    const token = await fixture.api.login();
    const path = '/platform/shared/admin/sync';
    expect((await fixture.api.call('GET', `${path}/user/${JANE}`, { token })).body.username).toBe(JANE);
    expect((await fixture.api.call('GET', `${path}/group/analysts`, { token })).body.group_object_id).toBe('analysts');
    expect((await fixture.api.call('GET', `${path}/user/nobody`, { token })).status).toBe(404);
    expect((await fixture.api.call('GET', `${path}/group/nobodies`, { token })).status).toBe(404);
  });

  it('has no provider page that redirects back', async () => {
    for (const query of ['', '?code=a&state=b']) {
      const { status, body } = await fixture.api.call('GET', `/login/sso/callback${query}`);
      expect([status, body.error_code]).toEqual([404, 'AUTH.NOT_SSO']);
    }
  });

  it('names a provider that is down or refuses the client, and lets local administrators in', async () => {
    const environment = fixture.oidc.environment('AAD');
    for (const [change, reason] of [
      [{ OIDC_ISSUER: 'http://127.0.0.1:1' }, /login provider 127\.0\.0\.1:1 cannot be reached/],
      [{ OIDC_CLIENT_SECRET: 'a wrong one' }, /refuses this platform as a client.*check OIDC_CLIENT_ID/],
      [{ OIDC_ISSUER: fixture.oidc.issuer.replace('127.0.0.1', 'localhost') }, /issuer/],
    ] as const) {
      await fixture.withApi({ ...environment, ...change, LOGIN_ATTEMPTS: '1' }, async (at) => {
        for (const _ of [1, 2]) {
          const { status, body, headers } = await login('jane', undefined, at);
          expect([status, body.error_code]).toEqual([503, 'AUTH.DIRECTORY_UNAVAILABLE']);
          expect(body.error).toMatch(reason);
          expect(JSON.stringify(body)).not.toContain('a wrong one');
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        }
        expect((await login('admin', ADMIN_PASSWORD, at)).status).toBe(200);
      });
    }
  });

  it('waits for the provider only until the timeout', async () => {
    await fixture.withApi(fixture.hurried('AAD'), async (at) => {
      await fixture.oidc.halt();
      try {
        const { status, body } = await login('jane', undefined, at);
        expect([status, body.error]).toEqual([503, expect.stringContaining('does not answer in time')]);
      } finally {
        fixture.oidc.resume();
      }
    });
  });
});

describe.each([true, false])('logins at the provider’s page (AZURE_SSO), claims in the ID token: %s', (inIdToken) => {
  const fixture = new OidcFixture('AZURE_SSO', inIdToken);

  async function begin(body: object = {}): Promise<string> {
    const answer = await fixture.api.call('POST', '/login', { body });
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['loginURL']]);
    return answer.body.loginURL;
  }

  function reclaimWorker(query: string, at = fixture.api): Promise<TestAnswer> {
    return at.call('GET', `/login/sso/callback${query}`);
  }

  async function loggedIn(name: string): Promise<TestAnswer> {
    return reclaimWorker(await fixture.oidc.browse(await begin(), name, `${name}'s password`));
  }

  it('gives a token to the user that the provider names', async () => {
    expect((await fixture.api.call('GET', '/login/auth_type')).body).toEqual({ auth_type: 'AZURE_SSO' });
    const url = new URL(await begin({ timeout: '2h' }));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.any(String),
    });
    const { status, body, headers } = await reclaimWorker(
      await fixture.oidc.browse(url.href, 'jane', `jane's password`),
    );
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(Object.keys(body).sort()).toEqual(['expires_at', 'token']);
    const hours = (Date.parse(body.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(1.9);
    expect(hours).toBeLessThan(2.1);
    expect(await fixture.infoOf(body.token)).toMatchObject({ username: JANE, groups: ['analysts', 'engineers'] });
    const left = await fixture.api.database.query('SELECT * FROM sso_logins WHERE expires_at < now()');
    expect(left).toEqual([]);
  });

  it('ignores foreign credentials, and accepts those of local accounts', async () => {
    await begin({ username: 'jane', password: `jane's password` });
    await begin({ username: 'admin', password: 'wrong' });
    const { status, body } = await fixture.api.call('POST', '/login', {
      body: { username: 'admin', password: ADMIN_PASSWORD },
    });
    expect([status, Object.keys(body).sort()]).toEqual([200, ['expires_at', 'token']]);
  });

  it('can be completed once, on any pod', async () => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    await fixture.withApi(fixture.oidc.environment('AZURE_SSO'), async (otherPod) => {
      expect((await reclaimWorker(query, otherPod)).status).toBe(200);
    });
    const replayed = await reclaimWorker(query);
    expect([replayed.status, replayed.body.error]).toEqual([401, expect.stringContaining('was already completed')]);
  });

  it('opens one session for concurrent returns', async () => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    const answers = await Promise.all([1, 2, 3, 4].map(() => reclaimWorker(query)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  it.each([
    ['a state that was never given out', (query: string) => query.replace(/state=[^&]+/, 'state=guessed'), 401],
    ['a changed code', (query: string) => query.replace(/code=[^&]+/, 'code=guessed'), 401],
    ['another issuer', (query: string) => query.replace(/iss=[^&]+/, 'iss=https://elsewhere.example.org'), 401],
    ['two codes', (query: string) => `${query}&code=another`, 401],
    ['no state', (query: string) => query.replace(/state=[^&]+/, ''), 400],
    ['no code', (query: string) => query.replace(/code=[^&]+/, ''), 400],
  ])('refuses a return with %s', async (_what, change, expected) => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    expect((await reclaimWorker(change(query))).status).toBe(expected);
  });

  it('refuses logins that the provider refuses, with its reason', async () => {
    const { status, body } = await reclaimWorker(await fixture.oidc.browse(await begin(), 'jane', 'wrong'));
    expect([status, body.error]).toEqual([401, expect.stringContaining('access_denied')]);
  });

  it.each([...FAULTS, ['with another nonce', { claims: { nonce: 'another' } }] as [string, Fault]])(
    'refuses an ID token %s, and the login is over',
    async (_what, fault) => {
      const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
      await fixture.oidc.setFault(fault);
      const { status, body } = await reclaimWorker(query);
      expect([status, body.error_code]).toEqual([401, 'AUTH.DIRECTORY_REFUSED']);
      await fixture.oidc.setFault({});
      expect((await reclaimWorker(query)).body.error).toContain('was already completed');
    },
  );

  it('refuses a return after ten minutes, and forgets it', async () => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    await fixture.api.database.query(`UPDATE sso_logins SET expires_at = expires_at - interval '10 minutes'`);
    expect((await reclaimWorker(query)).status).toBe(401);
    const { app, database } = fixture.api;
    const sweeper = new RetentionSweeper(EXPIRED_SSO_LOGINS, database, app.get(Config), app.get<Logger>(LOGGER));
    await sweeper.reconcile(new AbortController().signal);
    expect(await fixture.api.database.query('SELECT * FROM sso_logins')).toEqual([]);
  });

  it('stores nothing that could impersonate the browser', async () => {
    const state = new URL(await begin()).searchParams.get('state') ?? '';
    const rows = await fixture.api.database.query('SELECT * FROM sso_logins');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(state);
  });

  it('refuses disabled accounts and names of others', async () => {
    expect((await loggedIn('leaver')).status).toBe(200);
    await fixture.api.database.query(`UPDATE users SET to_date = now() WHERE username = 'leaver@example.org'`);
    const disabled = await loggedIn('leaver');
    expect([disabled.status, disabled.body.error]).toEqual([401, 'The account is disabled.']);
    await new People(fixture.api).user([], { username: 'john@example.org' });
    expect((await loggedIn('john')).status).toBe(403);
  });

  it('can be completed later if the provider is unavailable for a while', async () => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    await fixture.oidc.setFault({ away: true });
    const { status, body } = await reclaimWorker(query);
    expect([status, body.error_code]).toEqual([503, 'AUTH.DIRECTORY_UNAVAILABLE']);
    await fixture.oidc.setFault({});
    expect((await reclaimWorker(query)).status).toBe(200);
  });

  it('fails if the provider does not answer before the timeout', async () => {
    const query = await fixture.oidc.browse(await begin(), 'jane', `jane's password`);
    await fixture.withApi(fixture.hurried('AZURE_SSO'), async (at) => {
      await fixture.oidc.halt();
      try {
        const { status, body } = await reclaimWorker(query, at);
        expect([status, body.error]).toEqual([503, expect.stringContaining('does not answer in time')]);
      } finally {
        fixture.oidc.resume();
      }
    });
  });

  it('can be started only a limited number of times from one address without a return', async () => {
    const limits = { LOGIN_ATTEMPTS: '1', REDIS_PREFIX: `sso-${randomBytes(4).toString('hex')}` };
    const environment = { ...fixture.oidc.environment('AZURE_SSO'), ...limits };
    await fixture.withApi(environment, (at) =>
      fixture.withApi(environment, async (otherPod) => {
        const beginAt = (pod: TestApi) => pod.call('POST', '/login', { body: {} });
        const begun = await Promise.all(Array.from({ length: 12 }, (_, index) => beginAt(index % 2 ? at : otherPod)));
        const urls = begun.flatMap(({ status, body }) => (status === 200 ? [String(body.loginURL)] : []));
        expect(urls).toHaveLength(10);
        const refused = await beginAt(at);
        expect([refused.status, refused.body.error_code]).toEqual([429, 'AUTH.TOO_MANY_ATTEMPTS']);
        const seconds = Number(refused.headers.get('retry-after'));
        expect(seconds).toBeGreaterThan(0);
        expect(refused.body.details).toEqual({ retry_after_seconds: seconds });
        await expect(at.login()).resolves.toEqual(expect.any(String));

        // Only a successful login frees its place.
        const refusedReturn = await fixture.oidc.browse(urls[0]!, 'jane', 'wrong');
        expect((await reclaimWorker(refusedReturn, at)).status).toBe(401);
        expect((await beginAt(at)).status).toBe(429);
        const query = await fixture.oidc.browse(urls[1]!, 'jane', `jane's password`);
        expect((await reclaimWorker(query, at)).status).toBe(200);
        expect((await beginAt(otherPod)).status).toBe(200);
        expect((await beginAt(at)).status).toBe(429);
      }),
    );
  });

  it('lets local administrators in while the provider is down', async () => {
    const environment = { ...fixture.oidc.environment('AZURE_SSO'), OIDC_ISSUER: 'http://127.0.0.1:1' };
    await fixture.withApi(environment, async (at) => {
      expect((await at.call('POST', '/login', { body: {} })).status).toBe(503);
      await expect(at.login()).resolves.toEqual(expect.any(String));
    });
  });
});
