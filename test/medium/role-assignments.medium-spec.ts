import { PgListener } from '../../src/platform/kernel/notifications/pg-listener';
import { type Caller, directory, refusal, ROLE_ID } from './harness/people';
import { soon, type TestApi } from './harness/test-api';

const PLATFORM = '/platform/admin/tenant';

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('role assignments', () => {
  const { api, otherPod, people, own, foreign, admin, platformAdmin } = directory();

  const audit = (caller: Caller) => ({
    created_by_user_id: String(caller.userId),
    modified_by_user_id: String(caller.userId),
    last_update_date: expect.any(String),
    from_date: expect.any(String),
    to_date: null,
  });

  describe('in the selected tenant', () => {
    const userRole = (userId: number, role: keyof typeof ROLE_ID) => `/admin/user/${userId}/role/${ROLE_ID[role]}`;
    const groupRole = (groupId: number, role: keyof typeof ROLE_ID) => `/admin/group/${groupId}/role/${ROLE_ID[role]}`;

    it('are added to and removed from a user once', async () => {
      const userId = await people.user();
      const { status, body } = await admin.call('POST', userRole(userId, 'CAN MANAGE CLUSTER'));
      expect([status, body]).toEqual([
        200,
        {
          user_roles_id: expect.stringMatching(/^\d+$/),
          tenant_id: own,
          user_id: String(userId),
          role_id: String(ROLE_ID['CAN MANAGE CLUSTER']),
          ...audit(admin),
        },
      ]);
      expect(refusal(await admin.call('POST', userRole(userId, 'CAN MANAGE CLUSTER')))).toEqual([
        409,
        'ROLE.ALREADY_HELD',
      ]);
      const removed = await admin.call('DELETE', userRole(userId, 'CAN MANAGE CLUSTER'));
      expect([removed.status, removed.body]).toEqual([201, { message: expect.any(String) }]);
      expect(refusal(await admin.call('DELETE', userRole(userId, 'CAN MANAGE CLUSTER')))).toEqual([
        404,
        'ROLE.NOT_HELD',
      ]);
      expect((await admin.call('POST', userRole(userId, 'CAN MANAGE CLUSTER'))).status).toBe(200);
    });

    it('are added to and removed from a group once', async () => {
      const groupId = await people.group();
      const { status, body } = await admin.call('POST', groupRole(groupId, 'USER'));
      expect([status, body]).toEqual([
        200,
        {
          group_roles_id: expect.stringMatching(/^\d+$/),
          tenant_id: own,
          group_id: String(groupId),
          role_id: String(ROLE_ID.USER),
          ...audit(admin),
        },
      ]);
      expect(refusal(await admin.call('POST', groupRole(groupId, 'USER')))).toEqual([409, 'ROLE.ALREADY_HELD']);
      expect((await admin.call('DELETE', groupRole(groupId, 'USER'))).status).toBe(201);
      expect(refusal(await admin.call('DELETE', groupRole(groupId, 'USER')))).toEqual([404, 'ROLE.NOT_HELD']);
    });

    it('do not change those of another tenant', async () => {
      const userId = await people.user([['USER', foreign]]);
      expect(refusal(await admin.call('DELETE', userRole(userId, 'USER')))).toEqual([404, 'ROLE.NOT_HELD']);
      expect((await admin.call('POST', userRole(userId, 'USER'))).status).toBe(200);
      expect((await admin.call('DELETE', userRole(userId, 'USER'))).status).toBe(201);
      const { body } = await platformAdmin.call('GET', `${PLATFORM}/${foreign}/user/${userId}/roles`);
      expect(body.user_roles).toEqual(['USER']);
    });

    it('refuse platform-wide roles, and missing records', async () => {
      const [userId, groupId] = [await people.user(), await people.group()];
      for (const role of ['PLATFORM ADMIN', 'PLATFORM BILLING'] as const) {
        for (const path of [userRole(userId, role), groupRole(groupId, role)]) {
          expect(refusal(await admin.call('POST', path))).toEqual([403, 'ROLE.PLATFORM_WIDE']);
          expect(refusal(await admin.call('DELETE', path))).toEqual([403, 'ROLE.PLATFORM_WIDE']);
        }
      }
      expect(refusal(await admin.call('POST', `/admin/user/${userId}/role/99`))).toEqual([404, 'ROLE.NOT_FOUND']);
      expect(refusal(await admin.call('POST', userRole(999_999, 'USER')))).toEqual([404, 'USER.NOT_FOUND']);
      expect(refusal(await admin.call('POST', groupRole(999_999, 'USER')))).toEqual([404, 'GROUP.NOT_FOUND']);
    });

    it('require an administrator with the tenant selected', async () => {
      const userId = await people.user();
      const manager = await people.as(await people.user([['CAN MANAGE CLUSTER', own]]), own);
      expect(refusal(await manager.call('POST', userRole(userId, 'USER')))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
      const unselected = await platformAdmin.call('POST', userRole(userId, 'USER'));
      expect(refusal(unselected)).toEqual([403, 'TENANT.NOT_SELECTED']);
      const inTenant = await people.as(platformAdmin.userId, own);
      expect((await inTenant.call('POST', userRole(userId, 'USER'))).body.tenant_id).toBe(own);
    });

    it('do not remove the last ADMIN role of the caller', async () => {
      const tenantId = await people.tenant();
      const caller = await people.admin(tenantId);
      await people.admin(tenantId);
      expect(refusal(await caller.call('DELETE', userRole(caller.userId, 'ADMIN')))).toEqual([409, 'ROLE.OWN_ADMIN']);
      // If the role is also held through a group, the direct one can be removed, but then not the group's.
      const groupId = await people.group([['ADMIN', tenantId]], [caller.userId], { owner_tenant_id: tenantId });
      expect((await caller.call('DELETE', userRole(caller.userId, 'ADMIN'))).status).toBe(201);
      expect(refusal(await caller.call('DELETE', groupRole(groupId, 'ADMIN')))).toEqual([409, 'ROLE.OWN_ADMIN']);
      const leave = await caller.call('DELETE', `/platform/shared/admin/group/${groupId}/user/${caller.userId}`);
      expect(refusal(leave)).toEqual([409, 'ROLE.OWN_ADMIN']);
      expect((await caller.call('GET', '/admin/users')).status).toBe(200);
    });
  });

  describe('take effect at the next request on every pod', () => {
    it.each<[string, (userId: number) => Promise<[path: string, wakeUp: string]>]>([
      ['of a user', async (userId) => [`/admin/user/${userId}/role/${ROLE_ID.ADMIN}`, `user:${userId}`]],
      ['of a group', async (userId) => [`/admin/group/${await people.group([], [userId])}/role/${ROLE_ID.ADMIN}`, '']],
    ])('%s', async (_whose, grant) => {
      const userId = await people.user([['USER', own]]);
      const { token } = await people.as(userId, own);
      const [path, wakeUp] = await grant(userId);
      const heard: string[] = [];
      const stop = otherPod.app.get(PgListener).on('session', (payload) => heard.push(payload));
      const statusAt = async (pod: TestApi) => (await pod.call('GET', '/admin/users', { token })).status;
      expect([await statusAt(api), await statusAt(otherPod)]).toEqual([403, 403]);
      for (const [method, expected] of [
        ['POST', 200],
        ['DELETE', 403],
      ] as const) {
        expect((await admin.call(method, path)).status).toBeLessThan(300);
        expect(await statusAt(api)).toBe(expected);
        await soon(async () => expect(await statusAt(otherPod)).toBe(expected));
      }
      stop();
      expect(heard).toEqual([wakeUp, wakeUp]);
    });
  });

  describe('of the platform', () => {
    const role = (kind: 'user' | 'group', id: number, name: keyof typeof ROLE_ID, tenantId?: string) =>
      `${PLATFORM}/${kind}/${id}/role/${ROLE_ID[name]}${tenantId === undefined ? '' : `?tenant_id=${tenantId}`}`;

    it.each(['user', 'group'] as const)('give a %s a role in any tenant, and remove it', async (kind) => {
      const id = kind === 'user' ? await people.user() : await people.group();
      const { status, body } = await platformAdmin.call('POST', role(kind, id, 'USER', foreign));
      expect([status, body]).toEqual([
        200,
        {
          [`${kind}_roles_id`]: expect.stringMatching(/^\d+$/),
          [`${kind}_id`]: String(id),
          tenant_id: foreign,
          role_id: String(ROLE_ID.USER),
          ...audit(platformAdmin),
        },
      ]);
      const again = await platformAdmin.call('POST', role(kind, id, 'USER', foreign));
      expect(refusal(again)).toEqual([409, 'ROLE.ALREADY_HELD']);
      expect(refusal(await platformAdmin.call('DELETE', role(kind, id, 'USER', own)))).toEqual([404, 'ROLE.NOT_HELD']);
      expect((await platformAdmin.call('DELETE', role(kind, id, 'USER', foreign))).status).toBe(201);
    });

    it.each(['user', 'group'] as const)('give a %s a platform-wide role, and remove it', async (kind) => {
      const id = kind === 'user' ? await people.user() : await people.group();
      const { status, body } = await platformAdmin.call('POST', role(kind, id, 'PLATFORM BILLING'));
      expect([status, body.tenant_id]).toEqual([200, null]);
      const again = await platformAdmin.call('POST', role(kind, id, 'PLATFORM BILLING'));
      expect(refusal(again)).toEqual([409, 'ROLE.ALREADY_HELD']);
      expect((await platformAdmin.call('DELETE', role(kind, id, 'PLATFORM BILLING'))).status).toBe(201);
    });

    it('need a tenant for roles of tenants and none for the others', async () => {
      const id = await people.user();
      const call = async (path: string) => refusal(await platformAdmin.call('POST', path));
      expect(await call(role('user', id, 'USER'))).toEqual([400, 'ROLE.TENANT_REQUIRED']);
      expect(await call(role('user', id, 'PLATFORM BILLING', own))).toEqual([400, 'ROLE.PLATFORM_WIDE']);
      expect(await call(role('user', id, 'USER', 'nonsense'))).toEqual([400, 'REQUEST.INVALID']);
      const unknown = '5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab';
      expect(await call(role('user', id, 'USER', unknown))).toEqual([404, 'TENANT.NOT_FOUND']);
      const closed = await people.tenant();
      await api.database.query('UPDATE tenants SET to_date = now() WHERE tenant_id = $1', [closed]);
      expect(await call(role('user', id, 'USER', closed))).toEqual([404, 'TENANT.NOT_FOUND']);
      expect(await call(`${PLATFORM}/user/${id}/role/99`)).toEqual([404, 'ROLE.NOT_FOUND']);
      expect(refusal(await admin.call('POST', role('user', id, 'USER', own)))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
    });
  });

  describe('reads return', () => {
    let tenantId: string;
    let reader: Caller;
    let direct: number;
    let through: number;
    let group: number;
    let outsider: number;
    let foreignGroup: number;

    beforeAll(async () => {
      tenantId = await people.tenant();
      direct = await people.user([
        ['USER', tenantId],
        ['CAN MANAGE CLUSTER', tenantId],
        ['USER', foreign],
        ['PLATFORM BILLING', null],
      ]);
      through = await people.user([['ADMIN', foreign]]);
      group = await people.group(
        [
          ['USER', tenantId],
          ['ADMIN', foreign],
        ],
        [through],
      );
      outsider = await people.user([['PLATFORM ADMIN', null]]);
      foreignGroup = await people.group([['USER', foreign]], [direct]);
      reader = await people.as(await people.user([['ADMIN', tenantId]]), tenantId);
    });

    /** The twelve reads in both spellings, which also differ in the path of one group. */
    const spellings: [string, () => [caller: Caller, path: string, oneGroup: string]][] = [
      ['/admin', () => [reader, '/admin', '/groups']],
      [`${PLATFORM}/{tenant_id}`, () => [platformAdmin, `${PLATFORM}/${tenantId}`, '/group']],
    ];

    describe.each(spellings)('%s', (_path, spelling) => {
      const get = async (path: string) => {
        const [caller, base] = spelling();
        return caller.call('GET', `${base}${path}`);
      };
      const usersOf = (body: { data: { user_id: number }[] }) => body.data.map(({ user_id }) => user_id);
      const groupsOf = (body: { data: { group_id: number }[] }) => body.data.map(({ group_id }) => group_id);

      it('users with a role in the tenant, directly or through a group', async () => {
        expect(usersOf((await get('/users')).body)).toEqual([reader.userId, through, direct]);
        const { body } = await get('/users?limit=1&pageNumber=2');
        expect(usersOf(body)).toEqual([through]);
        expect(body.result_set).toEqual({
          current_page: 2,
          total_objects: 3,
          total_pages: 3,
          limit: 1,
          next_page: 3,
        });
      });

      it('users by part of the name', async () => {
        const { username } = (await get(`/user/${direct}`)).body;
        expect(usersOf((await get(`/users/search?username=${username.toUpperCase()}`)).body)).toEqual([direct]);
        expect(usersOf((await get('/users/search?username=%25')).body)).toEqual([]);
        expect((await get('/users/search')).status).toBe(400);
      });

      it('one user, with tenant and platform-wide roles', async () => {
        expect((await get(`/user/${direct}`)).body).toMatchObject({ user_id: direct, to_date: 'infinity' });
        expect((await get(`/user/${direct}/roles`)).body).toEqual({
          user_id: direct,
          username: expect.any(String),
          user_roles: ['CAN MANAGE CLUSTER', 'USER', 'PLATFORM BILLING'],
          group_roles: [],
        });
        expect((await get(`/user/${through}/roles`)).body).toMatchObject({ user_roles: [], group_roles: ['USER'] });
        for (const path of [`/user/${outsider}`, `/user/${outsider}/roles`, '/user/999999']) {
          expect(refusal(await get(path))).toEqual([404, 'USER.NOT_FOUND']);
        }
      });

      it('the roles of all users', async () => {
        const { body } = await get('/roles/users');
        expect(
          body.data.map(({ user_id, user_roles, group_roles }: Record<string, unknown>) => [
            user_id,
            user_roles,
            group_roles,
          ]),
        ).toEqual([
          [reader.userId, ['ADMIN'], []],
          [through, [], ['USER']],
          [direct, ['CAN MANAGE CLUSTER', 'USER', 'PLATFORM BILLING'], []],
        ]);
      });

      it('the users of a role', async () => {
        const { status, body } = await get(`/roles/users/${ROLE_ID.USER}`);
        expect([status, body]).toEqual([
          200,
          {
            data: {
              role_id: ROLE_ID.USER,
              role: 'USER',
              description: expect.any(String),
              users: [
                expect.objectContaining({ user_id: through }),
                {
                  user_id: direct,
                  username: expect.any(String),
                  display_name: null,
                  email: expect.any(String),
                  from_date: expect.any(String),
                  to_date: 'infinity',
                },
              ],
            },
            result_set: { current_page: 1, total_objects: 2, total_pages: 1, limit: 100 },
          },
        ]);
        const admins = (await get(`/roles/users/${ROLE_ID.ADMIN}`)).body.data.users;
        expect(admins).toEqual([expect.objectContaining({ user_id: reader.userId })]);
        expect((await get(`/roles/users/${ROLE_ID['PLATFORM ADMIN']}`)).body.data.users).toEqual([]);
        expect(refusal(await get('/roles/users/99'))).toEqual([404, 'ROLE.NOT_FOUND']);
      });

      it('groups with a role in the tenant', async () => {
        const [, , oneGroup] = spelling();
        expect(groupsOf((await get('/groups')).body)).toEqual([group]);
        const { body } = await get(`${oneGroup}/${group}`);
        expect(body).toMatchObject({ group_id: group, group_mail: null });
        expect(groupsOf((await get(`/groups/search?groupname=${body.group_name}`)).body)).toEqual([group]);
        expect((await get('/groups/search')).status).toBe(400);
        expect((await get(`/groups/${group}/roles`)).body).toEqual({
          group_id: group,
          group_name: body.group_name,
          roles: ['USER'],
        });
        for (const path of [`${oneGroup}/${foreignGroup}`, `/groups/${foreignGroup}/roles`]) {
          expect(refusal(await get(path))).toEqual([404, 'GROUP.NOT_FOUND']);
        }
      });

      it('the roles of all groups and the groups of a role', async () => {
        expect((await get('/roles/groups')).body.data).toEqual([
          { group_id: group, group_name: expect.any(String), roles: ['USER'] },
        ]);
        const { body } = await get(`/roles/groups/${ROLE_ID.USER}`);
        expect(body).toEqual({
          data: {
            role_id: ROLE_ID.USER,
            role: 'USER',
            description: expect.any(String),
            groups: [expect.objectContaining({ group_id: group, group_object_id: null })],
          },
          result_set: { current_page: 1, total_objects: 1, total_pages: 1, limit: 100 },
        });
        expect((await get(`/roles/groups/${ROLE_ID.ADMIN}`)).body.data.groups).toEqual([]);
        expect(refusal(await get('/roles/groups/99'))).toEqual([404, 'ROLE.NOT_FOUND']);
      });
    });

    it('a 404 for a missing or closed tenant', async () => {
      const closed = await people.tenant();
      await api.database.query('UPDATE tenants SET to_date = now() WHERE tenant_id = $1', [closed]);
      const paths = [
        ...['users', 'users/search?username=a', `user/${direct}`, `user/${direct}/roles`, 'roles/users'],
        ...['roles/users/1', 'groups', 'groups/search?groupname=a', `group/${group}`, `groups/${group}/roles`],
        ...['roles/groups', 'roles/groups/1'],
      ];
      for (const path of paths) {
        const answer = await platformAdmin.call('GET', `${PLATFORM}/${closed}/${path}`);
        expect([path, ...refusal(answer)]).toEqual([path, 404, 'TENANT.NOT_FOUND']);
      }
      const unknown = '5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab';
      expect((await platformAdmin.call('GET', `${PLATFORM}/${unknown}/users`)).status).toBe(404);
      expect(refusal(await reader.call('GET', `${PLATFORM}/${tenantId}/users`))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
    });
  });

  describe('of the last PLATFORM ADMIN', () => {
    const platformRole = (kind: 'user' | 'group', id: number) =>
      `${PLATFORM}/${kind}/${id}/role/${ROLE_ID['PLATFORM ADMIN']}`;
    const LAST = [409, 'USER.LAST_PLATFORM_ADMIN'];

    /** Removes the role from all users, so that only those who get it afterwards hold it. */
    beforeEach(async () => {
      await api.database.query(
        `UPDATE user_roles SET to_date = now() WHERE tenant_id IS NULL AND to_date = 'infinity'`,
      );
      await api.database.query(
        `UPDATE group_roles SET to_date = now() WHERE tenant_id IS NULL AND to_date = 'infinity'`,
      );
    });

    afterAll(async () => {
      Object.assign(platformAdmin, await people.platformAdmin());
    });

    it('cannot be removed, even if disabled accounts also hold it', async () => {
      const last = await people.platformAdmin();
      await people.user([['PLATFORM ADMIN', null]], { to_date: new Date() });
      const path = platformRole('user', last.userId);
      expect(refusal(await last.call('DELETE', path))).toEqual(LAST);
      const second = await people.platformAdmin();
      expect((await last.call('DELETE', path)).status).toBe(201);
      expect(refusal(await last.call('DELETE', platformRole('user', second.userId)))).toEqual([
        403,
        'AUTH.ROLE_REQUIRED',
      ]);
    });

    it('cannot be lost through a group', async () => {
      const userId = await people.user();
      const groupId = await people.group([['PLATFORM ADMIN', null]], [userId]);
      const last = await people.as(userId);
      expect(refusal(await last.call('DELETE', platformRole('group', groupId)))).toEqual(LAST);
      const membership = `/platform/shared/admin/group/${groupId}/user/${userId}`;
      expect(refusal(await last.call('DELETE', membership))).toEqual(LAST);
      expect(refusal(await last.call('DELETE', `/platform/shared/admin/group/${groupId}`))).toEqual([
        409,
        'GROUP.IN_USE',
      ]);
      const second = await people.platformAdmin();
      expect((await second.call('DELETE', membership)).status).toBe(201);
    });

    it('is kept by one of two users who remove it from each other at once', async () => {
      for (let round = 0; round < 8; round += 1) {
        const pair = [await people.platformAdmin(), await people.platformAdmin()] as const;
        const [first, second] = pair;
        const paths: [string, string] =
          round % 2 === 0
            ? [platformRole('user', second.userId), platformRole('user', first.userId)]
            : [
                `/platform/shared/admin/user/${second.userId}/disable`,
                `/platform/shared/admin/user/${first.userId}/disable`,
              ];
        const method = round % 2 === 0 ? 'DELETE' : 'PUT';
        // Both pods have the roles in their caches, so that both requests are admitted.
        await Promise.all([
          api.call('GET', '/user/info', { token: first.token }),
          otherPod.call('GET', '/user/info', { token: second.token }),
        ]);
        const answers = await Promise.all([
          api.call(method, paths[0], { token: first.token }),
          otherPod.call(method, paths[1], { token: second.token }),
        ]);
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
        const left = await api.database.query(
          `SELECT 1 FROM user_roles ur JOIN users u USING (user_id) WHERE ur.role_id = 0 AND ur.tenant_id IS NULL
             AND ur.to_date = 'infinity' AND u.to_date = 'infinity'`,
        );
        expect(left).toHaveLength(1);
        await api.database.query(
          `UPDATE user_roles SET to_date = now() WHERE tenant_id IS NULL AND to_date = 'infinity'`,
        );
      }
    });
  });
});
