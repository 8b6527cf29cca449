import { NEEDS } from './needs';
import { includes, lackedRoles, managersOf, permissionReason, roleReason, strongestNeeded } from './rights';

describe('the rights of a user', () => {
  it('are compared with the strongest permission that some operations need', () => {
    expect(strongestNeeded([NEEDS.createJob, NEEDS.createJobConf])).toBe('EDIT');
    expect(strongestNeeded([NEEDS.startCluster])).toBeNull();
    expect([includes('EDIT', 'RUN'), includes('RUN', 'EDIT'), includes(null, 'VIEW')]).toEqual([true, false, false]);
  });

  it('include an operation by any one of its roles', () => {
    expect(lackedRoles([NEEDS.createWorkspace, NEEDS.startCluster], ['USER'])).toEqual(NEEDS.startCluster.roles);
    expect(lackedRoles([NEEDS.startCluster, NEEDS.createUser], ['CAN MANAGE CLUSTER'])).toEqual(NEEDS.createUser.roles);
    expect(lackedRoles([NEEDS.startCluster], ['USER', 'CAN MANAGE CLUSTER'])).toBeNull();
  });
});

describe('the reason why something may not be done', () => {
  it('names the permission, what is held, and who can grant it', () => {
    const reason = {
      needed: 'RUN',
      held: 'VIEW',
      workspace: 'ledger',
      managers: ['ana', 'ben', 'cem', 'dee'],
    } as const;
    expect(permissionReason(reason)).toBe(
      'You need the permission RUN on ledger; you hold VIEW. Ask ana, ben, cem or an administrator of the tenant.',
    );
    expect(permissionReason({ ...reason, held: null, workspace: undefined, managers: [] })).toBe(
      'You need the permission RUN on this workspace. Ask a user with MANAGE on it, or an administrator of the tenant.',
    );
  });

  it('names the roles that an administrator of the tenant gives', () => {
    expect(roleReason(NEEDS.startCluster.roles)).toBe(
      'You need the role CAN MANAGE CLUSTER or ADMIN. Ask an administrator of the tenant.',
    );
    expect(roleReason(['PLATFORM ADMIN'])).toBe(
      'You need the role PLATFORM ADMIN. Ask an administrator of the platform.',
    );
  });

  it('knows managers by their permission', () => {
    const user = (username: string) => ({ username });
    const permissions = [
      { name: 'VIEW', users: [user('ben')] },
      { name: 'MANAGE', users: [user('ana')] },
    ] as unknown as Parameters<typeof managersOf>[0];
    expect(managersOf(permissions)).toEqual(['ana']);
  });
});
