import { randomBytes } from 'node:crypto';
import { Controller, Injectable, Module, Query } from '@nestjs/common';
import { AuditApiModule } from '../../src/modules/foundation/audit/audit.api.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { setAuditActor } from '../../src/platform/http/audit/audited-request';
import { noteChange } from '../../src/platform/kernel/audit/record-changes';
import { Allow } from '../../src/platform/kernel/auth/access';
import type { Role } from '../../src/platform/kernel/auth/roles';
import { currentContext } from '../../src/platform/kernel/context/request-context';
import { conflict, unauthenticated } from '../../src/platform/kernel/errors/domain-error';
import { Responses, Operation } from '../../src/platform/http/operation';
import type { OperationOptions } from '../../src/platform/http/operation-options';
import { Transactions } from '../../src/platform/kernel/persistence/transactions';
import { bodyOf } from '../samples';
import { PASSWORD, People } from './harness/people';
import {
  ADMIN_PASSWORD,
  configure,
  createTestDatabase,
  prepare,
  type TestAnswer,
  TestApi,
  type TestDatabase,
} from './harness/test-api';

const SESSION = '5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab';
const SECRET = 'the-secret-of-the-credentials';
/** A disk type of the reference data without limits on its size. */
const GCP_PD_SSD = 0;

function Probe(id: string, method: OperationOptions['method'] = 'POST'): MethodDecorator {
  return Operation({
    method,
    path: `/probe/${id}`,
    id,
    summary: id,
    tag: 'Probe',
    access: Allow.tenant(),
    response: Responses.none,
    errors: [409],
  });
}

/** Operations without a transaction, or with several, for these tests. */
@Injectable()
@Controller()
class ProbeController {
  constructor(private readonly transactions: Transactions) {}

  @Probe('probeWithout')
  without(): { probe_id: number } {
    return { probe_id: 3 };
  }

  @Probe('probeTwo')
  async two(): Promise<{ probe_id: number }> {
    await this.transactions.run(() => Promise.resolve({ probe_id: 4 }));
    return this.transactions.run(() => Promise.resolve({ probe_id: 5 }));
  }

  @Probe('probeDeadlock')
  async deadlock(): Promise<unknown> {
    let attempt = 0;
    return this.transactions.run(async (tx) => {
      attempt += 1;
      const probe = { label: 'probe', id: attempt, tenantId: currentContext()?.audit?.tenantId ?? null, hidden: [] };
      noteChange(tx, { ...probe, before: {}, after: { attempt } });
      if (attempt === 1) await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$`);
      return null;
    });
  }

  @Probe('probeHalf')
  async half(): Promise<void> {
    await this.transactions.run(() => Promise.resolve(null));
    await this.transactions.run(() => Promise.reject(conflict('PROBE.HALF', 'The second half is refused.')));
  }

  @Probe('probeBug', 'PUT')
  bug(): void {
    throw new TypeError('a bug');
  }

  /** A login against a directory: the user's data is written before the session is opened. */
  @Operation({
    method: 'GET',
    path: '/probe/sign-in',
    id: 'probeSignIn',
    summary: 'Sign in in two transactions',
    tag: 'Probe',
    access: Allow.everyone,
    response: Responses.none,
    opensSession: true,
  })
  async signIn(@Query('name') username: string): Promise<object> {
    if (username === 'nobody') return { url: 'https://elsewhere.example.org' };
    setAuditActor({ username });
    await this.transactions.run(() => Promise.resolve({ user_id: 8 }));
    if (username === 'disabled') throw unauthenticated('The account is disabled.');
    return this.transactions.run(() => {
      setAuditActor({ userId: 8, sessionId: SESSION, sessionKind: 'login' });
      return Promise.resolve({ token: SECRET });
    });
  }

  @Probe('probeRead', 'GET')
  async read(): Promise<unknown> {
    return this.transactions.run(() => Promise.resolve({ probe_id: 6 }));
  }
}

@Module({ controllers: [ProbeController] })
class ProbeModule {}

interface Event {
  audit_event_id: number;
  operation: string;
  outcome: string;
  [key: string]: unknown;
}

// Real: PostgreSQL, Redis, guards, pipes, filters and two domains. Left out: the others.
describe('the audit log', () => {
  let database: TestDatabase;
  let api: TestApi;
  let admin: string;
  let tenantId: string;
  let requests = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepare(configure(database.url, { LOGIN_ATTEMPTS: '1000' }));
    const modules = [IamModule, IamApiModule, AuditApiModule, EnvironmentsApiModule];
    api = await TestApi.start([...modules, ProbeModule]);
    admin = await api.login();
    tenantId = (await api.call('GET', '/user/info', { token: admin })).body.tenant_id;
  });

  afterAll(async () => {
    await api?.stop();
    await database?.drop();
  });

  async function query<T>(sql: string, params: unknown[] = []): Promise<T[]> {
    return api.database.query(sql, params);
  }

  /** Creates a user with one role in the tenant and returns a token. */
  async function signedIn(name: string, role: Role, tenant = tenantId): Promise<string> {
    await new People(api).withPassword(name, [[role, tenant]]);
    return api.login(name, PASSWORD);
  }

  /** Sends a request and returns its answer with its audit rows. */
  async function audited(
    method: string,
    path: string,
    options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<{ answer: TestAnswer; events: Event[] }> {
    requests += 1;
    const correlation = `request-${requests}`;
    const headers = { 'x-correlation-id': correlation, 'user-agent': 'the test', ...options.headers };
    const answer = await api.call(method, path, { ...options, headers });
    const events = await query<Event>('SELECT * FROM audit_events WHERE correlation_id = $1 ORDER BY audit_event_id', [
      correlation,
    ]);
    return { answer, events };
  }

  const volume = (name: string) => ({ name, ...bodyOf('volume_conf'), disk_type_id: GCP_PD_SSD });

  describe('of an effect', () => {
    it('names the user, the operation, the record and the address', async () => {
      const { answer, events } = await audited('POST', '/machine/volume', { token: admin, body: volume('told') });
      expect(answer.status).toBe(200);
      expect(events).toEqual([
        {
          audit_event_id: expect.any(Number),
          at: expect.any(Date),
          tenant_id: tenantId,
          user_id: 1,
          username: 'admin',
          session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          session_kind: 'login',
          ip: '127.0.0.1',
          user_agent: 'the test',
          operation: 'createVolumeConf',
          method: 'POST',
          path: '/machine/volume',
          subject: {
            volume_conf_id: Number(answer.body.volume_conf_id),
            name: 'told',
            disk_type_id: GCP_PD_SSD,
            disk_type_name: expect.any(String),
          },
          outcome: 'done',
          status: 200,
          error_code: null,
          correlation_id: expect.any(String),
          changes: null,
        },
      ]);
    });

    it('is written in the transaction of the effect', async () => {
      const { answer, events } = await audited('POST', '/machine/volume', { token: admin, body: volume('together') });
      const [both] = await query<{ same: boolean }>(
        `SELECT (SELECT xmin FROM audit_events WHERE audit_event_id = $1) =
           (SELECT xmin FROM volume_confs WHERE volume_conf_id = $2) AS same`,
        [events[0]?.audit_event_id, answer.body.volume_conf_id],
      );
      expect(both).toEqual({ same: true });
    });

    it('is rolled back with an effect that fails to commit', async () => {
      await query(`CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused at the commit'; END $$`);
      await query(`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON volume_confs DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.name = 'uncommitted') EXECUTE FUNCTION refuse_commit()`);
      const { answer, events } = await audited('POST', '/machine/volume', {
        token: admin,
        body: volume('uncommitted'),
      });
      expect(answer.status).toBe(500);
      expect(await query(`SELECT 1 FROM volume_confs WHERE name = 'uncommitted'`)).toEqual([]);
      expect(events).toMatchObject([{ outcome: 'failed', status: 500, error_code: 'INTERNAL' }]);
    });

    it('is required for the effect', async () => {
      await query('ALTER TABLE audit_events RENAME TO hidden_events');
      try {
        const answer = await api.call('POST', '/machine/volume', { token: admin, body: volume('untold') });
        expect(answer.status).toBe(500);
        expect(await query(`SELECT 1 FROM volume_confs WHERE name = 'untold'`)).toEqual([]);
      } finally {
        await query('ALTER TABLE hidden_events RENAME TO audit_events');
      }
    });

    it('has one row for a request that is repeated under its key', async () => {
      const request = { token: admin, body: volume('once'), headers: { 'idempotency-key': 'audit-once' } };
      const first = await audited('POST', '/machine/volume', request);
      const again = await audited('POST', '/machine/volume', request);
      expect(again.answer.body).toEqual(first.answer.body);
      expect([first.events.length, again.events.length]).toEqual([1, 0]);
      const other = await audited('POST', '/machine/volume', { ...request, body: volume('another') });
      expect(other.events).toMatchObject([{ outcome: 'refused', error_code: 'REQUEST.IDEMPOTENCY_MISMATCH' }]);
    });

    it('has one row for several transactions, and for none', async () => {
      const two = await audited('POST', '/probe/probeTwo', { token: admin });
      expect(two.events).toMatchObject([{ operation: 'probeTwo', outcome: 'done', subject: { probe_id: 4 } }]);
      const none = await audited('POST', '/probe/probeWithout', { token: admin });
      expect(none.events).toMatchObject([{ operation: 'probeWithout', outcome: 'done', subject: { probe_id: 3 } }]);
    });

    it('is followed by the refusal of a later step', async () => {
      const { events } = await audited('POST', '/probe/probeHalf', { token: admin });
      expect(events).toMatchObject([{ outcome: 'done' }, { outcome: 'refused', error_code: 'PROBE.HALF' }]);
    });

    it('names the records of changes and deletions by their query', async () => {
      await api.call('POST', '/machine/volume', { token: admin, body: volume('short-lived') });
      const path = '/machine/volume?volume_conf_name=short-lived';
      const changed = await audited('PUT', path, { token: admin, body: { description: 'changed' } });
      expect(changed.events).toMatchObject([
        {
          operation: 'updateVolumeConf',
          status: 201,
          subject: { volume_conf_name: 'short-lived', name: 'short-lived' },
        },
      ]);
      const deleted = await audited('DELETE', path, { token: admin });
      expect(deleted.events).toMatchObject([
        { operation: 'deleteVolumeConf', status: 201, subject: { volume_conf_name: 'short-lived' } },
      ]);
    });
  });

  describe('of a change', () => {
    /** The changes of an event as a caller sees them. */
    const seen = async (event: Event | undefined, token = admin, path = '/admin/audit/events') => {
      const found = await api.call('GET', `${path}?correlation_id=${String(event?.['correlation_id'])}`, { token });
      return found.body.data[0]?.changes;
    };
    const change = async (path: string, body: unknown) => {
      const { answer, events } = await audited('PUT', path, { token: admin, body });
      expect([answer.body, events]).toEqual([expect.anything(), [expect.objectContaining({ outcome: 'done' })]]);
      return events[0];
    };
    let volumeId: number;
    let volumePath: string;

    beforeAll(async () => {
      const { body } = await api.call('POST', '/machine/volume', { token: admin, body: volume('changing') });
      volumeId = Number(body.volume_conf_id);
      volumePath = `/machine/volume?volume_conf_id=${volumeId}`;
    });

    it('says which fields changed, from what to what', async () => {
      await change(volumePath, { description: 'first', size: 100 });
      const event = await change(volumePath, { name: 'changed', description: 'second', size: 100 });
      expect(await seen(event)).toEqual([
        {
          record: `volume configuration ${volumeId}`,
          fields: [
            { field: 'name', before: 'changing', after: 'changed' },
            { field: 'description', before: 'first', after: 'second' },
          ],
          omitted: 0,
        },
      ]);
      expect(await seen(await change(volumePath, { description: null }))).toMatchObject([
        { fields: [{ field: 'description', before: 'second', after: null }] },
      ]);
    });

    it('says nothing if no value changed, for a refusal, and for creations and deletions', async () => {
      expect(await seen(await change(volumePath, { name: 'changed' }))).toEqual([]);
      const refused = await audited('PUT', volumePath, { token: admin, body: { name: 'told' } });
      expect(refused.events).toMatchObject([{ outcome: 'refused', changes: null }]);
      const created = await audited('POST', '/machine/volume', { token: admin, body: volume('brief') });
      const deleted = await audited('DELETE', '/machine/volume?volume_conf_name=brief', { token: admin });
      expect([...created.events, ...deleted.events]).toMatchObject([{ changes: null }, { changes: null }]);
    });

    it('is that of the transaction that commits, once under an Idempotency-Key', async () => {
      const request = { token: admin, headers: { 'idempotency-key': 'audit-change' } };
      const { events } = await audited('POST', '/probe/probeDeadlock', request);
      expect(await seen(events[0])).toEqual([
        { record: 'probe 2', fields: [{ field: 'attempt', before: null, after: '2' }], omitted: 0 },
      ]);
      expect((await audited('POST', '/probe/probeDeadlock', request)).events).toEqual([]);
    });

    it('hides secrets, and says that they changed', async () => {
      const sealed = (text: string) => ({
        base64_encoded_credentials: {
          encoded: Buffer.from(JSON.stringify({ USERNAME: 'root@pam', PASSWORD: text })).toString('base64'),
        },
      });
      const create = { name: 'rotated', credential_type_id: 3, ...sealed('before-the-rotation') };
      const created = await audited('POST', '/credential_config', { token: admin, body: create });
      expect(created.events).toMatchObject([{ outcome: 'done', changes: null }]);
      const id = Number(created.answer.body.credentials_conf_id);
      const event = await change(`/credential_config?credentials_conf_id=${id}`, {
        name: 'turned',
        ...sealed('after-the-rotation'),
      });
      expect(await seen(event)).toMatchObject([
        {
          fields: [
            { field: 'name', before: 'rotated', after: 'turned' },
            { field: 'secret', before: '[secret]', after: '[secret]' },
          ],
        },
      ]);
      await new People(api).withPassword('forgetful', []);
      const [{ user_id: userId } = { user_id: 0 }] = await query<{ user_id: number }>(
        `SELECT user_id FROM users WHERE username = 'forgetful'`,
      );
      const reset = await change(`/platform/shared/admin/user/${userId}/password`, {
        new_password: 'A-new-passphrase-7',
      });
      expect(await seen(reset, admin, '/platform/admin/audit/events')).toEqual([
        {
          record: `user ${userId}`,
          fields: [{ field: 'password', before: '[secret]', after: '[secret]' }],
          omitted: 0,
        },
      ]);
      const everything = JSON.stringify(await query('SELECT * FROM audit_events'));
      expect(everything).not.toMatch(/before-the-rotation|after-the-rotation|A-new-passphrase-7|argon2/);
    });

    it('is shown to the tenant of the record and to the platform', async () => {
      const [owned, shared] = ['owned-by-tenant', 'owned-by-platform'];
      for (const name of [owned, shared]) await new People(api).withPassword(name, [['USER', tenantId]]);
      await query(`UPDATE users SET owner_tenant_id = $1, password_known_to_tenant = true WHERE username = $2`, [
        tenantId,
        owned,
      ]);
      const ids = await query<{ user_id: number }>(
        'SELECT user_id FROM users WHERE username = ANY($1) ORDER BY username DESC',
        [[owned, shared]],
      );
      const events = [];
      for (const { user_id: id } of ids)
        events.push(await change(`/platform/shared/admin/user/${id}`, { display_name: 'New' }));
      const fields = [{ field: 'display_name', after: 'New' }];
      expect(await seen(events[0])).toMatchObject([{ fields }]);
      expect(await seen(events[1])).toEqual([]);
      expect(await seen(events[1], admin, '/platform/admin/audit/events')).toMatchObject([{ fields }]);
    });
  });

  it('has no row for a read, even one that fails', async () => {
    for (const path of [
      '/machine/volumes',
      '/machine/volume?volume_conf_id=9999',
      '/admin/audit/events',
      '/probe/probeRead',
    ]) {
      expect((await audited('GET', path, { token: admin })).events).toEqual([]);
    }
  });

  it('contains no secret', async () => {
    const credentials = { USERNAME: 'root@pam', PASSWORD: SECRET };
    const encoded = Buffer.from(JSON.stringify(credentials)).toString('base64');
    const body = { name: 'guarded', credential_type_id: 3, base64_encoded_credentials: { encoded } };
    const { answer, events } = await audited('POST', '/credential_config', { token: admin, body });
    expect([answer.status, events]).toEqual([200, [expect.objectContaining({ operation: 'createCredentialsConf' })]]);
    const again = await audited('POST', '/credential_config', { token: admin, body });
    expect(again.events).toMatchObject([{ outcome: 'refused', error_code: 'RECORD.DUPLICATE_NAME' }]);
    await api.call('POST', '/login', { body: { username: 'admin', password: SECRET } });
    const everything = JSON.stringify(await query('SELECT * FROM audit_events'));
    for (const secret of [SECRET, encoded, ADMIN_PASSWORD, admin, admin.split('.')[2] ?? '']) {
      expect(everything).not.toContain(secret);
    }
  });

  describe('of a refusal', () => {
    let user: string;

    beforeAll(async () => {
      user = await signedIn('refused-user', 'USER');
    });

    it.each<[string, string, string, unknown, object]>([
      ['a missing role', 'POST', '/machine/volume', {}, { status: 403, error_code: 'AUTH.ROLE_REQUIRED' }],
      [
        'a missing role with an id',
        'DELETE',
        '/machine/volume?volume_conf_id=77',
        undefined,
        { subject: { volume_conf_id: 77 } },
      ],
      ['a missing tenant', 'POST', '/user/select/5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab', undefined, { status: 404 }],
      ['a bug', 'PUT', '/probe/probeBug', undefined, { status: 500, outcome: 'failed', error_code: 'INTERNAL' }],
    ])('records %s', async (_what, method, path, body, expected) => {
      const { answer, events } = await audited(method, path, { token: user, body });
      expect(events).toEqual([
        expect.objectContaining({ username: 'refused-user', outcome: 'refused', tenant_id: tenantId, ...expected }),
      ]);
      expect(events[0]?.['status']).toBe(answer.status);
    });

    it.each<[string, string, string, unknown, number]>([
      ['a bad field', 'POST', '/machine/volume', { name: 'X' }, 400],
      ['an absent record', 'DELETE', '/machine/volume?volume_conf_id=9999', undefined, 404],
      ['a taken name', 'POST', '/machine/volume', volume('told'), 409],
    ])('records %s for an administrator', async (_what, method, path, body, status) => {
      const { answer, events } = await audited(method, path, { token: admin, body });
      expect([answer.status, events]).toEqual([
        status,
        [expect.objectContaining({ outcome: 'refused', status, error_code: answer.body.error_code, user_id: 1 })],
      ]);
    });

    it('records a caller without a tenant', async () => {
      const [other] = await query<{ tenant_id: string }>(`INSERT INTO tenants (name) VALUES ('x') RETURNING tenant_id`);
      await signedIn('of-two-tenants', 'USER');
      await query(
        `INSERT INTO user_roles (user_id, role_id, tenant_id)
         SELECT u.user_id, r.role_id, $1 FROM users u, roles r WHERE u.username = 'of-two-tenants' AND r.role = 'USER'`,
        [other?.tenant_id],
      );
      const token = await api.login('of-two-tenants', PASSWORD);
      const { events } = await audited('POST', '/probe/probeTwo', { token });
      expect(events).toMatchObject([{ tenant_id: null, status: 403, error_code: 'TENANT.NOT_SELECTED' }]);
    });

    it('has no row for a request without a valid token', async () => {
      const { answer, events } = await audited('POST', '/machine/volume', { token: 'nonsense', body: {} });
      expect([answer.status, events]).toEqual([401, []]);
    });

    it('replaces characters that PostgreSQL cannot store', async () => {
      const { answer, events } = await audited('DELETE', '/machine/volume?volume_conf_name=a%00b', { token: user });
      expect([answer.status, events]).toEqual([
        403,
        [expect.objectContaining({ subject: { volume_conf_name: 'ab' } })],
      ]);
    });

    it('never changes the response', async () => {
      await query('ALTER TABLE audit_events RENAME TO hidden_events');
      try {
        const answer = await api.call('POST', '/machine/volume', { token: user, body: {} });
        expect([answer.status, answer.body.error_code]).toEqual([403, 'AUTH.ROLE_REQUIRED']);
        expect((await api.call('POST', '/probe/probeWithout', { token: admin })).status).toBe(200);
      } finally {
        await query('ALTER TABLE hidden_events RENAME TO audit_events');
      }
    });
  });

  describe('of logins', () => {
    it('records a success, and the logout', async () => {
      const login = await audited('POST', '/login', { body: { username: 'ADMIN', password: ADMIN_PASSWORD } });
      expect(login.events).toEqual([
        expect.objectContaining({
          operation: 'login',
          outcome: 'done',
          user_id: 1,
          username: 'admin',
          tenant_id: tenantId,
          session_id: expect.any(String),
          session_kind: 'login',
          ip: '127.0.0.1',
          subject: {},
        }),
      ]);
      const logout = await audited('POST', '/logout', { token: login.answer.body.token });
      expect(logout.events).toMatchObject([
        { operation: 'logout', outcome: 'done', user_id: 1, session_id: login.events[0]?.['session_id'] },
      ]);
    });

    it('records a failure with the submitted name, in the body or as HTTP Basic', async () => {
      const typed = `Nobody${'x'.repeat(300)}`;
      const authorization = `Basic ${Buffer.from(`${typed}:wrong`).toString('base64')}`;
      const { answer, events } = await audited('POST', '/login', { headers: { authorization } });
      expect([answer.status, events]).toEqual([
        401,
        [
          expect.objectContaining({
            operation: 'login',
            outcome: 'refused',
            status: 401,
            error_code: 'AUTH.UNAUTHENTICATED',
            username: typed.slice(0, 256).toLowerCase(),
            user_id: null,
            tenant_id: null,
            session_id: null,
          }),
        ],
      ]);
    });

    it('records a login in several transactions once, when it is decided', async () => {
      const done = await audited('GET', '/probe/sign-in?name=Ada');
      expect(done.events).toMatchObject([
        {
          operation: 'probeSignIn',
          outcome: 'done',
          username: 'ada',
          user_id: 8,
          session_id: SESSION,
          subject: { name: 'Ada' },
        },
      ]);
      const refused = await audited('GET', '/probe/sign-in?name=disabled');
      expect(refused.events).toMatchObject([
        { outcome: 'refused', username: 'disabled', user_id: null, session_id: null },
      ]);
      expect((await audited('GET', '/probe/sign-in?name=nobody')).events).toEqual([]);
    });

    it('cannot be filled by callers without an account', async () => {
      configure(database.url, { LOGIN_ATTEMPTS: '3', REDIS_PREFIX: `limit-${randomBytes(4).toString('hex')}` });
      const limited = await TestApi.start([IamModule, IamApiModule]);
      try {
        const statuses: number[] = [];
        for (let i = 0; i < 6; i += 1) {
          const headers = { 'x-correlation-id': 'guessing' };
          const body = { username: 'guessed', password: 'wrong' };
          statuses.push((await limited.call('POST', '/login', { headers, body })).status);
        }
        expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
        expect(await query(`SELECT status FROM audit_events WHERE correlation_id = 'guessing'`)).toEqual(
          Array.from({ length: 3 }, () => ({ status: 401 })),
        );
      } finally {
        await limited.stop();
      }
      expect((await audited('POST', '/login', { body: { password: 'nameless' } })).events).toEqual([]);
    });
  });

  describe('is append-only for the owner of the table', () => {
    it.each([
      ['UPDATE', `UPDATE audit_events SET username = 'somebody'`],
      ['UPDATE of no row', `UPDATE audit_events SET username = 'somebody' WHERE false`],
      ['DELETE', 'DELETE FROM audit_events'],
      ['TRUNCATE', 'TRUNCATE audit_events'],
      ['TRUNCATE CASCADE', 'TRUNCATE audit_events RESTART IDENTITY CASCADE'],
      [
        'INSERT that updates',
        `INSERT INTO audit_events SELECT * FROM audit_events LIMIT 1
         ON CONFLICT (audit_event_id) DO UPDATE SET outcome = 'done'`,
      ],
    ])('%s', async (_what, sql) => {
      const before = await query('SELECT * FROM audit_events ORDER BY audit_event_id');
      const [owner] = await query<{ owns: boolean }>(
        `SELECT pg_get_userbyid(relowner) = current_user AS owns FROM pg_class WHERE relname = 'audit_events'`,
      );
      expect(owner).toEqual({ owns: true });
      await expect(query(sql)).rejects.toThrow(/audit_events is append-only: (UPDATE|DELETE|TRUNCATE) is refused/);
      expect(await query('SELECT * FROM audit_events ORDER BY audit_event_id')).toEqual(before);
    });

    it('on a replica, too', async () => {
      await expect(
        api.database.transaction(async (tx) => {
          await tx.query('SET LOCAL session_replication_role = replica');
          await tx.query('DELETE FROM audit_events');
        }),
      ).rejects.toThrow('append-only');
    });

    it('and cannot be changed by an API that connects as a role without ownership', async () => {
      const role = `app_${randomBytes(6).toString('hex')}`;
      await query(`CREATE ROLE ${role} LOGIN PASSWORD 'app'`);
      await query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
      await query(`REVOKE UPDATE, DELETE ON audit_events FROM ${role}`);
      const url = new URL(database.url);
      url.username = role;
      url.password = 'app';
      configure(url.href, { DATABASE_MIGRATE_ON_START: 'false' });
      const pod = await TestApi.start([IamModule, IamApiModule]);
      try {
        const token = await pod.login();
        expect((await pod.call('POST', '/logout', { token })).status).toBe(200);
        const attempts = [
          'ALTER TABLE audit_events DISABLE TRIGGER ALL',
          'DELETE FROM audit_events',
          'DROP TABLE audit_events',
        ];
        for (const sql of attempts) await expect(pod.database.query(sql)).rejects.toMatchObject({ code: '42501' });
      } finally {
        await pod.stop();
        await query(`DROP OWNED BY ${role}`);
        await query(`DROP ROLE ${role}`);
      }
    });

    it('until an operator applies retention as docs/operations/logs.md says', async () => {
      await query(`INSERT INTO audit_events (at, operation, method, path, subject, outcome, status, correlation_id)
        VALUES (now() - interval '500 days', 'old', 'POST', '/old', '{}', 'done', 200, 'old')`);
      await api.database.transaction(async (tx) => {
        await tx.query('ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only');
        await tx.query(`DELETE FROM audit_events WHERE audit_event_id IN (SELECT audit_event_id FROM audit_events
          WHERE at < now() - interval '400 days' ORDER BY at LIMIT 20000)`);
        await tx.query('ALTER TABLE audit_events ENABLE ALWAYS TRIGGER audit_events_append_only');
      });
      expect(await query(`SELECT 1 FROM audit_events WHERE operation = 'old'`)).toEqual([]);
      await expect(query('DELETE FROM audit_events')).rejects.toThrow('append-only');
    });
  });

  describe('is read', () => {
    let otherTenant: string;
    let otherAdmin: string;

    beforeAll(async () => {
      const [row] = await query<{ tenant_id: string }>(`INSERT INTO tenants (name) VALUES ('y') RETURNING tenant_id`);
      otherTenant = row?.tenant_id ?? '';
      otherAdmin = await signedIn('other-admin', 'ADMIN', otherTenant);
      await api.call('POST', '/probe/probeTwo', { token: otherAdmin });
    });

    const list = (token: string, search = '', path = '/admin/audit/events') =>
      api.call('GET', path + search, { token });
    const PLATFORM = '/platform/admin/audit/events';

    it('by an administrator for the selected tenant', async () => {
      const { status, body } = await list(otherAdmin);
      expect(status).toBe(200);
      expect(body.data).toMatchObject([
        { operation: 'probeTwo', subject: { probe_id: 4 }, at: expect.stringMatching(/^\d{4}-.*Z$/) },
        { operation: 'login', username: 'other-admin', tenant_id: otherTenant },
      ]);
      expect(body.result_set).toEqual({ current_page: 1, total_objects: 2, total_pages: 1, limit: 100 });
      const mine = await list(admin, '?limit=1000');
      expect(new Set(mine.body.data.map(({ tenant_id }: Event) => tenant_id))).toEqual(new Set([tenantId]));
    });

    it('by a PLATFORM ADMIN for all tenants, or for one', async () => {
      const all = await list(admin, '?limit=1000', PLATFORM);
      const tenants = all.body.data.map(({ tenant_id }: Event) => tenant_id);
      expect(tenants).toEqual(expect.arrayContaining([tenantId, otherTenant, null]));
      const one = await list(admin, `?tenant_id=${otherTenant}`, PLATFORM);
      expect(one.body.data).toHaveLength(2);
    });

    it('by nobody else', async () => {
      const user = await signedIn('reader', 'CAN MANAGE CLUSTER');
      expect((await list(user)).status).toBe(403);
      expect((await list(user, '', PLATFORM)).status).toBe(403);
      expect((await list(otherAdmin, '', PLATFORM)).status).toBe(403);
      expect((await api.call('GET', '/admin/audit/events')).status).toBe(401);
    });

    it('newest first, page by page', async () => {
      const all = (await list(admin, '?limit=1000', PLATFORM)).body.data.map(
        ({ audit_event_id }: Event) => audit_event_id,
      );
      expect(all).toEqual(all.toSorted((a: number, b: number) => b - a));
      const second = await list(admin, '?limit=3&pageNumber=2', PLATFORM);
      expect(second.body.data.map(({ audit_event_id }: Event) => audit_event_id)).toEqual(all.slice(3, 6));
      expect(second.body.result_set).toMatchObject({ current_page: 2, next_page: 3, total_objects: all.length });
    });

    it('by filters', async () => {
      const all: Event[] = (await list(admin, '?limit=1000', PLATFORM)).body.data;
      const expectFilter = async (search: string, holds: (event: Event) => boolean) => {
        const { status, body } = await list(admin, `?limit=1000&${search}`, PLATFORM);
        expect([search, status]).toEqual([search, 200]);
        expect(body.data).toEqual(all.filter(holds));
        expect([search, body.data.length > 0]).toEqual([search, true]);
      };
      const middle = String(all[Math.floor(all.length / 2)]?.['at']);
      await expectFilter('user_id=1', ({ user_id }) => user_id === 1);
      await expectFilter('username=Other-Admin', ({ username }) => username === 'other-admin');
      await expectFilter('operation=login', ({ operation }) => operation === 'login');
      await expectFilter('outcome=refused', ({ outcome }) => outcome === 'refused');
      await expectFilter('outcome=FAILED&user_id=1', ({ outcome, user_id }) => outcome === 'failed' && user_id === 1);
      await expectFilter(`from=${middle}`, ({ at }) => String(at) >= middle);
      await expectFilter(`to=${middle}`, ({ at }) => String(at) <= middle);
      await expectFilter(`from=${middle}&to=${middle}`, ({ at }) => at === middle);
      await expectFilter('correlation_id=request-1', ({ correlation_id }) => correlation_id === 'request-1');
    });

    it.each([
      'outcome=perhaps',
      'from=yesterday',
      'from=2026-01-01',
      'to=2026-02-31T99:00:00Z',
      'user_id=x',
      'limit=1001',
      'tenant_id=5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab',
    ])('with a clear refusal of %s', async (search) => {
      const { status, body } = await list(otherAdmin, `?${search}`);
      expect([status, body.error_code]).toEqual([400, 'REQUEST.INVALID']);
    });

    it('from many rows by an index, without sorting and no further than needed', async () => {
      await query(
        `INSERT INTO audit_events (at, tenant_id, user_id, username, operation, method, path, subject, outcome, status, correlation_id)
         SELECT now() + n * interval '1 second', (ARRAY[$1, $2])[n % 2 + 1]::uuid, n % 50, 'user-' || n % 50,
           'op' || n % 10, 'POST', '/p', '{}', 'done', 200, 'many-' || n
         FROM generate_series(1, 30000) n`,
        [tenantId, otherTenant],
      );
      await query('ANALYZE audit_events');
      const sent: { sql: string; params: unknown[] }[] = [];
      const real = api.database.manager.query.bind(api.database.manager);
      const spy = jest.spyOn(api.database.manager, 'query').mockImplementation((sql: string, params?: unknown) => {
        if (sql.includes('audit_events')) sent.push({ sql, params: params as unknown[] });
        return real(sql, params as unknown[]);
      });
      try {
        const first = await list(otherAdmin, '?limit=100');
        expect(first.body.result_set).toMatchObject({ total_objects: 10_000, total_pages: 100, next_page: 2 });
        for (const search of ['?pageNumber=100', '?user_id=7', '?username=user-7', '?correlation_id=many-7']) {
          expect((await list(admin, search, PLATFORM)).status).toBe(200);
        }
      } finally {
        spy.mockRestore();
      }
      expect(sent).toHaveLength(10);
      for (const { sql, params } of sent) {
        const plan = JSON.stringify(await query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, params));
        expect(plan).not.toContain('Seq Scan');
        const read = [...plan.matchAll(/"Actual Rows":([\d.]+)/g)].map(([, rows]) => Number(rows));
        expect(Math.max(...read)).toBeLessThanOrEqual(10_000);
      }
      const deep = await list(admin, '?pageNumber=101', PLATFORM);
      expect([deep.status, deep.body.error_code]).toEqual([400, 'AUDIT.PAGE_TOO_DEEP']);
      const oldest = String((await list(admin, '?pageNumber=100', PLATFORM)).body.data.at(-1).at);
      const older = await list(admin, `?to=${oldest}`, PLATFORM);
      expect(older.body.data[0].at).toBe(oldest);
    });
  });
});
