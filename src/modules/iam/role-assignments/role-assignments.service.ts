import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../platform/auth/principal';
import { PLATFORM_ROLES, type Role } from '../../../platform/auth/roles';
import { conflict, forbidden, invalid, notFound } from '../../../platform/errors/domain-error';
import { idText, type Message, type WriteAudit, writeAudit } from '../../../platform/http/answers';
import type { Tx } from '../../../platform/persistence/sql';
import { LockoutProtection } from '../roles/lockout-protection';
import { RolesRepository } from '../roles/roles.repository';
import { SessionChanges } from '../sessions/session-changes';
import { EVERY_SESSION, sessionsOf } from '../sessions/sessions.repository';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import { GroupsRepository } from '../users-and-groups/groups.repository';
import { UsersRepository } from '../users-and-groups/users.repository';
import type { GroupRoleWrite, UserRoleWrite } from './dto/role-assignment.dto';

/**
 * Where a role is given or taken: in the tenant that the caller has selected, where only roles of a tenant are; or
 * where the caller says, which is in no tenant (null) for a platform-wide role.
 */
export type RolePlace = { kind: 'selected'; tenantId: string } | { kind: 'named'; tenantId: string | null };

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
    private readonly directory: DirectoryRepository,
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly roles: RolesRepository,
    private readonly changes: SessionChanges,
    private readonly lockout: LockoutProtection,
  ) {}

  async assignToUser(caller: Principal, userId: number, roleId: number, place: RolePlace): Promise<UserRoleWrite> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      const grant: RoleGrant = { kind: 'user', holderId: userId, roleId, place };
      const { assignment_id, ...answer } = await this.assign(tx, caller, grant);
      return { user_roles_id: assignment_id, user_id: idText(userId), ...answer };
    });
  }

  async assignToGroup(caller: Principal, groupId: number, roleId: number, place: RolePlace): Promise<GroupRoleWrite> {
    return this.changes.run(EVERY_SESSION, async (tx) => {
      const grant: RoleGrant = { kind: 'group', holderId: groupId, roleId, place };
      const { assignment_id, ...answer } = await this.assign(tx, caller, grant);
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

  private async assign(tx: Tx, caller: Principal, grant: RoleGrant): Promise<GrantAnswer> {
    const { role, tenantId, holder } = await this.check(tx, grant);
    const assigned = await this.repositoryOf(grant).assignRole(tx, caller, grant, tenantId);
    if (!assigned) throw conflict('ROLE.ALREADY_HELD', `The ${holder} holds the role ${role} there already.`);
    return {
      assignment_id: idText(assigned.assignment_id),
      tenant_id: assigned.tenant_id,
      role_id: idText(assigned.role_id),
      ...writeAudit(assigned),
    };
  }

  private async take(tx: Tx, caller: Principal, grant: RoleGrant): Promise<Message> {
    const { role, tenantId, holder } = await this.check(tx, grant);
    if (!(await this.repositoryOf(grant).removeRole(tx, caller, grant, tenantId))) {
      // Not by name: the holder may belong to another tenant only.
      const asked = `${grant.kind} with id ${grant.holderId}`;
      throw notFound('ROLE.NOT_HELD', `The ${asked} does not hold the role ${role} there, or only through a group.`);
    }
    return { message: `The role ${role} is taken from the ${holder}.` };
  }

  /** Throws unless role, place and holder exist and fit; the holder is kept as it is until the transaction ends. */
  private async check(tx: Tx, grant: RoleGrant): Promise<{ role: Role; tenantId: string | null; holder: string }> {
    const { role } = await this.roles.get(grant.roleId, tx);
    assertPlace(role, grant.place);
    const { tenantId } = grant.place;
    if (tenantId !== null) await this.directory.currentTenant(tenantId, tx);
    const name =
      grant.kind === 'user'
        ? (await this.users.get(grant.holderId, tx, 'share')).username
        : (await this.groups.get(grant.holderId, tx, 'share')).group_name;
    return { role, tenantId, holder: `${grant.kind} "${name}"` };
  }

  private repositoryOf({ kind }: RoleGrant): UsersRepository | GroupsRepository {
    return kind === 'user' ? this.users : this.groups;
  }
}

function assertPlace(role: Role, place: RolePlace): void {
  const platformWide = PLATFORM_ROLES.includes(role);
  if (platformWide && place.kind === 'selected') {
    throw forbidden(
      'ROLE.PLATFORM_WIDE',
      `${role} is not a role of a tenant. A PLATFORM ADMIN gives and takes it under /platform/admin/tenant.`,
    );
  }
  if (platformWide && place.tenantId !== null) {
    throw invalid('ROLE.PLATFORM_WIDE', `${role} is held everywhere. Leave tenant_id out.`);
  }
  if (!platformWide && place.tenantId === null) {
    throw invalid('ROLE.TENANT_REQUIRED', `${role} is a role of a tenant. tenant_id must name one.`);
  }
}
