import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import type { Role } from '../../../../platform/kernel/auth/roles';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { returning, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { ALL_TENANTS, type ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ROLES_OF_GROUPS } from '../roles/roles.joins';
import { Group } from '../entities/group.entity';
import type { GroupRole } from '../entities/group-role.entity';
import type { GroupUser } from '../entities/group-user.entity';
import type { RoleRecord } from '../entities/role.entity';
import { actingTenant } from './ownership';
import { AUDIT_COLUMNS, RoleHoldersRepository } from './role-holders.repository';

export type GroupRecord = Group & AuthorNames;

export type MembershipRow = Omit<GroupUser, 'granted_by_tenant_id'>;

/** Reads and writes current groups and their memberships. */
@Injectable()
export class GroupsRepository extends RoleHoldersRepository<Group, GroupRecord> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Group,
      name: 'group_name',
      roles: ROLES_OF_GROUPS,
      rolesTable: 'group_roles',
    });
  }

  /** Returns groups with exactly this name, at most one per directory, oldest first. */
  findByName(name: string): Promise<GroupRecord[]> {
    return this.findWhere(ALL_TENANTS, (conditions) => conditions.only('group_name', name), this.dataSource.manager);
  }

  containing(userId: number): ResourceFilter<Group> {
    return (conditions) =>
      conditions.add(
        `t.group_id IN (SELECT gu.group_id FROM group_users gu WHERE gu.user_id = ? AND gu.to_date = 'infinity')`,
        userId,
      );
  }

  /** Returns the roles of the group in all tenants and platform-wide. */
  async rolesOf(tx: Tx, groupId: number): Promise<Role[]> {
    const heldRoles = await rows<Pick<RoleRecord, 'role'>>(
      tx,
      `SELECT DISTINCT h.role FROM (${ROLES_OF_GROUPS}) h WHERE h.group_id = $1 ORDER BY h.role`,
      [groupId],
    );
    return heldRoles.map(({ role }) => role);
  }

  /** Returns the distinct tenants in which the group holds roles; null stands for platform-wide. */
  async roleTenantsOf(tx: Tx, groupId: number): Promise<(string | null)[]> {
    const heldRoles = await rows<Pick<GroupRole, 'tenant_id'>>(
      tx,
      `SELECT DISTINCT h.tenant_id FROM (${ROLES_OF_GROUPS}) h WHERE h.group_id = $1`,
      [groupId],
    );
    return heldRoles.map(({ tenant_id }) => tenant_id);
  }

  /**
   * Locks for update and returns the members that a tenant owns or whose password its ADMINs may know. It skips members
   * that a tenant other than their owner added.
   */
  async lockMembersKnownToTenants(tx: Tx, groupId: number): Promise<number[]> {
    const members = await rows<Pick<GroupUser, 'user_id'>>(
      tx,
      `SELECT u.user_id FROM group_users gu JOIN users u ON u.user_id = gu.user_id
       WHERE gu.group_id = $1 AND gu.to_date = 'infinity'
         AND (u.owner_tenant_id IS NOT NULL OR u.password_known_to_tenant)
         AND (gu.granted_by_tenant_id IS NULL OR ${ofTenant('gu', 'u.owner_tenant_id', 'granted_by_tenant_id')})
       ORDER BY u.user_id FOR UPDATE OF u`,
      [groupId],
    );
    return members.map(({ user_id }) => user_id);
  }

  async moveToPlatform(tx: Tx, caller: Principal, groupId: number): Promise<void> {
    await this.write(tx, caller, groupId, { owner_tenant_id: null });
  }

  /** Adds each user to each group and returns the new memberships. */
  addMembers(
    tx: Tx,
    caller: Principal,
    groupIds: readonly number[],
    userIds: readonly number[],
  ): Promise<MembershipRow[]> {
    return returning<MembershipRow>(
      tx,
      `INSERT INTO group_users (group_id, user_id, created_by_user_id, modified_by_user_id, granted_by_tenant_id)
       SELECT g.id, u.id, $3, $3, $4::uuid FROM unnest($1::bigint[]) g(id) CROSS JOIN unnest($2::bigint[]) u(id)
       ON CONFLICT DO NOTHING RETURNING group_user_id, group_id, user_id, ${AUDIT_COLUMNS}`,
      [groupIds, userIds, caller.userId, actingTenant(caller)],
    );
  }

  /** Ends the membership of the user, or of all members if `userId` is null. Returns how many ended. */
  async removeMembers(tx: Tx, caller: Principal, groupId: number, userId: number | null = null): Promise<number> {
    const removed = await returning(
      tx,
      `UPDATE group_users SET to_date = platform_now(), modified_by_user_id = $3, last_update_date = platform_now()
       WHERE group_id = $1 AND ($2::bigint IS NULL OR user_id = $2) AND to_date = 'infinity' RETURNING 1`,
      [groupId, userId, caller.userId],
    );
    return removed.length;
  }

  /** Ends the memberships that ADMINs of tenants granted, or all of them, for a group that a tenant owns. */
  async removeMembersByTenants(tx: Tx, caller: Principal, groupId: number, all: boolean): Promise<void> {
    await tx.query(
      `UPDATE group_users SET to_date = platform_now(), modified_by_user_id = $2, last_update_date = platform_now()
       WHERE group_id = $1 AND to_date = 'infinity' AND ($3 OR granted_by_tenant_id IS NOT NULL)`,
      [groupId, caller.userId, all],
    );
  }
}
