import { Config } from '../../src/config/config';
import { type Caller, directory, type People, refusal } from './harness/people';
import { soon, type TestApi } from './harness/test-api';

const GROUPS = '/platform/shared/admin/groups';
const GROUP = '/platform/shared/admin/group';

// Real: PostgreSQL, Redis, guards, pipes and filters. Left out: every other domain.
describe('groups', () => {
  const { api, otherPod, people, own, foreign, admin, platformAdmin } = directory();

  /** Creates a group that the caller's tenant owns. */
  const owned = (held: Parameters<People['group']>[0] = [], members: readonly number[] = []) =>
    people.group(held, members, { owner_tenant_id: own });
  const member = (groupId: number, userId: number) => `${GROUP}/${groupId}/user/${userId}`;
  const idsOf = (body: { data: { group_id: number }[] }) => body.data.map(({ group_id }) => group_id);

  it('are created with members and read in every way', async () => {
    const userId = await people.user();
    const group_name = people.unique('made');
    const body = { group_name, group_mail: 'made@example.org', user_ids: [userId] };
    const { status, body: written } = await admin.call('POST', GROUP, body);
    expect([status, written]).toEqual([
      200,
      {
        group_id: expect.stringMatching(/^\d+$/),
        group_name,
        group_mail: 'made@example.org',
        group_object_id: null,
        group_type: null,
        created_by_user_id: String(admin.userId),
        modified_by_user_id: String(admin.userId),
        last_update_date: expect.any(String),
        from_date: expect.any(String),
        to_date: null,
      },
    ]);
    const read = {
      group_id: Number(written.group_id),
      group_name,
      group_mail: 'made@example.org',
      group_object_id: null,
      group_type: null,
      from_date: written.from_date,
      to_date: 'infinity',
    };
    const get = async (path: string) => (await admin.call('GET', path)).body;
    expect(await get(`${GROUP}/${written.group_id}`)).toEqual(read);
    expect((await get(`${GROUPS}?limit=1`)).data).toEqual([read]);
    expect((await get(`${GROUPS}?user_id=${userId}`)).data).toEqual([read]);
    expect((await get(`/platform/shared/admin/search/groups?groupname=${group_name.toUpperCase()}`)).data).toEqual([
      read,
    ]);
    expect(await get(`/platform/shared/admin/match/group/${group_name}`)).toEqual([read]);
  });

  it('are found across directories by the whole name', async () => {
    const group_name = people.unique('twice');
    const groups = [
      await people.group([], [], { group_name }),
      await people.group([], [], { group_name, directory: 'ldap' }),
    ];
    const { body } = await admin.call('GET', `/platform/shared/admin/match/group/${group_name}`);
    expect(body.map(({ group_id }: { group_id: number }) => group_id)).toEqual(groups);
    const part = await admin.call('GET', `/platform/shared/admin/match/group/${group_name.slice(0, -1)}`);
    expect(refusal(part)).toEqual([404, 'GROUP.NOT_FOUND']);
  });

  it.each<[string, () => Promise<object>, [number, string]]>([
    ['a taken name', async () => ({ group_name: (await existing()).name }), [409, 'RECORD.DUPLICATE_NAME']],
    ['an odd name', async () => ({ group_name: 'Data Team' }), [400, 'REQUEST.INVALID']],
    ['an unknown member', async () => ({ group_name: 'n', user_ids: [999_999] }), [404, 'USER.NOT_FOUND']],
    [
      'a member of an outside directory',
      async () => ({ group_name: 'n', user_ids: [await people.user([], { directory: 'ldap' })] }),
      [409, 'DIRECTORY.EXTERNAL'],
    ],
  ])('are not created with %s', async (_what, body, refused) => {
    expect(refusal(await admin.call('POST', GROUP, await body()))).toEqual(refused);
  });

  async function existing(): Promise<{ id: number; name: string }> {
    const id = await owned();
    return { id, name: (await admin.call('GET', `${GROUP}/${id}`)).body.group_name as string };
  }

  it('are not created while users come from an external directory', async () => {
    const { auth } = api.app.get(Config);
    auth.directory = 'oidc';
    try {
      const answer = await platformAdmin.call('POST', GROUP, { group_name: 'n' });
      expect(refusal(answer)).toEqual([409, 'DIRECTORY.EXTERNAL']);
    } finally {
      auth.directory = 'local';
    }
  });

  it('change only the fields sent', async () => {
    const { id, name } = await existing();
    const change = (body: object) => admin.call('PUT', `${GROUP}/${id}`, body);
    const { status, body } = await change({ group_mail: 'new@example.org' });
    expect([status, body.group_name, body.group_mail]).toEqual([201, name, 'new@example.org']);
    expect((await change({ group_name: people.unique('renamed'), group_mail: null })).body.group_mail).toBeNull();
    expect(refusal(await change({}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
    expect(refusal(await change({ group_name: (await existing()).name }))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
    expect(refusal(await admin.call('PUT', `${GROUP}/999999`, { group_mail: null }))).toEqual([404, 'GROUP.NOT_FOUND']);
  });

  describe('an ADMIN', () => {
    const reachable: [string, () => Promise<number>][] = [
      ['without a role', () => owned()],
      ['with a role there', () => owned([['ADMIN', own]])],
      ['with a role that another tenant gave', () => owned([['ADMIN', foreign]])],
    ];
    const beyond: [string, () => Promise<number>][] = [
      ['of the platform without a role', () => people.group()],
      ['of the platform with a role in the own tenant', () => people.group([['USER', own]])],
      ['of the platform with a platform-wide role', () => people.group([['PLATFORM BILLING', null]])],
      ['of another tenant without a role', () => people.group([], [], { owner_tenant_id: foreign })],
      [
        'of another tenant with a role in the own',
        () => people.group([['USER', own]], [], { owner_tenant_id: foreign }),
      ],
    ];
    const actions = (groupId: number, present: number, absent: number): [string, string, object?][] => [
      ['PUT', `${GROUP}/${groupId}`, { group_mail: 'x@example.org' }],
      ['POST', member(groupId, absent)],
      ['DELETE', member(groupId, present)],
    ];

    const tryAll = async (caller: Caller, make: () => Promise<number>) => {
      const [groupId, present, absent] = [await make(), await people.user(), await people.user()];
      await api.database.query('INSERT INTO group_users (group_id, user_id) VALUES ($1, $2)', [groupId, present]);
      const statuses: number[] = [];
      for (const action of actions(groupId, present, absent)) statuses.push((await caller.call(...action)).status);
      return statuses;
    };

    it.each(reachable)('may change groups of the own tenant %s', async (_which, make) => {
      expect(await tryAll(admin, make)).toEqual([201, 200, 201]);
    });

    it.each(beyond)('may not change groups %s, but a PLATFORM ADMIN may', async (_which, make) => {
      expect(await tryAll(admin, make)).toEqual([403, 403, 403]);
      expect(await tryAll(platformAdmin, make)).toEqual([201, 200, 201]);
      const groupId = await make();
      expect(refusal(await admin.call('DELETE', `${GROUP}/${groupId}`))).toEqual([403, 'AUTH.PLATFORM_ADMIN_REQUIRED']);
    });
  });

  describe('that are deleted', () => {
    it('disappear, and their names are free', async () => {
      const userId = await people.user();
      const groupId = await owned([], [userId]);
      const { group_name } = (await admin.call('GET', `${GROUP}/${groupId}`)).body;
      const { status, body } = await admin.call('DELETE', `${GROUP}/${groupId}`);
      expect([status, body]).toEqual([201, { message: expect.stringContaining(group_name as string) }]);
      expect(refusal(await admin.call('GET', `${GROUP}/${groupId}`))).toEqual([404, 'GROUP.NOT_FOUND']);
      expect(idsOf((await admin.call('GET', `${GROUPS}?user_id=${userId}`)).body)).toEqual([]);
      expect(idsOf((await admin.call('GET', GROUPS)).body)).not.toContain(groupId);
      expect(refusal(await admin.call('DELETE', `${GROUP}/${groupId}`))).toEqual([404, 'GROUP.NOT_FOUND']);
      expect((await admin.call('POST', GROUP, { group_name })).status).toBe(200);
    });

    it('must not have a role or a workspace permission', async () => {
      const withRole = await owned([['USER', own]]);
      const first = await admin.call('DELETE', `${GROUP}/${withRole}`);
      expect([...refusal(first), first.body.details]).toEqual([409, 'GROUP.IN_USE', { roles: ['USER'] }]);
      const withPermission = await owned();
      await people.workspacePermission(own, withPermission);
      const second = await admin.call('DELETE', `${GROUP}/${withPermission}`);
      expect([...refusal(second), second.body.details.workspaces]).toEqual([
        409,
        'GROUP.IN_USE',
        [expect.objectContaining({ name: expect.stringMatching(/^workspace-/) })],
      ]);
      await api.database.query('UPDATE workspace_groups SET to_date = now() WHERE group_id = $1', [withPermission]);
      expect((await admin.call('DELETE', `${GROUP}/${withPermission}`)).status).toBe(201);
    });
  });

  describe('members', () => {
    it('are added and removed once', async () => {
      const [other, userId] = [await people.user(), await people.user()];
      const groupId = await owned([], [other]);
      const { status, body } = await admin.call('POST', member(groupId, userId));
      expect([status, body]).toEqual([
        200,
        {
          group_user_id: expect.stringMatching(/^\d+$/),
          group_id: String(groupId),
          user_id: String(userId),
          created_by_user_id: String(admin.userId),
          modified_by_user_id: String(admin.userId),
          last_update_date: expect.any(String),
          from_date: expect.any(String),
          to_date: null,
        },
      ]);
      expect(refusal(await admin.call('POST', member(groupId, userId)))).toEqual([409, 'GROUP.ALREADY_MEMBER']);
      const removed = await admin.call('DELETE', member(groupId, userId));
      expect([removed.status, removed.body]).toEqual([201, { message: expect.any(String) }]);
      expect(refusal(await admin.call('DELETE', member(groupId, userId)))).toEqual([404, 'GROUP.NOT_MEMBER']);
      const left = await admin.call('GET', `/platform/shared/admin/users?group_id=${groupId}`);
      expect(left.body.data).toEqual([expect.objectContaining({ user_id: other })]);
      expect((await admin.call('POST', member(groupId, userId))).status).toBe(200);
    });

    it('must be existing users of an existing group', async () => {
      const [groupId, userId] = [await owned(), await people.user()];
      expect(refusal(await admin.call('POST', member(groupId, 999_999)))).toEqual([404, 'USER.NOT_FOUND']);
      expect(refusal(await admin.call('POST', member(999_999, userId)))).toEqual([404, 'GROUP.NOT_FOUND']);
    });

    it('are managed by the external directory for its groups and accounts', async () => {
      const userId = await people.user();
      const external = await people.group([], [userId], { directory: 'ldap' });
      const newcomer = await people.user();
      expect(refusal(await admin.call('POST', member(external, newcomer)))).toEqual([409, 'DIRECTORY.EXTERNAL']);
      expect(refusal(await admin.call('DELETE', member(external, userId)))).toEqual([409, 'DIRECTORY.EXTERNAL']);
      expect(refusal(await admin.call('DELETE', `${GROUP}/${external}`))).toEqual([409, 'DIRECTORY.EXTERNAL']);
      const outsider = await people.user([], { directory: 'ldap' });
      const answer = await admin.call('POST', member(await owned(), outsider));
      expect(refusal(answer)).toEqual([409, 'DIRECTORY.EXTERNAL']);
    });

    it('get the roles of the group from the next request on, on every pod', async () => {
      const userId = await people.user([['USER', own]]);
      const { token } = await people.as(userId, own);
      const groupId = await owned([['ADMIN', own]]);
      const statusAt = async (pod: TestApi) => (await pod.call('GET', GROUPS, { token })).status;
      expect([await statusAt(api), await statusAt(otherPod)]).toEqual([403, 403]);
      expect((await admin.call('POST', member(groupId, userId))).status).toBe(200);
      expect(await statusAt(api)).toBe(200);
      await soon(async () => expect(await statusAt(otherPod)).toBe(200));
      expect((await admin.call('DELETE', member(groupId, userId))).status).toBe(201);
      expect(await statusAt(api)).toBe(403);
      await soon(async () => expect(await statusAt(otherPod)).toBe(403));
    });
  });
});
