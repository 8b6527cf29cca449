import { OwnersOfUsersAndGroups1795350452427 } from '../../src/database/migrations/1795350452427-owners-of-users-and-groups';
import { type Caller, directory, PASSWORD, type People, refusal, ROLE_ID } from './harness/people';
import { inTurns } from './harness/turns';

const USER = '/platform/shared/admin/user';
const GROUP = '/platform/shared/admin/group';
const PLATFORM = '/platform/admin/tenant';

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('owners of users and groups', () => {
  const { api, people, own, foreign, admin, platformAdmin } = directory();

  const ownerOf = async (kind: 'user' | 'group', id: number | string): Promise<string | null> => {
    const sql = `SELECT owner_tenant_id FROM ${kind}s WHERE ${kind}_id = $1`;
    const [row] = await api.database.query<{ owner_tenant_id: string | null }[]>(sql, [id]);
    return row!.owner_tenant_id;
  };
  const owned = (held: Parameters<People['user']>[0] = [], tenantId = own) =>
    people.user(held, { owner_tenant_id: tenantId });
  const give = (kind: 'user' | 'group', id: number, role: keyof typeof ROLE_ID, tenantId?: string) =>
    platformAdmin.call(
      'POST',
      `${PLATFORM}/${kind}/${id}/role/${ROLE_ID[role]}${tenantId === undefined ? '' : `?tenant_id=${tenantId}`}`,
    );
  const account = (more: object = {}) => {
    const username = people.unique('made');
    return { username, email: `${username}@example.org`, password: PASSWORD, ...more };
  };
  const group = (more: object = {}) => ({ group_name: people.unique('made'), ...more });

  describe('of new ones', () => {
    it.each<[string, 'user' | 'group', () => object]>([
      ['account', 'user', account],
      ['group', 'group', group],
    ])('%s belongs to the tenant of its ADMIN, or to the platform', async (_what, kind, body) => {
      const make = async (caller: Caller) => {
        const answer = await caller.call('POST', kind === 'user' ? USER : GROUP, body());
        return ownerOf(kind, answer.body[`${kind}_id`]);
      };
      expect(await make(admin)).toBe(own);
      expect(await make(platformAdmin)).toBeNull();
      expect(await make(await people.as(platformAdmin.userId, own))).toBeNull();
      const both = await people.user([
        ['ADMIN', own],
        ['PLATFORM ADMIN', null],
      ]);
      expect(await make(await people.as(both, own))).toBeNull();
    });

    it('can give the requested roles in the selected tenant', async () => {
      const role_ids = [ROLE_ID.USER, String(ROLE_ID['CAN MANAGE CLUSTER'])];
      const user = await admin.call('POST', USER, account({ role_ids }));
      const made = await admin.call('POST', GROUP, group({ role_ids, user_ids: [Number(user.body.user_id)] }));
      expect([user.status, made.status]).toEqual([200, 200]);
      const roles = await admin.call('GET', `/admin/user/${user.body.user_id}/roles`);
      expect(roles.body).toMatchObject({
        user_roles: ['CAN MANAGE CLUSTER', 'USER'],
        group_roles: ['CAN MANAGE CLUSTER', 'USER'],
      });
      const events = await api.database.query(
        `SELECT operation, subject->>'role_ids' AS role_ids FROM audit_events WHERE user_id = $1 AND outcome = 'done'
         ORDER BY audit_event_id DESC LIMIT 2`,
        [admin.userId],
      );
      const named = `${ROLE_ID.USER},${ROLE_ID['CAN MANAGE CLUSTER']}`;
      expect(events).toEqual([
        { operation: 'createGroup', role_ids: named },
        { operation: 'createUser', role_ids: named },
      ]);
    });

    it('can give platform-wide roles only as PLATFORM ADMIN, and tenant roles only with a tenant selected', async () => {
      const role_ids = [ROLE_ID['PLATFORM BILLING']];
      const { body } = await platformAdmin.call('POST', USER, account({ role_ids }));
      const token = await api.login(
        (await platformAdmin.call('GET', `${USER}/${body.user_id}`)).body.username as string,
        PASSWORD,
      );
      expect((await api.call('GET', '/user/info/roles', { token })).body.user_roles).toEqual(['PLATFORM BILLING']);
      for (const [path, make] of [
        [USER, account],
        [GROUP, group],
      ] as const) {
        const attempt = async (caller: Caller, ids: unknown) =>
          refusal(await caller.call('POST', path, make({ role_ids: ids })));
        expect(await attempt(admin, role_ids)).toEqual([403, 'ROLE.PLATFORM_WIDE']);
        expect(await attempt(platformAdmin, [ROLE_ID.USER])).toEqual([403, 'TENANT.NOT_SELECTED']);
        expect(await attempt(admin, [99])).toEqual([404, 'ROLE.NOT_FOUND']);
        expect(await attempt(admin, [ROLE_ID.USER, ROLE_ID.USER])).toEqual([400, 'REQUEST.INVALID']);
        expect(await attempt(admin, ['ADMIN'])).toEqual([400, 'REQUEST.INVALID']);
      }
    });

    it('give the roles of a group to signed-in members at their next request', async () => {
      const userId = await people.user([['USER', own]]);
      const member = await people.as(userId, own);
      expect((await member.call('GET', '/admin/users')).status).toBe(403);
      const made = await admin.call('POST', GROUP, group({ role_ids: [ROLE_ID.ADMIN], user_ids: [userId] }));
      expect(made.status).toBe(200);
      expect((await member.call('GET', '/admin/users')).status).toBe(200);
    });
  });

  describe('change if the platform gives', () => {
    const places: [string, keyof typeof ROLE_ID, () => string | undefined, () => string | null][] = [
      ['a role in the owning tenant: no', 'ADMIN', () => own, () => own],
      ['a role in another tenant', 'USER', () => foreign, () => null],
      ['a platform-wide role', 'PLATFORM BILLING', () => undefined, () => null],
    ];

    it.each(places)('an account %s', async (_what, role, place, expected) => {
      const userId = await owned([['USER', own]]);
      expect((await give('user', userId, role, place())).status).toBe(200);
      expect(await ownerOf('user', userId)).toBe(expected());
    });

    it.each(places)('a group %s', async (_what, role, place, expected) => {
      const groupId = await people.group([['USER', own]], [], { owner_tenant_id: own });
      expect((await give('group', groupId, role, place())).status).toBe(200);
      expect(await ownerOf('group', groupId)).toBe(expected());
    });

    it.each(places)('a group of the platform, with members of a tenant, %s', async (_what, role, place, expected) => {
      const userId = await owned([['USER', own]]);
      const groupId = await people.group([], [userId]);
      expect((await give('group', groupId, role, place())).status).toBe(200);
      expect(await ownerOf('user', userId)).toBe(expected());
    });

    it.each(places)('membership in a group with %s', async (_what, role, place, expected) => {
      const userId = await owned([['USER', own]]);
      const groupId = await people.group([[role, place() ?? null]]);
      expect((await platformAdmin.call('POST', `${GROUP}/${groupId}/user/${userId}`)).status).toBe(200);
      expect(await ownerOf('user', userId)).toBe(expected());
    });

    it('a role in the tenant that a PLATFORM ADMIN has selected', async () => {
      const userId = await owned();
      const selected = await people.as(platformAdmin.userId, foreign);
      expect((await selected.call('POST', `/admin/user/${userId}/role/${ROLE_ID.USER}`)).status).toBe(200);
      expect(await ownerOf('user', userId)).toBeNull();
    });

    it('a role in another tenant: sessions, tokens and password stay, and no tenant is preferred', async () => {
      const { body } = await admin.call('POST', USER, account({ role_ids: [ROLE_ID.USER] }));
      const userId = Number(body.user_id);
      const token = await api.login(body.username as string, PASSWORD);
      expect((await give('user', userId, 'USER', foreign)).status).toBe(200);
      expect((await api.call('GET', '/user/info', { token })).body.tenant_id).toBe(own);
      const next = await api.login(body.username as string, PASSWORD);
      expect((await api.call('GET', '/user/info', { token: next })).body.tenant_id).toBeNull();
    });

    it('a platform-wide role, after a PLATFORM ADMIN has set the password of what is the platform’s: it stays', async () => {
      const userId = await owned();
      await give('user', userId, 'USER', foreign);
      const set = { new_password: PASSWORD };
      expect((await platformAdmin.call('PUT', `${USER}/${userId}/password`, set)).status).toBe(201);
      expect((await give('user', userId, 'PLATFORM ADMIN')).status).toBe(200);
      const { username } = (await platformAdmin.call('GET', `${USER}/${userId}`)).body;
      await expect(api.login(username as string, PASSWORD)).resolves.toEqual(expect.any(String));
      // The tenant's ADMIN could have set the password again until the role was given.
      const tenantOwned = await owned();
      await platformAdmin.call('PUT', `${USER}/${tenantOwned}/password`, set);
      await give('user', tenantOwned, 'PLATFORM ADMIN');
      const [row] = await api.database.query('SELECT password_hash FROM users WHERE user_id = $1', [tenantOwned]);
      expect(row).toEqual({ password_hash: null });
    });

    it('a platform-wide role to a group: members added by the platform stay', async () => {
      const [known, chosen] = [await people.user(), await people.user()];
      const groupId = await people.group([], [known]);
      await api.database.query(
        'INSERT INTO group_users (group_id, user_id, granted_by_tenant_id) VALUES ($1, $2, $3)',
        [groupId, chosen, own],
      );
      expect((await give('group', groupId, 'PLATFORM BILLING')).status).toBe(200);
      const { body } = await platformAdmin.call('GET', `/platform/shared/admin/users?group_id=${groupId}`);
      expect(body.data).toEqual([expect.objectContaining({ user_id: known })]);
    });

    it('nothing if the role is already held', async () => {
      const userId = await owned([['USER', foreign]]);
      expect(refusal(await give('user', userId, 'USER', foreign))).toEqual([409, 'ROLE.ALREADY_HELD']);
      expect(await ownerOf('user', userId)).toBe(own);
    });
  });

  it('do not change if an ADMIN gives a role', async () => {
    const [userId, groupId] = [await owned([], foreign), await people.group([], [], { owner_tenant_id: foreign })];
    expect((await admin.call('POST', `/admin/user/${userId}/role/${ROLE_ID.ADMIN}`)).status).toBe(200);
    expect((await admin.call('POST', `/admin/group/${groupId}/role/${ROLE_ID.ADMIN}`)).status).toBe(200);
    const made = await admin.call('POST', GROUP, group({ role_ids: [ROLE_ID.USER], user_ids: [userId] }));
    expect((await admin.call('DELETE', `${GROUP}/${made.body.group_id}/user/${userId}`)).status).toBe(201);
    expect((await admin.call('POST', `${GROUP}/${made.body.group_id}/user/${userId}`)).status).toBe(200);
    expect([await ownerOf('user', userId), await ownerOf('group', groupId)]).toEqual([foreign, foreign]);
  });

  it('are shown, but without the name of another tenant', async () => {
    const told = async (userId: number) => (await admin.call('PUT', `${USER}/${userId}/disable`)).body.error as string;
    expect(await told(await people.user())).toContain('belongs to the platform');
    expect(await told(await owned([], foreign))).toBe(
      'The account belongs to another tenant. Only its administrators and a PLATFORM ADMIN may change it.',
    );
  });

  it('become the platform when their tenant is deleted, so that somebody can manage them', async () => {
    const tenantId = await people.tenant();
    const closing = await people.admin(tenantId);
    const user = await closing.call('POST', USER, account({ role_ids: [ROLE_ID.USER] }));
    const made = await closing.call('POST', GROUP, group());
    expect((await platformAdmin.call('DELETE', `${PLATFORM}?tenant_id=${tenantId}`)).status).toBe(201);
    expect(await ownerOf('user', user.body.user_id)).toBeNull();
    expect(await ownerOf('group', made.body.group_id)).toBeNull();
    // A password known to its ADMINs is not valid with a platform-wide role.
    await give('user', Number(user.body.user_id), 'PLATFORM ADMIN');
    const login = { body: { username: user.body.username, password: PASSWORD } };
    expect((await api.call('POST', '/login', login)).status).toBe(401);
  });

  it.each<[string, string, () => object]>([
    ['account', USER, account],
    ['group', GROUP, group],
  ])('cannot be a tenant that is being deleted: an %s is not created there', async (_what, path, body) => {
    const tenantId = await people.tenant();
    const closing = await people.admin(tenantId);
    const [deleted, made] = await inTurns(
      api,
      ['SELECT 1 FROM tenants WHERE tenant_id = $1 FOR UPDATE', tenantId],
      [
        () => platformAdmin.call('DELETE', `${PLATFORM}?tenant_id=${tenantId}`),
        () => closing.call('POST', path, body()),
      ],
    );
    expect([deleted!.status, ...refusal(made!)]).toEqual([201, 404, 'TENANT.NOT_FOUND']);
  });

  it('keep at least one PLATFORM ADMIN who can log in', async () => {
    const mine = { to_date: new Date() };
    await api.database.query(`UPDATE user_roles SET to_date = now() WHERE tenant_id IS NULL AND user_id <> $1`, [
      platformAdmin.userId,
    ]);
    const userId = await owned();
    await people.user([['PLATFORM ADMIN', null]], mine);
    expect((await give('user', userId, 'PLATFORM ADMIN')).status).toBe(200);
    const path = `${PLATFORM}/user/${platformAdmin.userId}/role/${ROLE_ID['PLATFORM ADMIN']}`;
    expect(refusal(await platformAdmin.call('DELETE', path))).toEqual([409, 'USER.LAST_PLATFORM_ADMIN']);
    await platformAdmin.call('PUT', `${USER}/${userId}/password`, { new_password: PASSWORD });
    expect((await platformAdmin.call('DELETE', path)).status).toBe(201);
    await people.giveRole(platformAdmin.userId, 'PLATFORM ADMIN', null);
  });

  describe('login', () => {
    const selected = async (userId: number): Promise<string | null> => {
      await people.givePassword(userId);
      const { username } = (await platformAdmin.call('GET', `${USER}/${userId}`)).body;
      const token = await api.login(username as string, PASSWORD);
      return (await api.call('GET', '/user/info', { token })).body.tenant_id;
    };

    it('selects no tenant if the platform gave two', async () => {
      expect(
        await selected(
          await people.user([
            ['USER', own],
            ['USER', foreign],
          ]),
        ),
      ).toBeNull();
    });

    it('selects the only tenant, even if the platform gave it', async () => {
      const userId = await owned();
      const other = await people.admin(foreign);
      expect((await other.call('POST', `/admin/user/${userId}/role/${ROLE_ID.USER}`)).status).toBe(200);
      expect(await selected(userId)).toBe(foreign);
      // It selects the owning tenant once there is one.
      expect((await admin.call('POST', `/admin/user/${userId}/role/${ROLE_ID.USER}`)).status).toBe(200);
      expect(await selected(userId)).toBe(own);
    });

    it('counts roles of a group as given by the platform if the platform added the user', async () => {
      const userId = await people.user([['USER', own]]);
      const other = await people.admin(foreign);
      const groupId = Number((await other.call('POST', GROUP, group({ role_ids: [ROLE_ID.USER] }))).body.group_id);
      expect((await platformAdmin.call('POST', `${GROUP}/${groupId}/user/${userId}`)).status).toBe(200);
      expect(await selected(userId)).toBeNull();
    });

    it('skips a closed tenant', async () => {
      const closed = await people.tenant();
      const userId = await people.user([
        ['USER', own],
        ['USER', closed],
      ]);
      expect(await selected(userId)).toBeNull();
      await api.database.query('UPDATE tenants SET to_date = now() WHERE tenant_id = $1', [closed]);
      expect(await selected(userId)).toBe(own);
    });
  });

  describe('of existing accounts and groups', () => {
    it('are derived from their roles', async () => {
      const users = {
        'in one tenant': await people.user([['USER', own]]),
        'in one tenant, disabled': await people.user([['USER', own]], { to_date: new Date() }),
        'in two tenants': await people.user([
          ['USER', own],
          ['USER', foreign],
        ]),
        'with a platform-wide role': await people.user([
          ['ADMIN', own],
          ['PLATFORM BILLING', null],
        ]),
        'without a role': await people.user(),
        'from outside': await people.user([['USER', own]], { directory: 'ldap' }),
        'through a group': await people.user(),
        'of another tenant through a group': await people.user([['USER', own]]),
        'platform-wide through a group': await people.user([['USER', own]]),
      };
      const groups = {
        'in one tenant': await people.group([['USER', own]], [users['through a group']]),
        'of another': await people.group([['USER', foreign]], [users['of another tenant through a group']]),
        'platform-wide': await people.group([['PLATFORM ADMIN', null]], [users['platform-wide through a group']]),
        'without a role': await people.group(),
        'from outside': await people.group([['USER', own]], [], { directory: 'ldap' }),
        'with a permission elsewhere': await people.group([['USER', own]]),
      };
      await people.workspacePermission(foreign, groups['with a permission elsewhere']);
      const runner = api.database.createQueryRunner();
      try {
        const migration = new OwnersOfUsersAndGroups1795350452427();
        await runner.startTransaction();
        await migration.down(runner);
        await migration.up(runner);
        await runner.commitTransaction();
      } finally {
        await runner.release();
      }
      const owners = async (kind: 'user' | 'group', ids: Record<string, number>) =>
        Object.fromEntries(
          await Promise.all(Object.entries(ids).map(async ([name, id]) => [name, await ownerOf(kind, id)] as const)),
        );
      expect(await owners('user', users)).toEqual({
        'in one tenant': own,
        'in one tenant, disabled': own,
        'in two tenants': null,
        'with a platform-wide role': null,
        'without a role': null,
        'from outside': null,
        'through a group': own,
        'of another tenant through a group': null,
        'platform-wide through a group': null,
      });
      expect(await owners('group', groups)).toEqual({
        'in one tenant': own,
        'of another': foreign,
        'platform-wide': null,
        'without a role': null,
        'from outside': null,
        'with a permission elsewhere': null,
      });
      const known = await api.database.query<{ user_id: number }[]>(
        'SELECT user_id FROM users WHERE password_known_to_tenant AND user_id = ANY($1)',
        [Object.values(users)],
      );
      const names = Object.entries(users).filter(([, id]) => known.some(({ user_id }) => user_id === id));
      expect(names.map(([name]) => name)).toEqual([
        'in one tenant',
        'in one tenant, disabled',
        'in two tenants',
        'without a role',
        'through a group',
        'of another tenant through a group',
      ]);
    });
  });
});
