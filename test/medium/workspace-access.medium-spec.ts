import type { Role } from '../../src/platform/kernel/auth/roles';
import { type Caller, People, refusal } from './harness/people';
import { wholeApi } from './harness/test-api';

const [VIEW, RUN, EDIT, MANAGE] = [0, 1, 2, 3];
/** The number of users in the test of many. */
const MANY_GROUPS = 100;
const MANY_USERS = 3_000;

interface Named {
  username?: string;
  group_name?: string;
}

interface PermissionOfAnswer {
  name: string;
  users?: Named[];
  groups?: Named[];
}

// Real: the whole API and PostgreSQL.
describe('the permissions on a workspace', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenant: string;
  let foreign: string;
  let owner: Caller;
  let workspaceId: number;
  let made = 0;

  beforeAll(async () => {
    [tenant, foreign] = [await people.tenant(), await people.tenant()];
    owner = await member();
  });

  beforeEach(async () => {
    made += 1;
    const { body } = await owner.call('POST', '/workspace', { name: `workspace-${made}`, description: 'of a test' });
    workspaceId = Number(body.workspace_id);
  });

  const member = async (role: Role = 'USER') => people.as(await people.user([[role, tenant]]), tenant);
  const at = (path: string) => `/ac/workspace/${workspaceId}${path}`;
  const give = (kind: 'user' | 'group', id: number, permission: number, caller = owner) =>
    caller.call('POST', at(`/${kind}`), { [`${kind}_id`]: id, permission_id: permission });
  const take = (kind: 'user' | 'group', id: number, permission: number, caller = owner) =>
    caller.call('DELETE', at(`/${kind}/${id}/permission/${permission}`));
  /** Returns the caller's permission, from the workspace itself and from the list of workspaces. */
  const reach = async (caller: Caller) => {
    const asked = `workspace_id=${workspaceId}`;
    const [get, put, list, grant] = await Promise.all([
      caller.call('GET', `/workspace?${asked}`),
      caller.call('PUT', `/workspace?${asked}`, { description: 'changed' }),
      caller.call('GET', '/workspaces'),
      caller.call('POST', at('/user'), { user_id: 1e9, permission_id: VIEW }),
    ]);
    const listed = list.body.data.some(({ workspace_id: id }: { workspace_id: number }) => id === workspaceId);
    return { view: get.status, edit: put.status, manage: grant.status, listed };
  };
  const nothing = { view: 403, edit: 403, manage: 403, listed: false };

  async function names(path: string): Promise<Record<string, string[]>> {
    const { body } = await owner.call('GET', at(path));
    const permissions: PermissionOfAnswer[] = [body.data.permission].flat();
    return Object.fromEntries(
      permissions.map(({ name, users = [], groups = [] }) => [
        name,
        [...users, ...groups].map(({ username, group_name: group }) => username ?? group ?? ''),
      ]),
    );
  }

  const nameOf = async (userId: number): Promise<string> =>
    (await api.database.query('SELECT username FROM users WHERE user_id = $1', [userId]))[0].username;

  it('are listed as in the built-in lookup', async () => {
    const { body } = await owner.call('GET', '/workspace/permissions');
    expect(
      body.map(({ permission_id, name }: { permission_id: number; name: string }) => [permission_id, name]),
    ).toEqual([
      [VIEW, 'VIEW'],
      [RUN, 'RUN'],
      [EDIT, 'EDIT'],
      [MANAGE, 'MANAGE'],
    ]);
    expect((await owner.call('GET', `/workspace/permission/${EDIT}`)).body).toEqual(body[EDIT]);
    expect(refusal(await owner.call('GET', '/workspace/permission/9'))).toEqual([
      404,
      'WORKSPACE_PERMISSION.NOT_FOUND',
    ]);
  });

  it('apply from the next request on, each with those it includes, until they are removed', async () => {
    const caller = await member();
    expect(await reach(caller)).toEqual(nothing);
    await give('user', caller.userId, VIEW);
    expect(await reach(caller)).toEqual({ view: 200, edit: 403, manage: 403, listed: true });
    await give('user', caller.userId, EDIT);
    expect(await reach(caller)).toEqual({ view: 200, edit: 201, manage: 403, listed: true });
    await give('user', caller.userId, MANAGE);
    expect(await reach(caller)).toEqual({ view: 200, edit: 201, manage: 404, listed: true });
    expect(await take('user', caller.userId, MANAGE)).toMatchObject({
      status: 201,
      body: { message: expect.any(String) },
    });
    expect(await reach(caller)).toEqual(nothing);
  });

  it('can come through groups, and end with the membership', async () => {
    const caller = await member();
    const group = await people.group([['USER', tenant]], [caller.userId]);
    await give('group', group, EDIT);
    expect(await reach(caller)).toEqual({ view: 200, edit: 201, manage: 403, listed: true });
    await api.database.query('UPDATE group_users SET to_date = now() WHERE group_id = $1', [group]);
    expect(await reach(caller)).toEqual(nothing);
  });

  it('are limited to one direct permission per user: another one replaces it, the same one is a 409', async () => {
    const userId = await people.user([['USER', tenant]]);
    const given = await give('user', userId, VIEW);
    expect(given).toMatchObject({
      status: 200,
      body: {
        auth_workspace_user_id: expect.stringMatching(/^\d+$/),
        workspace_id: String(workspaceId),
        user_id: String(userId),
        auth_workspace_perm_id: String(VIEW),
        tenant_id: tenant,
        created_by_user_id: String(owner.userId),
        to_date: null,
      },
    });
    expect(refusal(await give('user', userId, VIEW))).toEqual([409, 'WORKSPACE_PERMISSION.ALREADY_HELD']);
    expect((await give('user', userId, RUN)).body.auth_workspace_perm_id).toBe(String(RUN));
    const kept = await api.database.query(
      `SELECT permission_id, to_date = 'infinity' AS current, modified_by_user_id AS by FROM workspace_users
       WHERE user_id = $1 ORDER BY auth_workspace_user_id`,
      [userId],
    );
    expect(kept).toEqual([
      { permission_id: VIEW, current: false, by: owner.userId },
      { permission_id: RUN, current: true, by: owner.userId },
    ]);
  });

  it('stay one if many are given concurrently, each of which is set or already held', async () => {
    const userId = await people.user([['USER', tenant]]);
    const permissions = Array.from({ length: 25 }, () => [VIEW, RUN, EDIT, MANAGE]).flat();
    const given = await Promise.all(permissions.map((each) => give('user', userId, each)));
    expect(given.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const current = await api.database.query(
      `SELECT 1 FROM workspace_users WHERE user_id = $1 AND to_date = 'infinity'`,
      [userId],
    );
    expect(current).toHaveLength(1);
  });

  it('name the one that counts and its source', async () => {
    const userId = await people.user([['USER', tenant]]);
    const [weak, strong] = [
      await people.group([['USER', tenant]], [userId]),
      await people.group([['USER', tenant]], [userId]),
    ];
    await give('user', userId, RUN);
    await give('group', weak, VIEW);
    await give('group', strong, MANAGE);
    const { body } = await owner.call('GET', at(`/user/${userId}/permission`));
    expect(body).toMatchObject({
      user_id: userId,
      username: await nameOf(userId),
      workspace: { workspace_id: workspaceId, name: `workspace-${made}`, description: 'of a test' },
      tenant_id: tenant,
      effective_permission: { auth_workspace_perm_id: MANAGE, name: 'MANAGE' },
      user_permission: { permission: { name: 'RUN' }, created_by: { user_id: owner.userId }, to_date: 'infinity' },
      group_permission: [
        { group_id: strong, permission: { name: 'MANAGE' } },
        { group_id: weak, permission: { name: 'VIEW' } },
      ],
    });
    await take('group', strong, MANAGE);
    await take('group', weak, VIEW);
    expect((await owner.call('GET', at(`/user/${userId}/permission`))).body).toMatchObject({
      effective_permission: { name: 'RUN' },
      group_permission: null,
    });
    expect((await owner.call('GET', at(`/group/${weak}/permission`))).status).toBe(404);
    await give('group', weak, EDIT);
    await take('user', userId, RUN);
    const { body: throughGroup } = await owner.call('GET', at(`/user/${userId}/permission`));
    expect(throughGroup).toMatchObject({ effective_permission: { name: 'EDIT' }, user_permission: null });
    expect((await owner.call('GET', at(`/group/${weak}/permission`))).body).toMatchObject({
      group_id: weak,
      tenant_id: tenant,
      group_permission: { group_id: weak, permission: { name: 'EDIT' } },
    });
  });

  it('list each user once, with the strongest, and each group', async () => {
    const [direct, both, member_] = [
      await people.user([['USER', tenant]]),
      await people.user([['USER', tenant]]),
      await people.user([['USER', tenant]]),
    ];
    const group = await people.group([['USER', tenant]], [both, member_], { group_name: `analysts-${made}` });
    const other = await people.group([['USER', tenant]], [], { group_name: `others-${made}` });
    await give('user', direct, VIEW);
    await give('user', both, RUN);
    await give('group', group, EDIT);
    await give('group', other, VIEW);
    const [ownerName, directName, bothName, memberName] = await Promise.all(
      [owner.userId, direct, both, member_].map(nameOf),
    );
    const all = { VIEW: [directName], RUN: [], EDIT: [memberName, bothName], MANAGE: [ownerName] };
    expect(await names('/users')).toEqual(all);
    expect(await names('/users/permission')).toEqual(all);
    expect(await names(`/users?group_id=${group}`)).toEqual({ ...all, VIEW: [], MANAGE: [] });
    expect(await names(`/users?group_id=${other}`)).toEqual({ VIEW: [], RUN: [], EDIT: [], MANAGE: [] });
    const ofEdit = { EDIT: all.EDIT };
    expect(await names(`/users/permission?permission_id=${EDIT}`)).toEqual(ofEdit);
    expect(await names(`/users/permission/${EDIT}`)).toEqual(ofEdit);
    expect(await names(`/users/search?username=${String(bothName).toUpperCase()}`)).toMatchObject({
      EDIT: [bothName],
      VIEW: [],
    });
    expect(await names(`/users/permission/search?username=${bothName}&permission_id=${RUN}`)).toEqual({ RUN: [] });
    expect(await names('/groups')).toEqual({
      VIEW: [`others-${made}`],
      RUN: [],
      EDIT: [`analysts-${made}`],
      MANAGE: [],
    });
    expect(await names(`/groups?user_id=${both}`)).toMatchObject({ VIEW: [], EDIT: [`analysts-${made}`] });
    expect(await names('/groups/search?groupname=ANALYST')).toMatchObject({ VIEW: [], EDIT: [`analysts-${made}`] });
    expect(await names(`/groups/permission?permission_id=${VIEW}`)).toEqual({ VIEW: [`others-${made}`] });
    expect(await names('/groups/permission/search?groupname=other')).toMatchObject({ VIEW: [`others-${made}`] });
    expect(await names(`/groups/permission/${MANAGE}`)).toEqual({ MANAGE: [] });
    const { body } = await owner.call('GET', at(`/users/permission/${EDIT}?limit=1`));
    expect(body).toMatchObject({
      data: { workspace_id: workspaceId, workspace_name: `workspace-${made}`, permission: { permission_id: EDIT } },
      result_set: { total_objects: 2, total_pages: 2, next_page: 2 },
    });
    const beyond = await owner.call('GET', at('/users?limit=2&pageNumber=9'));
    expect(beyond.body).toMatchObject({ result_set: { total_objects: 4, total_pages: 2 } });
    expect(beyond.body.result_set).not.toHaveProperty('next_page');
    expect(refusal(await owner.call('GET', at('/users/permission/77')))).toEqual([
      404,
      'WORKSPACE_PERMISSION.NOT_FOUND',
    ]);
  });

  it('are found by exact names of their holders, and nobody else', async () => {
    const userId = await people.user([['USER', tenant]]);
    const name = await nameOf(userId);
    const match = (kind: string, value: string) => owner.call('GET', at(`/${kind}/match/${encodeURIComponent(value)}`));
    expect(refusal(await match('user', name))).toEqual([404, 'USER.NOT_FOUND']);
    await give('user', userId, VIEW);
    expect((await match('user', name)).body).toMatchObject({ user_id: userId, username: name });
    expect(refusal(await match('user', name.slice(0, -1)))).toEqual([404, 'USER.NOT_FOUND']);
    const group = await people.group([['USER', tenant]], [], { group_name: `exact-${made}` });
    expect(refusal(await match('group', `exact-${made}`))).toEqual([404, 'GROUP.NOT_FOUND']);
    await give('group', group, VIEW);
    expect((await match('group', `exact-${made}`)).body).toEqual([expect.objectContaining({ group_id: group })]);
    expect(refusal(await match('group', '%'))).toEqual([404, 'GROUP.NOT_FOUND']);
  });

  it('are given only to users with a role in the tenant, and only by users with MANAGE', async () => {
    const stranger = await people.user([['USER', foreign]]);
    const strangers = await people.group([['USER', foreign]]);
    expect(refusal(await give('user', stranger, VIEW))).toEqual([404, 'USER.NOT_FOUND']);
    expect(refusal(await give('group', strangers, VIEW))).toEqual([404, 'GROUP.NOT_FOUND']);
    expect(refusal(await give('user', await people.user([['USER', tenant]]), 4))).toEqual([
      404,
      'WORKSPACE_PERMISSION.NOT_FOUND',
    ]);
    const editor = await member();
    await give('user', editor.userId, EDIT);
    expect(refusal(await give('user', editor.userId, MANAGE, editor))).toEqual([403, 'WORKSPACE.PERMISSION_REQUIRED']);
    expect(refusal(await take('user', owner.userId, MANAGE, editor))).toEqual([403, 'WORKSPACE.PERMISSION_REQUIRED']);
    const manager = await member();
    await give('user', manager.userId, MANAGE);
    expect((await give('user', editor.userId, MANAGE, manager)).status).toBe(200);
    const elsewhere = await people.admin(foreign);
    expect(refusal(await give('user', elsewhere.userId, VIEW, elsewhere))).toEqual([404, 'WORKSPACE.NOT_FOUND']);
    expect((await give('user', editor.userId, VIEW, await people.admin(tenant))).status).toBe(200);
  });

  it('cannot be removed from users who do not hold them directly', async () => {
    const userId = await people.user([['USER', tenant]]);
    const group = await people.group([['USER', tenant]], [userId]);
    await give('group', group, RUN);
    const notHeld = [404, 'WORKSPACE_PERMISSION.NOT_HELD'];
    expect(refusal(await take('user', userId, RUN))).toEqual(notHeld);
    expect(refusal(await take('group', group, VIEW))).toEqual(notHeld);
    expect((await take('group', group, RUN)).status).toBe(201);
    expect(refusal(await take('group', group, RUN))).toEqual(notHeld);
  });

  it('can be removed from users who have left the tenant', async () => {
    const userId = await people.user([['USER', tenant]]);
    await give('user', userId, VIEW);
    await api.database.query('UPDATE user_roles SET to_date = now() WHERE user_id = $1', [userId]);
    expect((await take('user', userId, VIEW)).status).toBe(201);
  });

  it('can be seen and changed while the workspace is disabled', async () => {
    const userId = await people.user([['USER', tenant]]);
    await owner.call('PUT', `/workspace/disable?workspace_id=${workspaceId}`);
    expect((await give('user', userId, VIEW)).status).toBe(200);
    expect((await names('/users'))['VIEW']).toEqual([await nameOf(userId)]);
  });

  it('page through many holders, each once even with several grants', async () => {
    const role = (await api.database.query(`SELECT role_id FROM roles WHERE role = 'USER'`))[0].role_id;
    await api.database.query(
      `WITH u AS (INSERT INTO users (username, email) SELECT 'many-' || n, 'many-' || n || '@example.org'
         FROM generate_series(1, ${MANY_USERS}) n RETURNING user_id),
       g AS (INSERT INTO groups (group_name) SELECT 'many-' || n FROM generate_series(1, ${MANY_GROUPS}) n RETURNING group_id),
       held AS (INSERT INTO group_roles (group_id, role_id, tenant_id) SELECT group_id, $2, $3 FROM g),
       w AS (INSERT INTO workspace_groups (tenant_id, workspace_id, group_id, permission_id)
         SELECT $3, $1, group_id, group_id % 4 FROM g)
       INSERT INTO group_users (group_id, user_id) SELECT g.group_id, u.user_id FROM u, g WHERE (u.user_id + g.group_id) % 10 = 0`,
      [workspaceId, role, tenant],
    );
    const found: number[] = [];
    for (let next: number | undefined = 1; next !== undefined;) {
      const { body } = await owner.call('GET', at(`/users?limit=1000&pageNumber=${next}`));
      expect(body.result_set.total_objects).toBe(MANY_USERS + 1);
      for (const { users } of body.data.permission) for (const { user_id: id } of users) found.push(id);
      next = body.result_set.next_page;
    }
    expect(new Set(found).size).toBe(MANY_USERS + 1);
    expect(found).toHaveLength(MANY_USERS + 1);
  });
});
