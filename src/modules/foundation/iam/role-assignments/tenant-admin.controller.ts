import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { CurrentPrincipal, CurrentTenantId } from '../../../../platform/http/auth/request-principal';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../../platform/http/operation';
import { IdParam } from '../../../../platform/http/parameters';
import { GroupRoleWrite, UserRoleWrite } from './dto/role-assignment.dto';
import { RoleAssignmentsService } from './role-assignments.service';
import { TenantDirectoryController } from './tenant-directory.controller';
import { TenantDirectoryService } from './tenant-directory.service';

const tag = 'Tenant administration';
const MOVES =
  'A role granted by an ADMIN changes neither the owner of the user or group nor the tenant selected at login. A role that a PLATFORM ADMIN grants outside the tenant that owns the user or group moves it to the platform.';
const access = Allow.tenant(ADMINS);

/** Serves the users, groups and roles of the selected tenant to its ADMINs. */
@Controller()
export class TenantAdminController extends TenantDirectoryController({
  word: 'Admin',
  tag,
  path: '/admin',
  groupPath: '/groups/{group_id}',
  access,
  tenant: CurrentTenantId(),
}) {
  constructor(
    directory: TenantDirectoryService,
    private readonly assignments: RoleAssignmentsService,
  ) {
    super(directory);
  }

  @Operation({
    method: 'POST',
    path: '/admin/user/{user_id}/role/{role_id}',
    id: 'assignUserRole',
    summary: 'Grant a user a role in the selected tenant',
    description: `Grants ADMIN, CAN MANAGE CLUSTER or USER in the selected tenant, from the next request of the user on. A role that the user already holds there is refused with 409. ${MOVES}`,
    tag,
    access,
    response: Responses.one(UserRoleWrite),
    errors: [409],
  })
  assignUserRole(
    @CurrentPrincipal() caller: Principal,
    @CurrentTenantId() tenantId: string,
    @IdParam('user_id') userId: number,
    @IdParam('role_id') roleId: number,
  ): Promise<UserRoleWrite> {
    return this.assignments.assignToUser(caller, userId, roleId, { kind: 'selected', tenantId });
  }

  @Operation({
    method: 'DELETE',
    path: '/admin/user/{user_id}/role/{role_id}',
    id: 'removeUserRole',
    summary: 'Revoke a role in the selected tenant from a user',
    description:
      'Revokes the role that the user holds directly in the selected tenant; one held through a group is revoked from the group. You cannot revoke your own last ADMIN role (409).',
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  removeUserRole(
    @CurrentPrincipal() caller: Principal,
    @CurrentTenantId() tenantId: string,
    @IdParam('user_id') holderId: number,
    @IdParam('role_id') roleId: number,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'user', holderId, roleId, scope: { kind: 'selected', tenantId } });
  }

  @Operation({
    method: 'POST',
    path: '/admin/group/{group_id}/role/{role_id}',
    id: 'assignGroupRole',
    summary: 'Grant a group a role in the selected tenant',
    description: `Grants ADMIN, CAN MANAGE CLUSTER or USER in the selected tenant to all members, present and future. A role that the group already holds there is refused with 409. ${MOVES}`,
    tag,
    access,
    response: Responses.one(GroupRoleWrite),
    errors: [409],
  })
  assignGroupRole(
    @CurrentPrincipal() caller: Principal,
    @CurrentTenantId() tenantId: string,
    @IdParam('group_id') groupId: number,
    @IdParam('role_id') roleId: number,
  ): Promise<GroupRoleWrite> {
    return this.assignments.assignToGroup(caller, groupId, roleId, { kind: 'selected', tenantId });
  }

  @Operation({
    method: 'DELETE',
    path: '/admin/group/{group_id}/role/{role_id}',
    id: 'removeGroupRole',
    summary: 'Revoke a role in the selected tenant from a group',
    description:
      'Revokes the role of the group in the selected tenant. Members lose it too, unless they hold it in another way. You cannot revoke your own last ADMIN role (409).',
    tag,
    access,
    response: Responses.message,
    status: 201,
    errors: [409],
  })
  removeGroupRole(
    @CurrentPrincipal() caller: Principal,
    @CurrentTenantId() tenantId: string,
    @IdParam('group_id') holderId: number,
    @IdParam('role_id') roleId: number,
  ): Promise<Message> {
    return this.assignments.remove(caller, { kind: 'group', holderId, roleId, scope: { kind: 'selected', tenantId } });
  }
}
