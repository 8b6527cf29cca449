import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam, UuidParam } from '../../../../platform/http/parameters';
import { GroupRoleWrite, RoleScopeQuery, UserRoleWrite } from './dto/role-assignment.dto';
import { RoleAssignmentsService } from './role-assignments.service';
import { TenantDirectoryController } from './tenant-directory.controller';
import { TenantDirectoryService } from './tenant-directory.service';

const tag = 'Platform administration';
const USER_MOVES =
  "Granting a role in another tenant, or a platform-wide role, moves an account from its owning tenant to the platform: the tenant's administrators can no longer change it. If one of them may know the password, a platform-wide role also removes the password and ends all sessions and tokens of the account; a PLATFORM ADMIN sets a new password.";
const GROUP_MOVES =
  'Granting a role in another tenant, or a platform-wide role, moves a group from its owning tenant to the platform, together with members that a tenant owns. A platform-wide role also removes the members that administrators of tenants added. Remaining members whose password such an administrator may know lose it, and their sessions and tokens end.';
const access = Allow.platform(['PLATFORM ADMIN']);

/** Serves the users, groups and roles of any tenant to PLATFORM ADMINs. */
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
    summary: 'Grant a user a role in a tenant, or a platform-wide role',
    description: `Grants the role, from the next request of the user on. ADMIN, CAN MANAGE CLUSTER and USER need tenant_id; platform-wide roles must not have it. A role that the user already holds there is refused with 409.\n\n${USER_MOVES}`,
    tag,
    access,
    response: Responses.one(UserRoleWrite),
    errors: [409],
  })
  assignUserRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') userId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RoleScopeQuery,
  ): Promise<UserRoleWrite> {
    return this.assignments.assignToUser(caller, userId, roleId, query.scope());
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/admin/tenant/user/{user_id}/role/{role_id}',
    id: 'removeTenantUserRole',
    summary: 'Revoke a role in a tenant, or a platform-wide role, from a user',
    description:
      'Revokes the role that the user holds directly, from the next request of the user on; one held through a group is revoked from the group. The last PLATFORM ADMIN cannot lose the role (409).',
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  removeUserRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('user_id') holderId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RoleScopeQuery,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'user', holderId, roleId, scope: query.scope() });
  }

  @Operation({
    method: 'POST',
    path: '/platform/admin/tenant/group/{group_id}/role/{role_id}',
    id: 'assignTenantGroupRole',
    summary: 'Grant a group a role in a tenant, or a platform-wide role',
    description: `Grants the role to all members, present and future. ADMIN, CAN MANAGE CLUSTER and USER need tenant_id; platform-wide roles must not have it. A role that the group already holds there is refused with 409.\n\n${GROUP_MOVES}`,
    tag,
    access,
    response: Responses.one(GroupRoleWrite),
    errors: [409],
  })
  assignGroupRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') groupId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RoleScopeQuery,
  ): Promise<GroupRoleWrite> {
    return this.assignments.assignToGroup(caller, groupId, roleId, query.scope());
  }

  @Operation({
    method: 'DELETE',
    path: '/platform/admin/tenant/group/{group_id}/role/{role_id}',
    id: 'removeTenantGroupRole',
    summary: 'Revoke a role in a tenant, or a platform-wide role, from a group',
    description:
      'Revokes the role of the group. Members lose it too, unless they hold it in another way. The last PLATFORM ADMIN cannot lose the role (409).',
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  removeGroupRole(
    @CurrentPrincipal() caller: Principal,
    @IdParam('group_id') holderId: number,
    @IdParam('role_id') roleId: number,
    @Query() query: RoleScopeQuery,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'group', holderId, roleId, scope: query.scope() });
  }
}
