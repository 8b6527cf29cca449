import { Query } from '@nestjs/common';
import type { Access } from '../../../../platform/kernel/auth/access';
import { declareOperation, type HandlerParameter } from '../../../../platform/http/declare-operation';
import { Answers } from '../../../../platform/http/operation';
import { type OperationOptions } from '../../../../platform/http/operation-options';
import { type Page, PageQuery } from '../../../../platform/kernel/dto/page';
import { IdParam } from '../../../../platform/http/parameters';
import { GroupRead, UserRead } from '../users-and-groups/dto/people.dto';
import {
  GroupRoles,
  RoleGroupsPage,
  RoleUsersPage,
  TenantGroupSearchQuery,
  TenantUserSearchQuery,
  UserRoles,
} from './dto/role-assignment.dto';
import type { TenantDirectoryService } from './tenant-directory.service';

/** What differs between the two ways to read who is in a tenant. */
export interface TenantDirectoryRoutes {
  /** Operation ids are made with it: `listAdminUsers`. */
  word: 'Admin' | 'Tenant';
  tag: string;
  /** What all paths begin with. */
  path: string;
  /** Path of one group after that. */
  groupPath: '/groups/{group_id}' | '/group/{group_id}';
  access: Access;
  /** Fills the tenant's id. */
  tenant: ParameterDecorator;
}

/** Base class of a controller with the twelve reads of a tenant's users, groups and their roles. */
export function TenantDirectoryController(routes: TenantDirectoryRoutes) {
  abstract class Controller {
    protected constructor(private readonly directory: TenantDirectoryService) {}

    listUsers(tenantId: string, query: PageQuery): Promise<Page<UserRead>> {
      return this.directory.listUsers(tenantId, query);
    }

    searchUsers(tenantId: string, query: TenantUserSearchQuery): Promise<Page<UserRead>> {
      return this.directory.listUsers(tenantId, query, query.username);
    }

    getUser(tenantId: string, userId: number): Promise<UserRead> {
      return this.directory.getUser(tenantId, userId);
    }

    getUserRoles(tenantId: string, userId: number): Promise<UserRoles> {
      return this.directory.getUserRoles(tenantId, userId);
    }

    listUsersRoles(tenantId: string, query: PageQuery): Promise<Page<UserRoles>> {
      return this.directory.listUsersRoles(tenantId, query);
    }

    listRoleUsers(tenantId: string, roleId: number, query: PageQuery): Promise<RoleUsersPage> {
      return this.directory.listRoleUsers(tenantId, roleId, query);
    }

    listGroups(tenantId: string, query: PageQuery): Promise<Page<GroupRead>> {
      return this.directory.listGroups(tenantId, query);
    }

    // Before getGroup: a path with `search` would be one with an id otherwise.
    searchGroups(tenantId: string, query: TenantGroupSearchQuery): Promise<Page<GroupRead>> {
      return this.directory.listGroups(tenantId, query, query.groupname);
    }

    getGroup(tenantId: string, groupId: number): Promise<GroupRead> {
      return this.directory.getGroup(tenantId, groupId);
    }

    getGroupRoles(tenantId: string, groupId: number): Promise<GroupRoles> {
      return this.directory.getGroupRoles(tenantId, groupId);
    }

    listGroupsRoles(tenantId: string, query: PageQuery): Promise<Page<GroupRoles>> {
      return this.directory.listGroupsRoles(tenantId, query);
    }

    listRoleGroups(tenantId: string, roleId: number, query: PageQuery): Promise<RoleGroupsPage> {
      return this.directory.listRoleGroups(tenantId, roleId, query);
    }
  }

  const { word, tag, path, groupPath, access } = routes;
  const tenant = { decorate: routes.tenant, type: String };
  const id = (name: string) => ({ decorate: IdParam(name), type: Number });
  const page = { decorate: Query(), type: PageQuery };
  const declare = (
    method: keyof Controller,
    parameters: readonly HandlerParameter[],
    operation: Pick<OperationOptions, 'path' | 'id' | 'summary' | 'answer'>,
  ) =>
    declareOperation(Controller.prototype, method, [tenant, ...parameters], {
      ...operation,
      path: `${path}${operation.path}`,
      method: 'GET',
      tag,
      access,
    });

  declare('listUsers', [page], {
    path: '/users',
    id: `list${word}Users`,
    summary: 'List the users who hold a role in the tenant, directly or through a group',
    answer: Answers.page(UserRead),
  });
  declare('searchUsers', [{ decorate: Query(), type: TenantUserSearchQuery }], {
    path: '/users/search',
    id: `search${word}Users`,
    summary: 'Search the users of the tenant by part of the user name',
    answer: Answers.page(UserRead),
  });
  declare('getUser', [id('user_id')], {
    path: '/user/{user_id}',
    id: `get${word}User`,
    summary: 'Get a user of the tenant',
    answer: Answers.one(UserRead),
  });
  declare('getUserRoles', [id('user_id')], {
    path: '/user/{user_id}/roles',
    id: `get${word}UserRoles`,
    summary: 'Get the roles of a user in the tenant, direct ones and those through groups',
    answer: Answers.one(UserRoles),
  });
  declare('listUsersRoles', [page], {
    path: '/roles/users',
    id: `list${word}UsersRoles`,
    summary: 'List the users of the tenant with their roles',
    answer: Answers.page(UserRoles),
  });
  declare('listRoleUsers', [id('role_id'), page], {
    path: '/roles/users/{role_id}',
    id: `list${word}RoleUsers`,
    summary: 'List the users of the tenant who hold a role',
    answer: Answers.one(RoleUsersPage),
  });
  declare('listGroups', [page], {
    path: '/groups',
    id: `list${word}Groups`,
    summary: 'List the groups that hold a role in the tenant',
    answer: Answers.page(GroupRead),
  });
  declare('searchGroups', [{ decorate: Query(), type: TenantGroupSearchQuery }], {
    path: '/groups/search',
    id: `search${word}Groups`,
    summary: 'Search the groups of the tenant by part of the name',
    answer: Answers.page(GroupRead),
  });
  declare('getGroup', [id('group_id')], {
    path: groupPath,
    id: `get${word}Group`,
    summary: 'Get a group of the tenant',
    answer: Answers.one(GroupRead),
  });
  declare('getGroupRoles', [id('group_id')], {
    path: '/groups/{group_id}/roles',
    id: `get${word}GroupRoles`,
    summary: 'Get the roles of a group in the tenant',
    answer: Answers.one(GroupRoles),
  });
  declare('listGroupsRoles', [page], {
    path: '/roles/groups',
    id: `list${word}GroupsRoles`,
    summary: 'List the groups of the tenant with their roles',
    answer: Answers.page(GroupRoles),
  });
  declare('listRoleGroups', [id('role_id'), page], {
    path: '/roles/groups/{role_id}',
    id: `list${word}RoleGroups`,
    summary: 'List the groups of the tenant that hold a role',
    answer: Answers.one(RoleGroupsPage),
  });
  return Controller;
}
