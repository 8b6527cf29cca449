import type { WorkspaceRead, WorkspaceUserPermissionRead } from 'managed-spark/types';
import { adminRole } from '../../shared/rights/rights';
import { originsOf, roleLines } from './account-rights';

const WORKSPACE = { workspace_id: 1, name: 'ledger', created_by: { user_id: 7, username: 'ana' } } as WorkspaceRead;

function rights(held: object): WorkspaceUserPermissionRead {
  return { user_id: 9, user_permission: null, group_permission: null, ...held } as WorkspaceUserPermissionRead;
}

describe('what a user may do', () => {
  it('names each role with where it comes from', () => {
    const user = { user_id: 9, username: 'ben' };
    expect(roleLines({ ...user, user_roles: ['USER'], group_roles: ['CAN MANAGE CLUSTER'] })).toEqual([
      'USER, held directly: Works in workspaces that permissions open',
      'CAN MANAGE CLUSTER, through a group: Manages clusters and what they are made of',
    ]);
    expect([adminRole(['USER']), adminRole(['ADMIN', 'PLATFORM ADMIN'])]).toEqual([null, 'PLATFORM ADMIN']);
  });

  it('names what gives the permission that counts first, and what the others give', () => {
    const own = rights({
      effective_permission: { name: 'EDIT' },
      user_permission: { permission: { name: 'VIEW' }, created_by: { username: 'ana' } },
      group_permission: [{ group_name: 'analysts', permission: { name: 'EDIT' } }],
    });
    expect(originsOf(own, WORKSPACE)).toEqual(['Through the group analysts', 'Directly, granted by ana (VIEW)']);
  });

  it('says that the creator of a workspace has it', () => {
    const direct = { permission: { name: 'MANAGE' }, created_by: { username: 'ana' } };
    const own = rights({ user_id: 7, effective_permission: { name: 'MANAGE' }, user_permission: direct });
    expect(originsOf(own, WORKSPACE)).toEqual(['You created it']);
  });
});
