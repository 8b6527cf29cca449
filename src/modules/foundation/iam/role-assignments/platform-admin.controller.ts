import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/answers';
import { Answers, Operation } from '../../../../platform/http/operation';
import { IdParam, UuidParam } from '../../../../platform/http/parameters';
import { GroupRoleWrite, RolePlaceQuery, UserRoleWrite } from './dto/role-assignment.dto';
import { RoleAssignmentsService } from './role-assignments.service';
import { TenantDirectoryController } from './tenant-directory.controller';
import { TenantDirectoryService } from './tenant-directory.service';

const tag = 'Platform administration';
const USER_MOVES =
  'A role in another tenant, or a platform-wide one, moves an account that a tenant owns to the platform: administrators of the tenant can no longer change it. A platform-wide role also ends its sessions and tokens, and its password if one of them may know it; a PLATFORM ADMIN sets a new one.';
const GROUP_MOVES =
  'A role in another tenant, or a platform-wide one, moves a group that a tenant owns to the platform, together with those of its members that a tenant owns. A platform-wide role also ends the memberships that administrators of tenants gave, and the passwords, sessions and tokens they may know of the members that stay.';
const access = Allow.platform(['PLATFORM ADMIN']);

/** Who is in any tenant, and the roles in all of them. */
@Controller()
export class PlatformAdminController extends TenantDirectoryController({
  word: 'Tenant',
  tag,
  path: '/platform/admin/tenant/{tenant_id}',
  groupPath: '/group/{group_id}',
  access,
  tenant: UuidParam('tenant_id'),
}) {
  constructor(
    directory: TenantDirectoryService,
    private readonly assignments: RoleAssignmentsService,
  ) {
    super(directory);
  }

  @Operation({
    method: 'POST',
    path: '/platform/admin/tenant/user/{user_id}/role/{role_id}',
    id: 'assignTenantUserRole',
    summary: 'Give a user a role in a tenant, or a platform-wide one',
    description: USER_MOVES,
    tag,
    access,
    answer: Answers.one(UserRoleWrite),
    errors: [409],
  })
  assignUserRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') userId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RolePlaceQuery,
  ): Promise<UserRoleWrite> {
    return this.assignments.assignToUser(caller, userId, roleId, query.place());
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/admin/tenant/user/{user_id}/role/{role_id}',
    id: 'removeTenantUserRole',
    summary: 'Take a role in a tenant, or a platform-wide one, from a user',
    tag,
    access,
    answer: Answers.message,
    status: 201,
    errors: [409],
  })
  removeUserRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') holderId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RolePlaceQuery,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'user', holderId, roleId, place: query.place() });
  }

  @Operation({
    method: 'POST',
    path: '/platform/admin/tenant/group/{group_id}/role/{role_id}',
    id: 'assignTenantGroupRole',
    summary: 'Give a group a role in a tenant, or a platform-wide one',
    description: GROUP_MOVES,
    tag,
    access,
    answer: Answers.one(GroupRoleWrite),
    errors: [409],
  })
  assignGroupRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') groupId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RolePlaceQuery,
  ): Promise<GroupRoleWrite> {
    return this.assignments.assignToGroup(caller, groupId, roleId, query.place());
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/admin/tenant/group/{group_id}/role/{role_id}',
    id: 'removeTenantGroupRole',
    summary: 'Take a role in a tenant, or a platform-wide one, from a group',
    tag,
    access,
    answer: Answers.message,
    status: 201,
    errors: [409],
  })
  removeGroupRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') holderId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RolePlaceQuery,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'group', holderId, roleId, place: query.place() });
  }
}
