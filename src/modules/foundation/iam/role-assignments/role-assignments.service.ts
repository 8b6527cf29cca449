import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, type Message, type WriteAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ALL_TENANTS } from '../../../../platform/http/resources/resource-repository';
import { LockoutProtection } from '../roles/lockout-protection';
import { SessionChanges } from '../sessions/session-changes';
import { EVERY_SESSION, sessionsOf } from '../sessions/sessions.repository';
import { GroupsRepository } from '../users-and-groups/groups.repository';
import { grantLock, PlatformTakeover } from '../users-and-groups/platform-takeover';
import { type ScopedRole, RoleGrants } from '../users-and-groups/role-grants';
import type { RoleAssignmentRow } from '../users-and-groups/role-holders.repository';
import type { RoleScope } from '../users-and-groups/role-scope';
import { UsersRepository } from '../users-and-groups/users.repository';
import type { GroupRoleWrite, UserRoleWrite } from './dto/role-assignment.dto';

/** A role that a user or group holds in a tenant or platform-wide. */
export interface RoleGrant {
  kind: 'user' | 'group';
  holderId: number;
  roleId: number;
  scope: RoleScope;
}

interface GrantResponse extends WriteAudit {
  assignment_id: string;
  tenant_id: string | null;
  role_id: string;
}

@Injectable()
export class RoleAssignmentsService {
  constructor(
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly grants: RoleGrants,
    private readonly takeover: PlatformTakeover,
    private readonly changes: SessionChanges,
    private readonly lockout: LockoutProtection,
  ) {}

  /** If a PLATFORM ADMIN grants a role outside the owning tenant, the platform becomes the owner of the account. */
  async assignToUser(caller: Principal, userId: number, roleId: number, scope: RoleScope): Promise<UserRoleWrite> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      const role = await this.grants.resolve(tx, roleId, scope);
      const { username } = await this.users.get(ALL_TENANTS, { id: userId }, tx, grantLock(caller));
      await this.takeover.takeOverUsers(tx, caller, [userId], [role.tenantId]);
      const assignment = await this.users.assignRole(tx, caller, userId, role);
      const { assignment_id, ...response } = grantResponse(assignment, role, `user "${username}"`);
      return { user_roles_id: assignment_id, user_id: idText(userId), ...response };
    });
  }

  /** Like {@link assignToUser}, for a group and its members. */
  async assignToGroup(caller: Principal, groupId: number, roleId: number, scope: RoleScope): Promise<GroupRoleWrite> {
    return this.changes.run(EVERY_SESSION, async (tx) => {
      const role = await this.grants.resolve(tx, roleId, scope);
      const group = await this.groups.get(ALL_TENANTS, { id: groupId }, tx, grantLock(caller));
      await this.takeover.takeOverGroup(tx, caller, group, role.tenantId);
      const assignment = await this.groups.assignRole(tx, caller, groupId, role);
      const { assignment_id, ...response } = grantResponse(assignment, role, `group "${group.group_name}"`);
      return { group_roles_id: assignment_id, group_id: idText(groupId), ...response };
    });
  }

  async remove(caller: Principal, grant: RoleGrant): Promise<Message> {
    // Reading all sessions again is cheaper than finding those of the group's members.
    const sessions = grant.kind === 'user' ? sessionsOf(grant.holderId) : EVERY_SESSION;
    return this.changes.run(sessions, (tx) => {
      const change = () => this.removeRole(tx, caller, grant);
      // Callers who can name any tenant can grant their own role back, so only others are kept from revoking it.
      return grant.scope.kind === 'named'
        ? this.lockout.keepPlatformAdmin(tx, change)
        : this.lockout.keepAdmins(tx, caller, change);
    });
  }

  private async removeRole(tx: Tx, caller: Principal, { kind, holderId, roleId, scope }: RoleGrant): Promise<Message> {
    const role = await this.grants.resolve(tx, roleId, scope);
    const repository = kind === 'user' ? this.users : this.groups;
    const holder = await repository.get(ALL_TENANTS, { id: holderId }, tx, 'share');
    if (!(await repository.removeRole(tx, caller, holderId, role))) {
      // Do not reveal the name: the holder may belong only to another tenant.
      throw notFound(
        'ROLE.NOT_HELD',
        `The ${kind} with id ${holderId} does not hold the role ${role.role} there directly. A role held through a group is revoked from the group.`,
      );
    }
    const name = 'username' in holder ? holder.username : holder.group_name;
    return { message: `The role ${role.role} is revoked from the ${kind} "${name}".` };
  }
}

function grantResponse(assignment: RoleAssignmentRow | null, { role }: ScopedRole, holder: string): GrantResponse {
  if (!assignment) throw conflict('ROLE.ALREADY_HELD', `The ${holder} already holds the role ${role} there.`);
  return {
    assignment_id: idText(assignment.assignment_id),
    tenant_id: assignment.tenant_id,
    role_id: idText(assignment.role_id),
    ...writeAudit(assignment),
  };
}
