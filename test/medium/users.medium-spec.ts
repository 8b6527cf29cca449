import { Config } from '../../src/config/config';
import { directory, PASSWORD, type People, refusal } from './harness/people';
import { soon } from './harness/test-api';

const USERS = '/platform/shared/admin/users';
const USER = '/platform/shared/admin/user';

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('users', () => {
  const { api, otherPod, people, own, foreign, admin, platformAdmin } = directory();

  const newAccount = (more: object = {}) => {
    const username = people.unique('new');
    return { username, email: `${username}@example.org`, password: PASSWORD, ...more };
  };
  /** Creates an account that the caller's tenant owns. */
  const owned = (held: Parameters<People['user']>[0] = [], columns: object = {}) =>
    people.user(held, { owner_tenant_id: own, ...columns });
  const nameOf = async (userId: number) =>
    (await platformAdmin.call('GET', `${USER}/${userId}`)).body.username as string;

  describe('access', () => {
    it('needs PLATFORM ADMIN, or ADMIN with the own tenant selected', async () => {
      expect((await platformAdmin.call('GET', USERS)).status).toBe(200);
      expect((await admin.call('GET', USERS)).status).toBe(200);
      const member = await people.as(await people.user([['USER', own]]), own);
      expect(refusal(await member.call('GET', USERS))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
      const unselected = await people.as(admin.userId);
      expect(refusal(await unselected.call('GET', USERS))).toEqual([403, 'TENANT.NOT_SELECTED']);
      const billing = await people.as(await people.user([['PLATFORM BILLING', null]]));
      expect((await billing.call('GET', USERS)).status).toBe(403);
    });
  });

  describe('create', () => {
    it('creates an account without a role that can log in', async () => {
      const body = { ...newAccount({ display_name: 'Ada' }), email: 'Ada@Example.org' };
      const { status, body: answer } = await admin.call('POST', USER, body);
      expect([status, answer]).toEqual([
        200,
        {
          user_id: expect.stringMatching(/^\d+$/),
          username: body.username,
          display_name: 'Ada',
          email: 'ada@example.org',
          created_by_user_id: String(admin.userId),
          modified_by_user_id: String(admin.userId),
          last_update_date: expect.any(String),
          from_date: expect.any(String),
          to_date: null,
        },
      ]);
      const token = await api.login(body.username, PASSWORD);
      const { body: roles } = await api.call('GET', '/user/info/roles', { token });
      expect(roles).toMatchObject({ user_roles: [], group_roles: [] });
    });

    it('adds the account to groups', async () => {
      const of = { owner_tenant_id: own };
      const groups = [await people.group([['USER', own]], [], of), await people.group([], [], of)];
      const { body } = await admin.call('POST', USER, newAccount({ group_ids: groups }));
      const { body: members } = await admin.call('GET', `${USERS}?group_id=${groups[0]}`);
      expect(members.data).toEqual([expect.objectContaining({ user_id: Number(body.user_id) })]);
    });

    it('refuses a taken user name or email address, even in another letter case or of a disabled account', async () => {
      const first = newAccount();
      const { body } = await admin.call('POST', USER, first);
      expect((await admin.call('PUT', `${USER}/${body.user_id}/disable`)).status).toBe(201);
      const sameName = await admin.call('POST', USER, newAccount({ username: first.username }));
      expect(refusal(sameName)).toEqual([409, 'RECORD.DUPLICATE_USERNAME']);
      const sameEmail = await admin.call('POST', USER, newAccount({ email: first.email.toUpperCase() }));
      expect(refusal(sameEmail)).toEqual([409, 'RECORD.DUPLICATE_EMAIL']);
    });

    it.each([
      ['capitals in the name', { username: 'Ada' }],
      ['a space in the name', { username: 'a da' }],
      ['no name', { username: undefined }],
      ['a long name', { username: 'a'.repeat(65) }],
      ['no address', { email: undefined }],
      ['an odd address', { email: 'nobody' }],
      ['a short password', { password: 'elevenchars' }],
      ['a long password', { password: 'x'.repeat(257) }],
      ['an empty display name', { display_name: '' }],
      ['groups twice', { group_ids: [1, 1] }],
      ['an unknown field', { roles: ['ADMIN'] }],
    ])('answers 400 to %s', async (_what, wrong) => {
      expect(refusal(await admin.call('POST', USER, newAccount(wrong)))).toEqual([400, 'REQUEST.INVALID']);
    });

    it('creates nothing if a group is unknown, of another directory or out of reach', async () => {
      const account = (groupId: number) => newAccount({ username: 'nobody', group_ids: [groupId] });
      expect(refusal(await admin.call('POST', USER, account(999_999)))).toEqual([404, 'GROUP.NOT_FOUND']);
      const external = await people.group([], [], { directory: 'ldap' });
      expect(refusal(await admin.call('POST', USER, account(external)))).toEqual([409, 'DIRECTORY.EXTERNAL']);
      const beyond = await people.group([['USER', own]]);
      expect(refusal(await admin.call('POST', USER, account(beyond)))).toEqual([403, 'AUTH.PLATFORM_ADMIN_REQUIRED']);
      expect((await admin.call('GET', '/platform/shared/admin/match/user/nobody')).status).toBe(404);
      expect((await platformAdmin.call('POST', USER, account(beyond))).status).toBe(200);
    });

    it('is refused while users come from an external directory', async () => {
      const { auth } = api.app.get(Config);
      auth.directory = 'ldap';
      try {
        expect(refusal(await platformAdmin.call('POST', USER, newAccount()))).toEqual([409, 'DIRECTORY.EXTERNAL']);
      } finally {
        auth.directory = 'local';
      }
    });

    it('creates one account for repeated requests with the same key', async () => {
      const body = newAccount();
      const create = () =>
        api.call('POST', USER, { token: admin.token, body, headers: { 'idempotency-key': 'create-1' } });
      const [first, second] = [await create(), await create()];
      expect([first.status, second.body]).toEqual([200, first.body]);
    });
  });

  describe('reads', () => {
    it('list every account, newest first, in pages', async () => {
      const ids = [await people.user(), await people.user(), await people.user()].reverse();
      const { body } = await admin.call('GET', `${USERS}?limit=2`);
      expect(body.data.map(({ user_id }: { user_id: number }) => user_id)).toEqual(ids.slice(0, 2));
      expect(body.result_set).toMatchObject({ current_page: 1, limit: 2, next_page: 2 });
      const { body: second } = await admin.call('GET', `${USERS}?limit=2&pageNumber=2`);
      expect(second.data[0]).toEqual({
        user_id: ids[2],
        username: expect.any(String),
        display_name: null,
        email: expect.any(String),
        from_date: expect.any(String),
        to_date: 'infinity',
      });
    });

    it('search a part of the name in any letter case, its wildcards taken literally', async () => {
      await people.user([], { username: 'find_me', email: 'find1@example.org' });
      await people.user([], { username: 'findxme', email: 'find2@example.org' });
      const found = async (part: string) =>
        (await admin.call('GET', `/platform/shared/admin/search/users?username=${part}`)).body.data.map(
          ({ username }: { username: string }) => username,
        );
      expect(await found('FIND_')).toEqual(['find_me']);
      expect(await found('ind')).toEqual(['findxme', 'find_me']);
      expect(await found('find%25')).toEqual([]);
      expect((await admin.call('GET', '/platform/shared/admin/search/users')).status).toBe(400);
    });

    it('find the members of a group', async () => {
      const members = [await people.user(), await people.user()];
      const group = await people.group([], members);
      const { body } = await admin.call('GET', `${USERS}?group_id=${group}`);
      expect(body.data.map(({ user_id }: { user_id: number }) => user_id)).toEqual([...members].reverse());
      const name = await nameOf(members[0]!);
      const search = await admin.call('GET', `/platform/shared/admin/search/users?username=${name}&group_id=${group}`);
      expect(search.body.data).toHaveLength(1);
      expect(refusal(await admin.call('GET', `${USERS}?group_id=999999`))).toEqual([404, 'GROUP.NOT_FOUND']);
    });

    it('by name match the whole name only', async () => {
      await people.user([], { username: 'a.b@c', email: 'match@example.org' });
      const match = (name: string) =>
        admin.call('GET', `/platform/shared/admin/match/user/${encodeURIComponent(name)}`);
      expect((await match('A.B@c')).body).toMatchObject({ username: 'a.b@c' });
      expect(refusal(await match('a.b'))).toEqual([404, 'USER.NOT_FOUND']);
    });

    it('never show a password', async () => {
      await people.givePassword(admin.userId);
      const answers = [await admin.call('GET', USERS), await admin.call('GET', `${USER}/${admin.userId}`)];
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toMatch(/password|argon/);
    });

    it('return 404 for unknown and 400 for invalid ids', async () => {
      expect(refusal(await admin.call('GET', `${USER}/999999`))).toEqual([404, 'USER.NOT_FOUND']);
      expect(refusal(await admin.call('GET', `${USER}/one`))).toEqual([400, 'REQUEST.INVALID']);
    });
  });

  describe('update', () => {
    it('changes only the fields sent', async () => {
      const userId = await owned([], { display_name: 'Before' });
      const change = (body: object) => admin.call('PUT', `${USER}/${userId}`, body);
      const email = `Changed-${userId}@Example.org`;
      const { status, body } = await change({ email });
      expect([status, body.email, body.display_name]).toEqual([201, email.toLowerCase(), 'Before']);
      expect(body.modified_by_user_id).toBe(String(admin.userId));
      expect((await change({ display_name: null })).body.display_name).toBeNull();
      expect(refusal(await change({}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
      expect(refusal(await change({ email: null }))).toEqual([400, 'REQUEST.INVALID']);
      await people.user([], { email: 'taken@example.org' });
      expect(refusal(await change({ email: 'taken@example.org' }))).toEqual([409, 'RECORD.DUPLICATE_EMAIL']);
    });

    it('and the password are managed by the external directory for its accounts', async () => {
      const userId = await people.user([], { directory: 'ldap' });
      const update = await platformAdmin.call('PUT', `${USER}/${userId}`, { display_name: 'x' });
      expect(refusal(update)).toEqual([409, 'DIRECTORY.EXTERNAL']);
      const password = await platformAdmin.call('PUT', `${USER}/${userId}/password`, { new_password: PASSWORD });
      expect(refusal(password)).toEqual([409, 'DIRECTORY.EXTERNAL']);
      expect((await platformAdmin.call('PUT', `${USER}/${userId}/disable`)).status).toBe(201);
    });
  });

  describe('an ADMIN', () => {
    const actions: [string, string, object | undefined][] = [
      ['update', '', { display_name: 'changed' }],
      ['set the password of', '/password', { new_password: PASSWORD }],
      ['disable', '/disable', undefined],
      ['enable', '/enable', undefined],
    ];

    describe.each(actions)('may %s', (_what, path, body) => {
      const prepareUser = async (userId: number) => {
        if (path === '/enable')
          await api.database.query('UPDATE users SET to_date = now() WHERE user_id = $1', [userId]);
        return userId;
      };

      it.each<[string, () => Promise<number>]>([
        ['without a role', () => owned()],
        ['with a role there', () => owned([['ADMIN', own]])],
        ['with a role that another tenant gave', () => owned([['USER', foreign]])],
        [
          'with a role that another tenant gave to a group',
          async () => {
            const userId = await owned();
            await people.group([['USER', foreign]], [userId], { owner_tenant_id: foreign });
            return userId;
          },
        ],
      ])('accounts of the own tenant %s', async (_which, make) => {
        const userId = await prepareUser(await make());
        expect((await admin.call('PUT', `${USER}/${userId}${path}`, body)).status).toBe(201);
      });

      it.each<[string, () => Promise<number>]>([
        ['of the platform without a role', () => people.user()],
        ['of the platform, though all its roles are in the own tenant', () => people.user([['USER', own]])],
        ['of the platform with a platform-wide role', () => people.user([['PLATFORM BILLING', null]])],
        ['of another tenant without a role', () => people.user([], { owner_tenant_id: foreign })],
        ['of another tenant with a role in the own', () => people.user([['USER', own]], { owner_tenant_id: foreign })],
        [
          'of the platform in a group of the own tenant',
          async () => {
            const userId = await people.user();
            await people.group([['USER', own]], [userId], { owner_tenant_id: own });
            return userId;
          },
        ],
      ])('no account %s, but a PLATFORM ADMIN may', async (_which, make) => {
        const userId = await prepareUser(await make());
        const answer = await admin.call('PUT', `${USER}/${userId}${path}`, body);
        expect(refusal(answer)).toEqual([403, 'AUTH.PLATFORM_ADMIN_REQUIRED']);
        expect((await platformAdmin.call('PUT', `${USER}/${userId}${path}`, body)).status).toBe(201);
      });
    });
  });

  describe('a new password', () => {
    it('ends every session on every pod and replaces the old password', async () => {
      const userId = await owned([['USER', own]]);
      await people.givePassword(userId);
      const { token } = await people.as(userId, own);
      const warm = await Promise.all([api, otherPod].map((pod) => pod.call('GET', '/user/info', { token })));
      expect(warm.map(({ status }) => status)).toEqual([200, 200]);
      const set = await admin.call('PUT', `${USER}/${userId}/password`, { new_password: 'another long password' });
      expect([set.status, set.body]).toEqual([201, { message: expect.any(String) }]);
      expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
      await soon(async () => {
        const answer = await otherPod.call('GET', '/user/info', { token });
        expect([answer.status, answer.body.error]).toEqual([401, 'The session was ended. Log in again.']);
      });
      const username = await nameOf(userId);
      const old = await api.call('POST', '/login', { body: { username, password: PASSWORD } });
      expect(old.status).toBe(401);
      await expect(api.login(username, 'another long password')).resolves.toEqual(expect.any(String));
    });

    it('refuses a login that was checked against the old password', async () => {
      const userId = await people.user([['USER', own]]);
      await people.givePassword(userId);
      const username = await nameOf(userId);
      const runner = api.database.createQueryRunner();
      await runner.startTransaction();
      try {
        await runner.query(`UPDATE users SET password_hash = 'changed' WHERE user_id = $1`, [userId]);
        const login = api.call('POST', '/login', { body: { username, password: PASSWORD } });
        await soon(async () => {
          const waiting = await api.database.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          expect(waiting).toHaveLength(1);
        });
        await runner.commitTransaction();
        expect((await login).status).toBe(401);
      } finally {
        if (runner.isTransactionActive) await runner.rollbackTransaction();
        await runner.release();
      }
      const sessions = await api.database.query('SELECT 1 FROM sessions WHERE user_id = $1', [userId]);
      expect(sessions).toEqual([]);
    });
  });

  describe('disabling', () => {
    it('shuts the account out at once; enabling does not revive its sessions', async () => {
      const userId = await owned([['USER', own]]);
      await people.givePassword(userId);
      const username = await nameOf(userId);
      const { token } = await people.as(userId, own);
      expect((await otherPod.call('GET', '/user/info', { token })).status).toBe(200);
      const disabled = await admin.call('PUT', `${USER}/${userId}/disable`);
      expect([disabled.status, disabled.body.to_date]).toEqual([201, expect.any(String)]);
      expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
      await soon(async () => expect((await otherPod.call('GET', '/user/info', { token })).status).toBe(401));
      expect((await api.call('POST', '/login', { body: { username, password: PASSWORD } })).status).toBe(401);
      const read = await admin.call('GET', `${USER}/${userId}`);
      expect(new Date(read.body.to_date as string).getTime()).toBeLessThanOrEqual(Date.now());

      const enabled = await admin.call('PUT', `${USER}/${userId}/enable`);
      expect([enabled.status, enabled.body.to_date]).toEqual([201, null]);
      expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
      await expect(api.login(username, PASSWORD)).resolves.toEqual(expect.any(String));
    });

    it('is refused for the own account and if it changes nothing', async () => {
      const itself = await admin.call('PUT', `${USER}/${admin.userId}/disable`);
      expect(refusal(itself)).toEqual([409, 'USER.OWN_ACCOUNT']);
      const userId = await owned();
      expect(refusal(await admin.call('PUT', `${USER}/${userId}/enable`))).toEqual([409, 'USER.INVALID_STATE']);
      expect((await admin.call('PUT', `${USER}/${userId}/disable`)).status).toBe(201);
      expect(refusal(await admin.call('PUT', `${USER}/${userId}/disable`))).toEqual([409, 'USER.INVALID_STATE']);
    });
  });
});
