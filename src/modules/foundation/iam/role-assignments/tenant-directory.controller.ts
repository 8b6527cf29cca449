import { Query } from '@nestjs/common';
import type { Access } from '../../../../platform/kernel/auth/access';
import { Responses, Operation } from '../../../../platform/http/operation';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import { GroupRead, UserRead } from '../users-and-groups/dto/directory.dto';
import {
  GroupRoles,
  RoleGroupsPage,
  RoleUsersPage,
  TenantGroupSearchQuery,
  TenantUserSearchQuery,
  UserRoles,
} from './dto/role-assignment.dto';
import type { TenantDirectoryService } from './tenant-directory.service';

/** Configures the two sets of routes that read a tenant's users and groups. */
export interface TenantDirectoryRoutes {
  /** Part of the operation ids, for example `listAdminUsers`. */
  word: 'Admin' | 'Tenant';
  tag: string;
  path: string;
  /** Path of one group, relative to `path`. */
  groupPath: '/groups/{group_id}' | '/group/{group_id}';
  access: Access;
  /** Supplies the tenant's id. */
  tenant: ParameterDecorator;
}

/** Returns a base controller with the twelve reads of a tenant's users, groups and their roles. */
export function TenantDirectoryController(routes: TenantDirectoryRoutes) {
  const { word, tag, path, groupPath, access } = routes;
  const ofTenant = word === 'Admin' ? 'the selected tenant' : 'the tenant that the path names';
  const read = { method: 'GET', tag, access } as const;
  // Nest lists a handler's last parameter first in the OpenAPI document, and generated clients keep that order.
  const Tenant = () => routes.tenant;

  abstract class Controller {
    protected constructor(private readonly directory: TenantDirectoryService) {}

    @Operation({
      ...read,
      path: `${path}/users`,
      id: `list${word}Users`,
      summary: 'List the users who hold a role in the tenant, directly or through a group',
      description: `Returns the users who hold at least one role in ${ofTenant}, directly or through a group.`,
      response: Responses.page(UserRead),
    })
    listUsers(@Query() query: PageQuery, @Tenant() tenantId: string): Promise<Page<UserRead>> {
      return this.directory.listUsers(tenantId, query);
    }

    @Operation({
      ...read,
      path: `${path}/users/search`,
      id: `search${word}Users`,
      summary: 'Search the users of the tenant by part of the user name',
      description: `Returns the users of ${ofTenant} whose name contains the text, ignoring case.`,
      response: Responses.page(UserRead),
    })
    searchUsers(@Query() query: TenantUserSearchQuery, @Tenant() tenantId: string): Promise<Page<UserRead>> {
      return this.directory.listUsers(tenantId, query, query.username);
    }

    @Operation({
      ...read,
      path: `${path}/user/{user_id}`,
      id: `get${word}User`,
      summary: 'Get a user of the tenant',
      description: `Returns one user who holds a role in ${ofTenant}; for any other, the answer is 404.`,
      response: Responses.one(UserRead),
    })
    getUser(@IdParam('user_id') userId: number, @Tenant() tenantId: string): Promise<UserRead> {
      return this.directory.getUser(tenantId, userId);
    }

    @Operation({
      ...read,
      path: `${path}/user/{user_id}/roles`,
      id: `get${word}UserRoles`,
      summary: 'Get the roles of a user in the tenant, direct ones and those through groups',
      description: `Returns the roles of one user in ${ofTenant}: those held directly, and those held through groups.`,
      response: Responses.one(UserRoles),
    })
    getUserRoles(@IdParam('user_id') userId: number, @Tenant() tenantId: string): Promise<UserRoles> {
      return this.directory.getUserRoles(tenantId, userId);
    }

    @Operation({
      ...read,
      path: `${path}/roles/users`,
      id: `list${word}UsersRoles`,
      summary: 'List the users of the tenant with their roles',
      description: `Returns the users of ${ofTenant}, each with the roles held directly and through groups.`,
      response: Responses.page(UserRoles),
    })
    listUsersRoles(@Query() query: PageQuery, @Tenant() tenantId: string): Promise<Page<UserRoles>> {
      return this.directory.listUsersRoles(tenantId, query);
    }

    @Operation({
      ...read,
      path: `${path}/roles/users/{role_id}`,
      id: `list${word}RoleUsers`,
      summary: 'List the users of the tenant who hold a role',
      description: `Returns the role with the users who hold it in ${ofTenant}, directly or through a group.`,
      response: Responses.one(RoleUsersPage),
    })
    listRoleUsers(
      @Query() query: PageQuery,
      @IdParam('role_id') roleId: number,
      @Tenant() tenantId: string,
    ): Promise<RoleUsersPage> {
      return this.directory.listRoleUsers(tenantId, roleId, query);
    }

    @Operation({
      ...read,
      path: `${path}/groups`,
      id: `list${word}Groups`,
      summary: 'List the groups that hold a role in the tenant',
      description: `Returns the groups that hold at least one role in ${ofTenant}.`,
      response: Responses.page(GroupRead),
    })
    listGroups(@Query() query: PageQuery, @Tenant() tenantId: string): Promise<Page<GroupRead>> {
      return this.directory.listGroups(tenantId, query);
    }

    @Operation({
      ...read,
      path: `${path}/groups/search`,
      id: `search${word}Groups`,
      summary: 'Search the groups of the tenant by part of the name',
      description: `Returns the groups of ${ofTenant} whose name contains the text, ignoring case.`,
      response: Responses.page(GroupRead),
    })
    searchGroups(@Query() query: TenantGroupSearchQuery, @Tenant() tenantId: string): Promise<Page<GroupRead>> {
      return this.directory.listGroups(tenantId, query, query.groupname);
    }

    @Operation({
      ...read,
      path: `${path}${groupPath}`,
      id: `get${word}Group`,
      summary: 'Get a group of the tenant',
      description: `Returns one group that holds a role in ${ofTenant}; for any other, the answer is 404.`,
      response: Responses.one(GroupRead),
    })
    getGroup(@IdParam('group_id') groupId: number, @Tenant() tenantId: string): Promise<GroupRead> {
      return this.directory.getGroup(tenantId, groupId);
    }

    @Operation({
      ...read,
      path: `${path}/groups/{group_id}/roles`,
      id: `get${word}GroupRoles`,
      summary: 'Get the roles of a group in the tenant',
      description: `Returns the roles that one group holds in ${ofTenant}.`,
      response: Responses.one(GroupRoles),
    })
    getGroupRoles(@IdParam('group_id') groupId: number, @Tenant() tenantId: string): Promise<GroupRoles> {
      return this.directory.getGroupRoles(tenantId, groupId);
    }

    @Operation({
      ...read,
      path: `${path}/roles/groups`,
      id: `list${word}GroupsRoles`,
      summary: 'List the groups of the tenant with their roles',
      description: `Returns the groups of ${ofTenant}, each with its roles.`,
      response: Responses.page(GroupRoles),
    })
    listGroupsRoles(@Query() query: PageQuery, @Tenant() tenantId: string): Promise<Page<GroupRoles>> {
      return this.directory.listGroupsRoles(tenantId, query);
    }

    @Operation({
      ...read,
      path: `${path}/roles/groups/{role_id}`,
      id: `list${word}RoleGroups`,
      summary: 'List the groups of the tenant that hold a role',
      description: `Returns the role with the groups that hold it in ${ofTenant}.`,
      response: Responses.one(RoleGroupsPage),
    })
    listRoleGroups(
      @Query() query: PageQuery,
      @IdParam('role_id') roleId: number,
      @Tenant() tenantId: string,
    ): Promise<RoleGroupsPage> {
      return this.directory.listRoleGroups(tenantId, roleId, query);
    }
  }
  return Controller;
}
