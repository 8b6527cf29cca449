import { type Caller, directory, PASSWORD, refusal, ROLE_ID } from '../medium/harness/people';
import type { TestAnswer } from '../medium/harness/test-api';
import { inTurns } from '../medium/harness/turns';

const ADMIN = '/platform/shared/admin';
const PLATFORM = '/platform/admin/tenant';
const OUT_OF_REACH = [403, 'AUTH.PLATFORM_ADMIN_REQUIRED'];

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('an ADMIN who tries to reach beyond their own tenant', () => {
  const { api, people, own, foreign, admin, platformAdmin } = directory();
  let otherAdmin: Caller;

  beforeAll(async () => {
    otherAdmin = await people.admin(foreign);
  });

  const account = (more: object = {}) => {
    const username = people.unique('account');
    return { username, email: `${username}@example.org`, password: PASSWORD, ...more };
  };
  async function newAccount(maker: Caller, more: object = {}): Promise<{ username: string; userId: number }> {
    const body = account(more);
    const answer = await maker.call('POST', `${ADMIN}/user`, body);
    expect(answer.status).toBe(200);
    return { username: body.username, userId: Number(answer.body.user_id) };
  }
  async function newGroup(maker: Caller, more: object = {}): Promise<number> {
    const answer = await maker.call('POST', `${ADMIN}/group`, {
      group_name: people.unique('group'),
      ...more,
    });
    expect(answer.status).toBe(200);
    return Number(answer.body.group_id);
  }
  const setPassword = (caller: Caller, userId: number, password: string) =>
    caller.call('PUT', `${ADMIN}/user/${userId}/password`, { new_password: password });
  const put = (caller: Caller, groupId: number, userId: number) =>
    caller.call('POST', `${ADMIN}/group/${groupId}/user/${userId}`);
  const platformRole = (kind: 'user' | 'group', id: number, role: keyof typeof ROLE_ID, tenantId?: string) =>
    platformAdmin.call(
      'POST',
      `${PLATFORM}/${kind}/${id}/role/${ROLE_ID[role]}${tenantId === undefined ? '' : `?tenant_id=${tenantId}`}`,
    );
  const logIn = (username: string, password = PASSWORD) => api.call('POST', '/login', { body: { username, password } });
  async function tenantAtLogin(username: string): Promise<string | null> {
    const token = await api.login(username, PASSWORD);
    return (await api.call('GET', '/user/info', { token })).body.tenant_id;
  }

  it.each<[string, () => Caller]>([
    ['the platform', () => platformAdmin],
    ['another tenant', () => otherAdmin],
  ])('cannot set the password of a fresh account of %s and wait until it is given a role', async (_of, maker) => {
    const { userId } = await newAccount(maker());
    const own = `${ADMIN}/user/${userId}`;
    expect(refusal(await setPassword(admin, userId, 'a password to come back with'))).toEqual(OUT_OF_REACH);
    expect(refusal(await admin.call('PUT', own, { email: 'mine@example.org' }))).toEqual(OUT_OF_REACH);
    expect(refusal(await admin.call('PUT', `${own}/disable`))).toEqual(OUT_OF_REACH);
  });

  it.each<[string, () => Caller]>([
    ['the platform', () => platformAdmin],
    ['another tenant', () => otherAdmin],
  ])('cannot put a friend into a fresh group of %s that is given a role later', async (_of, maker) => {
    const groupId = await newGroup(maker());
    const friend = await newAccount(admin);
    expect(refusal(await put(admin, groupId, friend.userId))).toEqual(OUT_OF_REACH);
    const alike = await admin.call('POST', `${ADMIN}/user`, account({ group_ids: [groupId] }));
    expect(refusal(alike)).toEqual(OUT_OF_REACH);
  });

  describe('whose account gets a platform-wide role', () => {
    it('no longer knows its password nor holds a session of it', async () => {
      const { username, userId } = await newAccount(admin);
      const token = await api.login(username, PASSWORD);
      expect((await platformRole('user', userId, 'PLATFORM ADMIN')).status).toBe(200);
      expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
      expect((await logIn(username)).status).toBe(401);
      expect(refusal(await setPassword(admin, userId, PASSWORD))).toEqual(OUT_OF_REACH);
      expect((await setPassword(platformAdmin, userId, 'of the platform alone')).status).toBe(201);
      expect((await logIn(username, 'of the platform alone')).status).toBe(200);
    });

    it('keeps no access by giving it a role in another tenant first', async () => {
      const { username, userId } = await newAccount(admin);
      expect((await platformRole('user', userId, 'USER', foreign)).status).toBe(200);
      expect(refusal(await setPassword(admin, userId, PASSWORD))).toEqual(OUT_OF_REACH);
      expect((await platformRole('user', userId, 'PLATFORM BILLING')).status).toBe(200);
      expect((await logIn(username)).status).toBe(401);
    });

    it.each(['the password first', 'the role first'] as const)(
      'nor by setting it at that moment: %s',
      async (order) => {
        const { username, userId } = await newAccount(admin);
        const set = () => setPassword(admin, userId, 'set at that moment');
        const give = () => platformRole('user', userId, 'PLATFORM ADMIN');
        const lock = 'SELECT 1 FROM users WHERE user_id = $1 FOR UPDATE';
        const first = order === 'the password first';
        const answers = await inTurns(api, [lock, userId], first ? [set, give] : [give, set]);
        expect(answers.map(({ status }) => status)).toEqual(first ? [201, 200] : [200, 403]);
        expect((await logIn(username, 'set at that moment')).status).toBe(401);
      },
    );

    it.each<[string, (userId: number) => Promise<void>]>([
      [
        'that gets the role later',
        async (userId) => {
          const groupId = await newGroup(platformAdmin, { user_ids: [userId] });
          expect((await platformRole('group', groupId, 'PLATFORM ADMIN')).status).toBe(200);
        },
      ],
      [
        'that holds the role already',
        async (userId) => {
          const groupId = await newGroup(platformAdmin, { role_ids: [ROLE_ID['PLATFORM ADMIN']] });
          expect((await put(platformAdmin, groupId, userId)).status).toBe(200);
        },
      ],
      [
        'that is made with it',
        async (userId) => {
          await newGroup(platformAdmin, { role_ids: [ROLE_ID['PLATFORM ADMIN']], user_ids: [userId] });
        },
      ],
    ])('does not get in through a group of the platform %s', async (_which, giveThroughGroup) => {
      const { username, userId } = await newAccount(admin);
      const token = await api.login(username, PASSWORD);
      await giveThroughGroup(userId);
      expect((await api.call('GET', '/user/info', { token })).status).toBe(401);
      expect((await logIn(username)).status).toBe(401);
      expect(refusal(await setPassword(admin, userId, PASSWORD))).toEqual(OUT_OF_REACH);
    });
  });

  describe('whose group gets', () => {
    it('a platform-wide role has no accomplice in it and can add none', async () => {
      const { userId: friend } = await newAccount(admin);
      const groupId = await newGroup(admin, { user_ids: [friend] });
      expect((await platformRole('group', groupId, 'PLATFORM ADMIN')).status).toBe(200);
      const members = await platformAdmin.call('GET', `${ADMIN}/users?group_id=${groupId}`);
      expect(members.body.data).toEqual([]);
      expect(refusal(await put(admin, groupId, friend))).toEqual(OUT_OF_REACH);
    });

    it.each(['the friend first', 'the role first'] as const)('cannot add one at the same moment: %s', async (order) => {
      const { userId: friend } = await newAccount(admin);
      const groupId = await newGroup(admin);
      const give = () => platformRole('group', groupId, 'PLATFORM ADMIN');
      const lock = 'SELECT 1 FROM groups WHERE group_id = $1 FOR UPDATE';
      const first = order === 'the friend first';
      const join = () => put(admin, groupId, friend);
      const answers = await inTurns(api, [lock, groupId], first ? [join, give] : [give, join]);
      expect(answers.map(({ status }) => status)).toEqual(first ? [200, 200] : [200, 403]);
      const members = await platformAdmin.call('GET', `${ADMIN}/users?group_id=${groupId}`);
      expect(members.body.data).toEqual([]);
    });

    it('a role in another tenant can add no more members and loses control of the accounts in it', async () => {
      const { userId } = await newAccount(admin);
      const groupId = await newGroup(admin, { user_ids: [userId] });
      expect((await platformRole('group', groupId, 'ADMIN', foreign)).status).toBe(200);
      const { userId: friend } = await newAccount(admin);
      expect(refusal(await put(admin, groupId, friend))).toEqual(OUT_OF_REACH);
      expect(refusal(await setPassword(admin, userId, PASSWORD))).toEqual(OUT_OF_REACH);
      // The members of the group get no further access either.
      expect((await platformRole('group', groupId, 'PLATFORM BILLING')).status).toBe(200);
      const members = await platformAdmin.call('GET', `${ADMIN}/users?group_id=${groupId}`);
      expect(members.body.data).toEqual([]);
    });
  });

  it('cannot assign a platform-wide role to a new account or group', async () => {
    for (const role of ['PLATFORM ADMIN', 'PLATFORM BILLING'] as const) {
      const role_ids = [ROLE_ID[role]];
      const user = await admin.call('POST', `${ADMIN}/user`, account({ role_ids }));
      const group = await admin.call('POST', `${ADMIN}/group`, { group_name: 'odd', role_ids });
      expect([refusal(user), refusal(group)]).toEqual([
        [403, 'ROLE.PLATFORM_WIDE'],
        [403, 'ROLE.PLATFORM_WIDE'],
      ]);
    }
  });

  describe('gives another tenant’s user a role', () => {
    const ways: [string, (userId: number) => Promise<void>][] = [
      [
        'directly',
        async (userId) => {
          expect((await otherAdmin.call('POST', `/admin/user/${userId}/role/${ROLE_ID.ADMIN}`)).status).toBe(200);
        },
      ],
      [
        'by membership',
        async (userId) => {
          const groupId = await newGroup(otherAdmin, { role_ids: [ROLE_ID.USER] });
          expect((await put(otherAdmin, groupId, userId)).status).toBe(200);
        },
      ],
      [
        'by a group made with it',
        async (userId) => {
          await newGroup(otherAdmin, { role_ids: [ROLE_ID.USER], user_ids: [userId] });
        },
      ],
      [
        'by a membership, in a group to which the platform gives the role',
        async (userId) => {
          const groupId = await newGroup(otherAdmin, { user_ids: [userId] });
          expect((await platformRole('group', groupId, 'USER', foreign)).status).toBe(200);
        },
      ],
      [
        'by a role of the group that the user is in',
        async (userId) => {
          const [row] = await api.database.query<{ group_id: number }[]>(
            'SELECT group_id FROM group_users WHERE user_id = $1',
            [userId],
          );
          const path = `/admin/group/${row?.group_id}/role/${ROLE_ID.USER}`;
          expect((await otherAdmin.call('POST', path)).status).toBe(200);
        },
      ],
    ];

    it.each(ways)('%s: the user stays in the tenant’s reach and finds it selected', async (_how, giveRole) => {
      const { username, userId } = await newAccount(admin, { role_ids: [ROLE_ID.USER] });
      await newGroup(admin, { user_ids: [userId] });
      expect(await tenantAtLogin(username)).toBe(own);
      await giveRole(userId);
      expect(await tenantAtLogin(username)).toBe(own);
      expect(refusal(await setPassword(otherAdmin, userId, 'of another tenant'))).toEqual(OUT_OF_REACH);
      expect((await setPassword(admin, userId, PASSWORD)).status).toBe(201);
    });

    const firstGivers: [string, (userId: number) => Promise<TestAnswer>][] = [
      ['the platform', (userId) => platformRole('user', userId, 'USER', own)],
      ['a tenant', (userId) => admin.call('POST', `/admin/user/${userId}/role/${ROLE_ID.USER}`)],
    ];

    describe.each(firstGivers)('after %s gave a user of the platform one', (_who, giveFirst) => {
      it.each(ways)('%s: the user finds the first tenant selected', async (_how, giveRole) => {
        const { username, userId } = await newAccount(platformAdmin);
        await newGroup(platformAdmin, { user_ids: [userId] });
        expect((await giveFirst(userId)).status).toBe(200);
        await giveRole(userId);
        expect(await tenantAtLogin(username)).toBe(own);
      });
    });
  });

  it('does not move a PLATFORM ADMIN into their tenant', async () => {
    const { username, userId } = await newAccount(platformAdmin, { role_ids: [ROLE_ID['PLATFORM ADMIN']] });
    expect((await admin.call('POST', `/admin/user/${userId}/role/${ROLE_ID.USER}`)).status).toBe(200);
    expect(await tenantAtLogin(username)).toBeNull();
  });
});
