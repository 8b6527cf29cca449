import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText, type Message, type WriteAudit, writeAudit } from '../../../../platform/kernel/dto/answers';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ALL_TENANTS } from '../../../../platform/http/resources/resource-repository';
import { LockoutProtection } from '../roles/lockout-protection';
import { SessionChanges } from '../sessions/session-changes';
import { EVERY_SESSION, sessionsOf } from '../sessions/sessions.repository';
import { GroupsRepository } from '../users-and-groups/groups.repository';
import { lockToGive, PlatformTakeover } from '../users-and-groups/platform-takeover';
import { type PlacedRole, RoleGrants } from '../users-and-groups/role-grants';
import type { RoleAssignmentRow } from '../users-and-groups/role-holders.repository';
import type { RolePlace } from '../users-and-groups/role-place';
import { UsersRepository } from '../users-and-groups/users.repository';
import type { GroupRoleWrite, UserRoleWrite } from './dto/role-assignment.dto';

/** A role of a user or group: whose, which and where. */
export interface RoleGrant {
  kind: 'user' | 'group';
  holderId: number;
  roleId: number;
  place: RolePlace;
}

interface GrantAnswer extends WriteAudit {
  assignment_id: string;
  tenant_id: string | null;
  role_id: string;
}

/** Gives roles to users and groups and takes them away. */
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

  /** A role beyond the owning tenant that a PLATFORM ADMIN gives makes the account the platform's. */
  async assignToUser(caller: Principal, userId: number, roleId: number, place: RolePlace): Promise<UserRoleWrite> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      const role = await this.grants.placed(tx, roleId, place);
      const { username } = await this.users.get(ALL_TENANTS, { id: userId }, tx, lockToGive(caller));
      await this.takeover.ofUsers(tx, caller, [userId], [role.tenantId]);
      const assigned = await this.users.assignRole(tx, caller, userId, role);
      const { assignment_id, ...answer } = given(assigned, role, `user "${username}"`);
      return { user_roles_id: assignment_id, user_id: idText(userId), ...answer };
    });
  }

  /** As {@link assignToUser}, for the group and its members. */
  async assignToGroup(caller: Principal, groupId: number, roleId: number, place: RolePlace): Promise<GroupRoleWrite> {
    return this.changes.run(EVERY_SESSION, async (tx) => {
      const role = await this.grants.placed(tx, roleId, place);
      const group = await this.groups.get(ALL_TENANTS, { id: groupId }, tx, lockToGive(caller));
      await this.takeover.ofGroup(tx, caller, group, role.tenantId);
      const assigned = await this.groups.assignRole(tx, caller, groupId, role);
      const { assignment_id, ...answer } = given(assigned, role, `group "${group.group_name}"`);
      return { group_roles_id: assignment_id, group_id: idText(groupId), ...answer };
    });
  }

  async remove(caller: Principal, grant: RoleGrant): Promise<Message> {
    // Whose sessions a group's role is in takes longer to find out than to read them all again.
    const sessions = grant.kind === 'user' ? sessionsOf(grant.holderId) : EVERY_SESSION;
    return this.changes.run(sessions, (tx) => {
      const change = () => this.take(tx, caller, grant);
      // Who may name the place can give the own role back there.
      return grant.place.kind === 'named'
        ? this.lockout.keepPlatformAdmin(tx, change)
        : this.lockout.keepAdmins(tx, caller, change);
    });
  }

  private async take(tx: Tx, caller: Principal, { kind, holderId, roleId, place }: RoleGrant): Promise<Message> {
    const placed = await this.grants.placed(tx, roleId, place);
    const repository = kind === 'user' ? this.users : this.groups;
    const holder = await repository.get(ALL_TENANTS, { id: holderId }, tx, 'share');
    if (!(await repository.removeRole(tx, caller, holderId, placed))) {
      // Not by name: the holder may belong to another tenant only.
      const asked = `${kind} with id ${holderId}`;
      throw notFound(
        'ROLE.NOT_HELD',
        `The ${asked} does not hold the role ${placed.role} there, or only through a group.`,
      );
    }
    const name = 'username' in holder ? holder.username : holder.group_name;
    return { message: `The role ${placed.role} is taken from the ${kind} "${name}".` };
  }
}

function given(assigned: RoleAssignmentRow | null, { role }: PlacedRole, holder: string): GrantAnswer {
  if (!assigned) throw conflict('ROLE.ALREADY_HELD', `The ${holder} already holds the role ${role} there.`);
  return {
    assignment_id: idText(assigned.assignment_id),
    tenant_id: assigned.tenant_id,
    role_id: idText(assigned.role_id),
    ...writeAudit(assigned),
  };
}
