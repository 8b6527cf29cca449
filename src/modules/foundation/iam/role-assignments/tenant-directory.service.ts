import { Injectable } from '@nestjs/common';
import { type Role, ROLES } from '../../../../platform/kernel/auth/roles';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import { RolesRepository } from '../roles/roles.repository';
import { groupRead, userRead } from '../users-and-groups/directory-responses';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import type { GroupRead, UserRead } from '../users-and-groups/dto/directory.dto';
import { type GroupRecord, GroupsRepository } from '../users-and-groups/groups.repository';
import type { HeldRoleRow } from '../users-and-groups/role-holders.repository';
import { type UserRecord, UsersRepository } from '../users-and-groups/users.repository';
import type { GroupRoles, RoleGroupsPage, RoleUsersPage, UserRoles } from './dto/role-assignment.dto';

/**
 * Reads the users and groups that hold a role in a tenant, with their roles there and platform-wide. Every method
 * throws 404 if the tenant does not exist.
 */
@Injectable()
export class TenantDirectoryService {
  constructor(
    private readonly directory: DirectoryRepository,
    private readonly users: UsersRepository,
    private readonly groups: GroupsRepository,
    private readonly roles: RolesRepository,
  ) {}

  async listUsers(tenantId: string, page: PageRequest, partOfName?: string): Promise<Page<UserRead>> {
    const users = await this.pageOfUsers(tenantId, page, partOfName);
    return { ...users, data: users.data.map(userRead) };
  }

  async getUser(tenantId: string, userId: number): Promise<UserRead> {
    await this.directory.currentTenant(tenantId);
    return userRead(await this.users.get({ holdingRolesIn: tenantId }, { id: userId }));
  }

  async getUserRoles(tenantId: string, userId: number): Promise<UserRoles> {
    await this.directory.currentTenant(tenantId);
    const user = await this.users.get({ holdingRolesIn: tenantId }, { id: userId });
    return userRoles(user, await this.users.rolesIn(tenantId, [userId]));
  }

  async listUsersRoles(tenantId: string, page: PageRequest): Promise<Page<UserRoles>> {
    const users = await this.pageOfUsers(tenantId, page);
    const held = await this.users.rolesIn(
      tenantId,
      users.data.map(({ user_id }) => user_id),
    );
    return { ...users, data: users.data.map((user) => userRoles(user, held)) };
  }

  async listRoleUsers(tenantId: string, roleId: number, page: PageRequest): Promise<RoleUsersPage> {
    await this.directory.currentTenant(tenantId);
    const { role_id, role, description } = await this.roles.get(roleId);
    const withRole = this.users.withRole(roleId, tenantId);
    const { data, result_set } = await this.users.list({ holdingRolesIn: tenantId }, page, withRole);
    return { data: { role_id, role, description, users: data.map(userRead) }, result_set };
  }

  async listGroups(tenantId: string, page: PageRequest, partOfName?: string): Promise<Page<GroupRead>> {
    const groups = await this.pageOfGroups(tenantId, page, partOfName);
    return { ...groups, data: groups.data.map(groupRead) };
  }

  async getGroup(tenantId: string, groupId: number): Promise<GroupRead> {
    await this.directory.currentTenant(tenantId);
    return groupRead(await this.groups.get({ holdingRolesIn: tenantId }, { id: groupId }));
  }

  async getGroupRoles(tenantId: string, groupId: number): Promise<GroupRoles> {
    await this.directory.currentTenant(tenantId);
    const group = await this.groups.get({ holdingRolesIn: tenantId }, { id: groupId });
    return groupRoles(group, await this.groups.rolesIn(tenantId, [groupId]));
  }

  async listGroupsRoles(tenantId: string, page: PageRequest): Promise<Page<GroupRoles>> {
    const groups = await this.pageOfGroups(tenantId, page);
    const held = await this.groups.rolesIn(
      tenantId,
      groups.data.map(({ group_id }) => group_id),
    );
    return { ...groups, data: groups.data.map((group) => groupRoles(group, held)) };
  }

  async listRoleGroups(tenantId: string, roleId: number, page: PageRequest): Promise<RoleGroupsPage> {
    await this.directory.currentTenant(tenantId);
    const { role_id, role, description } = await this.roles.get(roleId);
    const withRole = this.groups.withRole(roleId, tenantId);
    const { data, result_set } = await this.groups.list({ holdingRolesIn: tenantId }, page, withRole);
    return { data: { role_id, role, description, groups: data.map(groupRead) }, result_set };
  }

  private async pageOfUsers(tenantId: string, page: PageRequest, partOfName?: string): Promise<Page<UserRecord>> {
    await this.directory.currentTenant(tenantId);
    return this.users.list({ holdingRolesIn: tenantId }, page, undefined, partOfName);
  }

  private async pageOfGroups(tenantId: string, page: PageRequest, partOfName?: string): Promise<Page<GroupRecord>> {
    await this.directory.currentTenant(tenantId);
    return this.groups.list({ holdingRolesIn: tenantId }, page, undefined, partOfName);
  }
}

type HeldRoles = ReadonlyMap<number, readonly HeldRoleRow[]>;

function userRoles({ user_id, username }: UserRecord, held: HeldRoles): UserRoles {
  const roles = held.get(user_id) ?? [];
  return {
    user_id,
    username,
    user_roles: inOrder(roles.filter(({ through_group }) => !through_group)),
    group_roles: inOrder(roles.filter(({ through_group }) => through_group)),
  };
}

function groupRoles({ group_id, group_name }: GroupRecord, held: HeldRoles): GroupRoles {
  return { group_id, group_name, roles: inOrder(held.get(group_id) ?? []) };
}

function inOrder(held: readonly HeldRoleRow[]): Role[] {
  return ROLES.filter((role) => held.some((row) => row.role === role));
}
