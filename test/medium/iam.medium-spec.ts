import { randomBytes } from 'node:crypto';
import { Controller, Module } from '@nestjs/common';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import type { TenantSummary } from '../../src/modules/foundation/iam/tenants/dto/tenant.dto';
import { Allow } from '../../src/platform/kernel/auth/access';
import type { TenantScope } from '../../src/platform/kernel/auth/principal';
import { CurrentScope } from '../../src/platform/http/auth/request-principal';
import { EVERY_TENANT_ROLE, PLATFORM_ROLES, type Role } from '../../src/platform/kernel/auth/roles';
import { Responses, Operation } from '../../src/platform/http/operation';
import { PASSWORD, People } from './harness/people';
import {
  ADMIN_PASSWORD,
  configure,
  createEmptyDatabase,
  prepare,
  soon,
  TestApi,
  type TestDatabase,
} from './harness/test-api';

/** Test operations in place of those of the domains. */
@Controller()
class ProbeController {
  @Operation({
    method: 'GET',
    path: '/probe/tenant',
    id: 'probeTenant',
    summary: 'In a tenant',
    tag: 'Probe',
    access: Allow.tenant(),
    response: Responses.none,
  })
  tenant(@CurrentScope() scope: TenantScope): TenantScope {
    return scope;
  }

  @Operation({
    method: 'GET',
    path: '/probe/manager',
    id: 'probeManager',
    summary: 'With a role',
    tag: 'Probe',
    access: Allow.tenant(['CAN MANAGE CLUSTER']),
    response: Responses.none,
  })
  manager(@CurrentScope() scope: TenantScope): TenantScope {
    return scope;
  }

  @Operation({
    method: 'GET',
    path: '/probe/bills',
    id: 'probeBills',
    summary: 'With a role of the tenant, or one that reads bills',
    tag: 'Probe',
    access: Allow.tenant([...EVERY_TENANT_ROLE, 'PLATFORM BILLING']),
    response: Responses.none,
  })
  bills(@CurrentScope() scope: TenantScope): TenantScope {
    return scope;
  }
}

@Module({ controllers: [ProbeController] })
class ProbeModule {}

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('identity', () => {
  let database: TestDatabase;
  let api: TestApi;
  let otherPod: TestApi;
  let people: People;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const config = configure(database.url, { LOGIN_ATTEMPTS: '1000' });
    await Promise.all([prepare(config), prepare(config), prepare(config)]);
    api = await TestApi.start([IamModule, IamApiModule, ProbeModule]);
    people = new People(api);
    otherPod = await TestApi.start([IamModule, IamApiModule, ProbeModule]);
  });

  afterAll(async () => {
    await api?.stop();
    await otherPod?.stop();
    await database?.drop();
  });

  async function query<T>(sql: string, params: unknown[] = []): Promise<T[]> {
    return api.database.query(sql, params);
  }

  const newTenant = (name?: string) => people.tenant(name);
  const newUser = (name: string, tenantIds: string[] = []) =>
    people.withPassword(
      name,
      tenantIds.map((tenantId) => ['USER', tenantId]),
    );

  it('creates one tenant and one administrator, however many processes start at once', async () => {
    expect(await query('SELECT username FROM users')).toEqual([{ username: 'admin' }]);
    expect(await query('SELECT name FROM tenants')).toEqual([{ name: 'default' }]);
    const token = await api.login();
    const { body } = await api.call('GET', '/user/info/roles', { token });
    expect(body).toEqual({
      user_id: 1,
      username: 'admin',
      user_roles: expect.arrayContaining(['PLATFORM ADMIN', 'ADMIN']),
      group_roles: [],
    });
  });

  it('prints a generated password once', async () => {
    const empty = await createEmptyDatabase();
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      const config = configure(empty.url, { BOOTSTRAP_ADMIN_PASSWORD: '' });
      await prepare(config);
      await prepare(config);
      const printed = write.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('Password of'));
      expect(printed).toEqual([expect.stringMatching(/"admin", shown only now: \S{24,}/)]);
    } finally {
      write.mockRestore();
      await empty.drop();
    }
  });

  describe('login', () => {
    it('announces its type', async () => {
      const { status, body } = await api.call('GET', '/login/auth_type');
      expect([status, body]).toEqual([200, { auth_type: 'LDAP' }]);
    });

    it.each([
      ['the body', { body: { username: 'admin', password: ADMIN_PASSWORD, auth_type: 'LDAP' } }],
      ['any letter case', { body: { username: 'Admin', password: ADMIN_PASSWORD } }],
      [
        'HTTP Basic',
        { headers: { authorization: `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}` } },
      ],
    ])('takes the credentials from %s and selects the only tenant', async (_from, options) => {
      const { status, body } = await api.call('POST', '/login', options);
      expect(status).toBe(200);
      expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(47.9 * 3_600_000);
      const info = await api.call('GET', '/user/info', { token: body.token });
      expect(info.body).toMatchObject({ username: 'admin', tenant_id: expect.any(String), group_info: [] });
    });

    it('gives a token without expiry on request', async () => {
      const { body } = await api.call('POST', '/login', {
        body: { username: 'admin', password: ADMIN_PASSWORD, timeout: 'infinity' },
      });
      expect(body.expires_at).toBe('infinity');
      expect((await api.call('GET', '/user/info', { token: body.token })).status).toBe(200);
    });

    it('refuses an unknown user and a wrong password alike', async () => {
      const answers = await Promise.all([
        api.call('POST', '/login', { body: { username: 'admin', password: 'wrong' } }),
        api.call('POST', '/login', { body: { username: 'nobody', password: 'wrong' } }),
      ]);
      for (const { status, body } of answers) {
        expect([status, body.error_code]).toEqual([401, 'AUTH.UNAUTHENTICATED']);
      }
      expect(answers[0].body.error).toBe(answers[1].body.error);
    });

    it.each([
      ['no credentials', {}, 'AUTH.CREDENTIALS_MISSING'],
      ['no password', { username: 'admin' }, 'AUTH.CREDENTIALS_MISSING'],
      ['another login type', { username: 'admin', password: 'x', auth_type: 'AAD' }, 'AUTH.TYPE_MISMATCH'],
      ['an unknown login type', { username: 'admin', password: 'x', auth_type: 'KERBEROS' }, 'REQUEST.INVALID'],
      ['an odd duration', { username: 'admin', password: 'x', timeout: '2 weeks' }, 'REQUEST.INVALID_DURATION'],
      ['a duration that is a number', { username: 'admin', password: 'x', timeout: 48 }, 'REQUEST.INVALID'],
      ['no name at all', { username: null, password: 'x' }, 'REQUEST.INVALID'],
      ['an unknown field', { username: 'admin', password: 'x', remember: true }, 'REQUEST.INVALID'],
    ])('returns 400 for %s', async (_what, body, code) => {
      const answer = await api.call('POST', '/login', { body });
      expect([answer.status, answer.body.error_code]).toEqual([400, code]);
    });

    it('returns 400 without a body', async () => {
      const answer = await api.call('POST', '/login', { headers: { 'content-type': 'application/json' } });
      expect([answer.status, answer.body.error_code]).toEqual([400, 'AUTH.CREDENTIALS_MISSING']);
    });
  });

  it('ends a session on all pods at logout', async () => {
    const token = await api.login();
    const warm = await Promise.all([api, otherPod].map((pod) => pod.call('GET', '/user/info', { token })));
    expect(warm.map(({ status }) => status)).toEqual([200, 200]);
    const { status, body } = await api.call('POST', '/logout', { token });
    expect([status, body]).toEqual([200, { message: expect.any(String) }]);
    expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
    await soon(async () => {
      const answer = await otherPod.call('GET', '/user/info', { token });
      expect([answer.status, answer.body.error]).toEqual([401, 'The session was ended. Log in again.']);
    });
  });

  it('refuses a session that has expired in the database', async () => {
    const token = await api.login();
    await query(`UPDATE sessions SET expires_at = now() WHERE revoked_at IS NULL`);
    const answer = await otherPod.call('GET', '/user/info', { token });
    expect([answer.status, answer.body.error]).toEqual([401, 'The session has expired. Log in again.']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  describe('tenants', () => {
    it('let a user of two tenants select one, and change it', async () => {
      const [first, second] = [await newTenant('first'), await newTenant('second')];
      const userId = await newUser('chooser', [first, second]);
      const token = await api.login('chooser', PASSWORD);
      const before = await api.call('GET', '/probe/tenant', { token });
      expect([before.status, before.body.error_code]).toEqual([403, 'TENANT.NOT_SELECTED']);
      const list = await api.call('GET', '/user/tenants', { token });
      expect(list.body.data.map(({ name }: { name: string }) => name).sort()).toEqual(['first', 'second']);
      const search = await api.call('GET', '/user/tenants/search?tenant_name=SEC', { token });
      expect(search.body.data).toEqual([{ tenant_id: second, name: 'second', description: null }]);
      for (const tenantId of [first, first, second]) {
        const { status, body } = await api.call('POST', `/user/select/${tenantId}`, { token });
        expect([status, body]).toEqual([
          201,
          {
            message: expect.any(String),
            user_id: String(userId),
            tenant_id: tenantId,
            tenant_name: tenantId === first ? 'first' : 'second',
          },
        ]);
        expect((await api.call('GET', '/probe/tenant', { token })).body).toMatchObject({ tenantId });
      }
      await soon(async () => {
        expect((await otherPod.call('GET', '/probe/tenant', { token })).body).toMatchObject({ tenantId: second });
      });
    });

    it('refuse users without a role, and return 404 for missing tenants', async () => {
      const mine = await newTenant('mine');
      const foreign = await newTenant('foreign');
      await newUser('stranger', [mine]);
      const token = await api.login('stranger', PASSWORD);
      const statusOf = async (id: string) => (await api.call('POST', `/user/select/${id}`, { token })).status;
      expect(await statusOf(foreign)).toBe(403);
      expect(await statusOf('5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab')).toBe(404);
      expect(await statusOf('nonsense')).toBe(400);
      expect((await api.call('GET', '/user/tenants', { token })).body.data).toHaveLength(1);
    });

    it('keep a personal token in its tenant', async () => {
      const [home, away] = [await newTenant('home'), await newTenant('away')];
      await newUser('bound', [home, away]);
      const token = await api.login('bound', PASSWORD);
      await query(
        `UPDATE sessions SET kind = 'token', tenant_id = $1 WHERE user_id = (SELECT user_id FROM users WHERE username = 'bound')`,
        [home],
      );
      const { status, body } = await api.call('POST', `/user/select/${away}`, { token });
      expect(status).toBe(403);
      expect(body.error_message).toBe(`Association to the tenant Id: ${away} is not allowed for the current session.`);
      expect((await api.call('POST', `/user/select/${home}`, { token })).status).toBe(201);
    });

    it.each<[string, Role | null]>([
      ['USER', 'USER'],
      ['PLATFORM ADMIN', 'PLATFORM ADMIN'],
      ['PLATFORM BILLING', 'PLATFORM BILLING'],
      ['no role there', null],
    ])('refuse a personal token of a user with %s from another tenant', async (_held, role) => {
      const [home, away] = [await newTenant(), await newTenant()];
      const userId = await people.user([['USER', home]]);
      if (role) await people.giveRole(userId, role, PLATFORM_ROLES.includes(role) ? null : away);
      const { call } = await people.as(userId, home);
      await query(`UPDATE sessions SET kind = 'token' WHERE user_id = $1`, [userId]);
      for (const tenantId of [away, '5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab']) {
        const { status, body } = await call('POST', `/user/select/${tenantId}`);
        const message = `Association to the tenant Id: ${tenantId} is not allowed for the current session.`;
        expect([status, body.error_message]).toEqual([403, message]);
      }
      expect((await call('GET', '/user/info')).body.tenant_id).toBe(home);
    });

    it('admit PLATFORM BILLING everywhere, but only to operations that name it', async () => {
      const tenantId = await newTenant();
      const closed = await newTenant();
      await query('UPDATE tenants SET to_date = now() WHERE tenant_id = $1', [closed]);
      const { call } = await people.as(await people.user([['PLATFORM BILLING', null]]));
      expect((await call('GET', '/probe/bills')).body.error_code).toBe('TENANT.NOT_SELECTED');
      const listed = (await call('GET', '/user/tenants?limit=1000')).body.data.map(
        (row: TenantSummary) => row.tenant_id,
      );
      expect(listed).toContain(tenantId);
      expect(listed).not.toContain(closed);
      expect((await call('POST', `/user/select/${closed}`)).status).toBe(404);
      expect((await call('POST', `/user/select/${tenantId}`)).status).toBe(201);
      expect((await call('GET', '/user/info')).body.tenant_id).toBe(tenantId);
      expect((await call('GET', '/probe/bills')).body).toMatchObject({ tenantId });
      for (const [method, path] of [
        ['GET', '/probe/tenant'],
        ['GET', '/probe/manager'],
        ['POST', '/user/token'],
      ] as const) {
        const { status, body } = await call(method, path, method === 'POST' ? {} : undefined);
        expect([status, body.error_code]).toEqual([403, 'AUTH.ROLE_REQUIRED']);
      }
    });

    it('admit a PLATFORM ADMIN everywhere', async () => {
      const tenantId = await newTenant('any');
      const token = await api.login();
      expect((await api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(201);
      expect((await api.call('GET', '/probe/tenant', { token })).body).toMatchObject({ tenantId });
    });
  });

  it('counts roles through groups from the next request on', async () => {
    const tenantId = await newTenant('grouped');
    const userId = await newUser('member');
    const token = await api.login('member', PASSWORD);
    expect((await api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(403);
    const [group] = await query<{ group_id: number }>(
      `INSERT INTO groups (group_name) VALUES ('g') RETURNING group_id`,
    );
    await query('INSERT INTO group_users (group_id, user_id) VALUES ($1, $2)', [group!.group_id, userId]);
    await query(
      `INSERT INTO group_roles (group_id, role_id, tenant_id) SELECT $1, role_id, $2 FROM roles WHERE role = 'CAN MANAGE CLUSTER'`,
      [group!.group_id, tenantId],
    );
    expect((await api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(201);
    expect((await api.call('GET', '/probe/manager', { token })).status).toBe(200);
    const roles = await api.call('GET', `/user/info/roles?tenant_id=${tenantId}`, { token });
    expect(roles.body).toMatchObject({ user_roles: [], group_roles: ['CAN MANAGE CLUSTER'] });
    await query('UPDATE group_users SET to_date = now() WHERE user_id = $1', [userId]);
    await query(`SELECT pg_notify('session', $1)`, [`user:${userId}`]);
    await soon(async () => {
      const answer = await otherPod.call('GET', '/probe/manager', { token });
      expect([answer.status, answer.body.error_code]).toEqual([403, 'TENANT.NOT_SELECTED']);
    });
  });

  it('refuses the operations of a removed role at once, on every pod', async () => {
    const userId = await newUser('demoted', [await newTenant('strict')]);
    const token = await api.login('demoted', PASSWORD);
    for (const pod of [api, otherPod]) expect((await pod.call('GET', '/probe/tenant', { token })).status).toBe(200);
    await query('UPDATE user_roles SET to_date = now() WHERE user_id = $1', [userId]);
    await query(`SELECT pg_notify('session', $1)`, [`user:${userId}`]);
    await soon(async () => {
      for (const pod of [api, otherPod]) {
        const answer = await pod.call('GET', '/probe/tenant', { token });
        expect([answer.status, answer.body.error_code]).toEqual([403, 'TENANT.NOT_SELECTED']);
      }
    });
  });

  it('shuts out a disabled account within a second, without a notification', async () => {
    const userId = await newUser('leaver', [await newTenant('left')]);
    const token = await api.login('leaver', PASSWORD);
    expect((await api.call('GET', '/probe/tenant', { token })).status).toBe(200);
    await query('UPDATE users SET to_date = now() WHERE user_id = $1', [userId]);
    await soon(async () =>
      expect((await api.call('GET', '/probe/tenant', { token })).body.error).toBe('The account is disabled.'),
    );
    const login = await api.call('POST', '/login', { body: { username: 'leaver', password: PASSWORD } });
    expect(login.status).toBe(401);
  });

  describe('login limits', () => {
    it('apply across pods, by user name', async () => {
      configure(database.url, { LOGIN_ATTEMPTS: '3', REDIS_PREFIX: `limit-${randomBytes(4).toString('hex')}` });
      const pods = [await TestApi.start([IamModule, IamApiModule]), await TestApi.start([IamModule, IamApiModule])];
      try {
        const attempt = (pod: number, password: string) =>
          pods[pod]!.call('POST', '/login', { body: { username: 'admin', password } });
        for (const pod of [0, 1, 0]) expect((await attempt(pod, 'wrong')).status).toBe(401);
        const refused = await attempt(1, ADMIN_PASSWORD);
        expect([refused.status, refused.body.error_code]).toEqual([429, 'AUTH.TOO_MANY_ATTEMPTS']);
        const seconds = Number(refused.headers.get('retry-after'));
        expect(seconds).toBeGreaterThan(0);
        expect(refused.body.details).toEqual({ retry_after_seconds: seconds });
      } finally {
        await Promise.all(pods.map((pod) => pod.stop()));
      }
    });

    it('do not prevent logins while Redis is down', async () => {
      configure(database.url, { REDIS_URL: 'redis://127.0.0.1:1' });
      const pod = await TestApi.start([IamModule, IamApiModule]);
      try {
        expect((await pod.call('POST', '/login', { body: { username: 'admin', password: 'wrong' } })).status).toBe(401);
        await expect(pod.login()).resolves.toEqual(expect.any(String));
      } finally {
        await pod.stop();
      }
    });
  });
});
