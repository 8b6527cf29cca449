import { randomBytes, randomUUID } from 'node:crypto';
import { AccessTokens } from '../../src/modules/foundation/iam/sessions/access-tokens';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { setClock } from './harness/clock';
import { PASSWORD, People } from './harness/people';
import { configure, createTestDatabase, prepare, soon, TestApi, type TestDatabase } from './harness/test-api';

const DAY_MS = 86_400_000;

function claimsOf(token: string): { sub: string; sid: string; iat: number } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

// Real: PostgreSQL, Redis, guards, pipes and filters. Two APIs stand for two pods.
describe('personal tokens', () => {
  let database: TestDatabase;
  let api: TestApi;
  let otherPod: TestApi;
  let people: People;
  let tenantId: string;
  let login: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepare(configure(database.url));
    api = await TestApi.start([IamModule, IamApiModule]);
    otherPod = await TestApi.start([IamModule, IamApiModule]);
    people = new People(api);
    tenantId = await people.tenant('home');
    await people.withPassword('ada', [['USER', tenantId]]);
    login = await api.login('ada', PASSWORD);
  });

  afterAll(async () => {
    await api?.stop();
    await otherPod?.stop();
    await database?.drop();
  });

  const make = (body: object = {}, token = login) => api.call('POST', '/user/token', { token, body });
  const statusOf = async (pod: TestApi, token: string) => (await pod.call('GET', '/user/info', { token })).status;

  async function listed(tokenId: string | number): Promise<Record<string, unknown>> {
    const { status, body } = await api.call('GET', '/user/tokens', { token: login });
    expect(status).toBe(200);
    return body.data.find(({ token_id }: { token_id: number }) => token_id === Number(tokenId));
  }

  it('are named in the audit log, but their text is not in it', async () => {
    const { body } = await make({ description: 'audited' });
    const [event] = await api.database.query<Record<string, unknown>[]>(
      `SELECT * FROM audit_events WHERE operation = 'createToken' ORDER BY audit_event_id DESC LIMIT 1`,
    );
    expect(event).toMatchObject({ username: 'ada', subject: { token_id: Number(body.token_id), tenant_id: tenantId } });
    expect(JSON.stringify(event)).not.toContain(body.token);
  });

  it('are limited to a hundred valid ones per user, even if they are created concurrently', async () => {
    await people.withPassword('hoarder', [['USER', tenantId]]);
    const token = await api.login('hoarder', PASSWORD);
    await api.database.query(
      `INSERT INTO sessions (session_id, user_id, tenant_id, kind, expires_at, revoked_at)
       SELECT gen_random_uuid(), user_id, $1, 'token', CASE WHEN n > 120 THEN now() ELSE 'infinity' END, CASE WHEN n > 97 THEN now() END
       FROM users, generate_series(1, 140) n WHERE username = 'hoarder'`,
      [tenantId],
    );
    const made = await Promise.all([1, 2, 3, 4, 5].map(() => make({}, token)));
    const refused = made.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body.error_code])).toEqual([
      [409, 'TOKEN.TOO_MANY'],
      [409, 'TOKEN.TOO_MANY'],
    ]);
    const { token_id: id } = made.find(({ status }) => status === 200)?.body ?? {};
    expect((await api.call('DELETE', `/user/token/${id}`, { token })).status).toBe(201);
    expect((await make({}, token)).status).toBe(200);
  });

  it('start, as logins do, at the time of the database', async () => {
    const ahead = 2 * 3_600_000;
    const inTime = (end: string) => Math.abs(Date.parse(end) - Date.now() - ahead - 3_600_000) < 60_000;
    await setClock(api.database, '2 hours');
    try {
      const { body } = await make({ timeout: '1h' });
      const session = await api.call('POST', '/login', {
        body: { username: 'ada', password: PASSWORD, timeout: '1h' },
      });
      expect([body.expires_at, session.body.expires_at].map(inTime)).toEqual([true, true]);
      const issuedAt = [body.token, session.body.token].map((token) => claimsOf(token).iat * 1000);
      expect(issuedAt.map((at) => Math.abs(at - Date.now() - ahead) < 60_000)).toEqual([true, true]);
      expect([await statusOf(api, body.token), await statusOf(api, session.body.token)]).toEqual([200, 200]);
    } finally {
      await setClock(api.database, '0');
    }
  });

  it('are created for the selected tenant and work on every pod', async () => {
    const { status, body } = await make({ description: 'for the scheduler' });
    expect([status, body]).toEqual([
      200,
      {
        token_id: expect.stringMatching(/^\d+$/),
        token: expect.any(String),
        description: 'for the scheduler',
        tenant_id: tenantId,
        expires_at: expect.any(String),
        created_by_user_id: expect.any(String),
        modified_by_user_id: expect.any(String),
        last_update_date: expect.any(String),
        from_date: expect.any(String),
        to_date: null,
      },
    ]);
    const lasts = Date.parse(body.expires_at) - Date.parse(body.from_date);
    expect(Math.abs(lasts - 30 * DAY_MS)).toBeLessThan(60_000);
    for (const pod of [api, otherPod]) {
      const info = await pod.call('GET', '/user/info', { token: body.token });
      expect([info.status, info.body.tenant_id]).toEqual([200, tenantId]);
    }
  });

  it.each([
    ['48h', 2 * DAY_MS],
    ['90 days', 90 * DAY_MS],
  ])('last %s', async (timeout, ms) => {
    const { body } = await make({ timeout });
    expect(Math.abs(Date.parse(body.expires_at) - Date.now() - ms)).toBeLessThan(60_000);
    expect(await statusOf(api, body.token)).toBe(200);
  });

  it('last forever by default, and need no body', async () => {
    const { body } = await make({ timeout: 'infinity' });
    expect(body).toMatchObject({ expires_at: 'infinity', description: null });
    expect(await statusOf(api, body.token)).toBe(200);
    const plain = await api.call('POST', '/user/token', {
      token: login,
      headers: { 'content-type': 'application/json' },
    });
    expect(plain.status).toBe(200);
  });

  it.each([
    ['an odd duration', { timeout: '2 weeks' }, 'REQUEST.INVALID_DURATION'],
    ['a duration that is no text', { timeout: 5 }, 'REQUEST.INVALID'],
    ['an unknown field', { scope: 'all' }, 'REQUEST.INVALID'],
  ])('are refused with %s', async (_what, body, code) => {
    const answer = await make(body);
    expect([answer.status, answer.body.error_code]).toEqual([400, code]);
  });

  it('need a selected tenant', async () => {
    await people.withPassword('wanderer', [
      ['USER', await people.tenant('here')],
      ['USER', await people.tenant('there')],
    ]);
    const answer = await make({}, await api.login('wanderer', PASSWORD));
    expect([answer.status, answer.body.error_code]).toEqual([403, 'TENANT.NOT_SELECTED']);
  });

  it('stay in their tenant', async () => {
    const away = await people.tenant('away');
    await people.withPassword('bound', [
      ['USER', tenantId],
      ['USER', away],
    ]);
    const session = await api.login('bound', PASSWORD);
    await api.call('POST', `/user/select/${tenantId}`, { token: session });
    const { body } = await make({}, session);
    await api.call('POST', `/user/select/${away}`, { token: session });
    const refused = await api.call('POST', `/user/select/${away}`, { token: body.token });
    expect([refused.status, refused.body.error_message]).toEqual([
      403,
      `Association to the tenant Id: ${away} is not allowed for the current session.`,
    ]);
    expect((await api.call('GET', '/user/info', { token: body.token })).body.tenant_id).toBe(tenantId);
  });

  it('cannot create further tokens', async () => {
    const { body } = await make();
    const answer = await make({}, body.token);
    expect([answer.status, answer.body.error_code]).toEqual([403, 'TOKEN.FROM_TOKEN']);
  });

  it('are listed without their text, newest first, with their last use', async () => {
    const first = (await make({ description: 'first' })).body;
    const second = (await make({ description: 'second' })).body;
    expect(await statusOf(otherPod, first.token)).toBe(200);
    await soon(async () => expect((await listed(first.token_id))['last_used_at']).toEqual(expect.any(String)));
    const page = await api.call('GET', '/user/tokens?limit=2', { token: login });
    expect(page.body.data).toEqual([
      {
        token_id: Number(second.token_id),
        description: 'second',
        tenant_id: tenantId,
        expires_at: second.expires_at,
        last_used_at: null,
        from_date: second.from_date,
        to_date: 'infinity',
      },
      expect.objectContaining({ description: 'first' }),
    ]);
    expect(JSON.stringify(page.body)).not.toContain(first.token);
    const rest = await api.call('GET', '/user/tokens?limit=2&pageNumber=2', { token: login });
    expect(rest.body.data.every(({ token_id }: { token_id: number }) => token_id < Number(first.token_id))).toBe(true);
    expect(page.body.result_set.total_objects).toBe(rest.body.result_set.total_objects);
  });

  it('are refused on every pod within a second of their revocation', async () => {
    const { body } = await make();
    for (const pod of [api, otherPod]) expect(await statusOf(pod, body.token)).toBe(200);
    const path = `/user/token/${body.token_id}`;
    const [session] = await api.database.query<{ session_id: string }[]>(
      'SELECT session_id FROM sessions WHERE token_id = $1',
      [body.token_id],
    );
    const wakeUps = otherPod.notifications('session');
    const revoked = await api.call('DELETE', path, { token: login });
    expect([revoked.status, revoked.body]).toEqual([201, { message: `The token ${body.token_id} is revoked.` }]);
    expect(await statusOf(api, body.token)).toBe(401);
    await soon(async () => expect(await statusOf(otherPod, body.token)).toBe(401));
    // Cached sessions expire within a second anyway; the notification makes it immediate.
    await soon(async () => expect(wakeUps).toContain(session?.session_id));
    const { to_date } = await listed(body.token_id);
    expect(Math.abs(Date.parse(String(to_date)) - Date.now())).toBeLessThan(60_000);
    const again = await api.call('DELETE', path, { token: login });
    expect([again.status, again.body.error_code]).toEqual([404, 'TOKEN.NOT_FOUND']);
    expect((await listed(body.token_id))['to_date']).toBe(to_date);
  });

  it('that have expired are refused and keep their end date', async () => {
    const { body } = await make({ timeout: '1s' });
    await soon(async () => {
      const answer = await api.call('GET', '/user/info', { token: body.token });
      expect([answer.status, answer.body.error]).toEqual([401, 'The token has expired. Log in again.']);
    });
    expect(await listed(body.token_id)).toMatchObject({ expires_at: body.expires_at, to_date: body.expires_at });
    expect((await api.call('DELETE', `/user/token/${body.token_id}`, { token: login })).status).toBe(404);
  });

  it('of another user, and logins, cannot be revoked', async () => {
    await people.withPassword('eve', [['USER', tenantId]]);
    const eve = await api.login('eve', PASSWORD);
    const { body } = await make();
    const revoke = (id: unknown) => api.call('DELETE', `/user/token/${String(id)}`, { token: eve });
    expect((await revoke(body.token_id)).status).toBe(404);
    const [own] = await api.database.query<{ token_id: number }[]>(
      `SELECT s.token_id FROM sessions s JOIN users u USING (user_id) WHERE u.username = 'eve'`,
    );
    expect((await revoke(own?.token_id)).status).toBe(404);
    expect((await revoke('nonsense')).status).toBe(400);
    expect(await statusOf(api, body.token)).toBe(200);
    expect(await statusOf(api, eve)).toBe(200);
    expect((await api.call('GET', '/user/tokens', { token: eve })).body.data).toEqual([]);
  });

  it('stop at once when their account is disabled', async () => {
    const userId = await people.withPassword('leaver', [['USER', tenantId]]);
    const { body } = await make({}, await api.login('leaver', PASSWORD));
    expect(await statusOf(otherPod, body.token)).toBe(200);
    await api.database.query('UPDATE users SET to_date = now() WHERE user_id = $1', [userId]);
    await api.database.query(`SELECT pg_notify('session', $1)`, [`user:${userId}`]);
    await soon(async () => expect(await statusOf(otherPod, body.token)).toBe(401));
  });

  it('cannot be created by a session that ends at the same time', async () => {
    const userId = await people.withPassword('racer', [['USER', tenantId]]);
    const session = await api.login('racer', PASSWORD);
    expect(await statusOf(api, session)).toBe(200);
    const runner = api.database.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('UPDATE users SET last_update_date = now() WHERE user_id = $1', [userId]);
      await runner.query('UPDATE sessions SET revoked_at = now() WHERE user_id = $1', [userId]);
      const making = make({}, session);
      await soon(async () => {
        const waiting = await api.database.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(waiting).toHaveLength(1);
      });
      await runner.commitTransaction();
      expect((await making).status).toBe(401);
    } finally {
      await runner.release();
    }
    const tokens = await api.database.query(`SELECT 1 FROM sessions WHERE user_id = $1 AND kind = 'token'`, [userId]);
    expect(tokens).toEqual([]);
  });

  describe('in the database', () => {
    it('have no text: neither in the session nor in the response kept for a repeated request', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const once = await api.call('POST', '/user/token', { token: login, headers });
      const twice = await otherPod.call('POST', '/user/token', { token: login, headers });
      expect([twice.status, twice.body]).toEqual([200, once.body]);
      expect(await statusOf(api, twice.body.token)).toBe(200);
      const [, , signature] = String(once.body.token).split('.');
      for (const table of ['sessions', 'idempotency_keys']) {
        const rows = await api.database.query(`SELECT to_jsonb(t)::text AS text FROM ${table} t`);
        expect(rows.length).toBeGreaterThan(0);
        expect(JSON.stringify(rows)).not.toContain(signature);
      }
    });

    it.each(['a login', 'a personal token'])('refuse another token that a stolen key signs for %s', async (what) => {
      const token = what === 'a login' ? login : (await make()).body.token;
      expect(await statusOf(api, token)).toBe(200);
      const { sub, sid } = claimsOf(token);
      const forged = api.app
        .get(AccessTokens)
        .sign({ userId: Number(sub), sessionId: sid, issuedAt: 1_790_000_000 }, null);
      for (const pod of [api, otherPod]) {
        const answer = await pod.call('GET', '/user/info', { token: forged });
        expect([answer.status, answer.body.error]).toEqual([401, 'The token is not valid.']);
        expect(await statusOf(pod, token)).toBe(200);
      }
    });

    it('are valid without a hash if they are from before hashes were stored', async () => {
      const old = await api.login('ada', PASSWORD);
      await api.database.query(
        'UPDATE sessions SET token_hash = NULL WHERE session_id = (SELECT session_id FROM sessions ORDER BY token_id DESC LIMIT 1)',
      );
      expect(await statusOf(otherPod, old)).toBe(200);
    });

    it('outlive a rotation of the signing keys', async () => {
      const { body } = await make();
      const keys = process.env['AUTH_JWT_KEYS'] ?? '';
      const rotated = `second:${randomBytes(32).toString('base64')},${keys}`;
      configure(database.url, { AUTH_JWT_KEYS: rotated });
      const newPod = await TestApi.start([IamModule, IamApiModule]);
      try {
        expect(await statusOf(newPod, body.token)).toBe(200);
      } finally {
        await newPod.stop();
        configure(database.url, { AUTH_JWT_KEYS: keys });
      }
    });
  });
});
