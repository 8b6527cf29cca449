import { Injectable } from '@nestjs/common';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { conflict, notFound } from '../../../platform/kernel/errors/domain-error';
import { idText, type Message, readAudit, validity, writeAudit } from '../../../platform/kernel/dto/response-fields';
import { MAX_PAGE, type Page, type PageRequest } from '../../../platform/kernel/dto/page';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { groupRead, type GroupRead, AccountsService, userRead, type UserRead } from '../../foundation/iam';
import type {
  WorkspaceGroupPermissionRead,
  WorkspaceGroupPermissionWrite,
  WorkspaceGroupsPage,
  WorkspacePermissionRead,
  WorkspaceUserPermissionRead,
  WorkspaceUserPermissionWrite,
  WorkspaceUsersPage,
} from './dto/workspace-access.dto';
import type { WorkspacePermissionRecord } from './entities/workspace-permissions.entity';
import {
  type AssignedPermission,
  type HeldPermission,
  type Holder,
  type HolderFilter,
  type HolderKind,
  WorkspaceAccessRepository,
} from './workspace-access.repository';

@Injectable()
export class WorkspaceAccessService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: WorkspaceAccessRepository,
    private readonly accounts: AccountsService,
  ) {}

  async permissions(): Promise<WorkspacePermissionRead[]> {
    return (await this.repository.permissions()).map(permissionRead);
  }

  async permission(permissionId: number): Promise<WorkspacePermissionRead> {
    return permissionRead(await this.getPermission(permissionId));
  }

  async users(workspace: WorkspaceContext, page: PageRequest, filter: HolderFilter): Promise<WorkspaceUsersPage> {
    return this.byPermission('user', workspace, page, filter, (holders) => ({ users: holders.map(userRead) }));
  }

  async groups(workspace: WorkspaceContext, page: PageRequest, filter: HolderFilter): Promise<WorkspaceGroupsPage> {
    return this.byPermission('group', workspace, page, filter, (holders) => ({ groups: holders.map(groupRead) }));
  }

  async matchUser(workspace: WorkspaceContext, username: string): Promise<UserRead> {
    // User names are stored in lower case.
    const [user] = (await this.findByName('user', workspace, username.toLowerCase())).data;
    if (!user) throw noHolder('USER', `user named "${username}"`, workspace);
    return userRead(user);
  }

  /** Returns one group per directory. */
  async matchGroup(workspace: WorkspaceContext, groupname: string): Promise<GroupRead[]> {
    const { data } = await this.findByName('group', workspace, groupname);
    if (data.length === 0) throw noHolder('GROUP', `group named "${groupname}"`, workspace);
    return data.map(groupRead);
  }

  async userPermission({ tenantId, workspace }: WorkspaceScope, userId: number): Promise<WorkspaceUserPermissionRead> {
    const { workspaceId } = workspace;
    const one = { limit: 1, pageNumber: 1 };
    const [holders, own, ofGroups] = await Promise.all([
      this.repository.list('user', workspaceId, one, { holderId: userId }),
      this.repository.heldBy('user', workspaceId, userId),
      this.repository.heldByGroupsOf(workspaceId, userId),
    ]);
    const [user] = holders.data;
    const strongest = [...(own ? [own] : []), ...ofGroups].toSorted((a, b) => b.permission_id - a.permission_id)[0];
    if (!user || !strongest) throw noHolder('USER', `user with id ${userId}`, workspace);
    return {
      user_id: userId,
      username: user.username,
      workspace: refOf(workspace),
      tenant_id: tenantId,
      effective_permission: permissionRef(strongest),
      user_permission: own && {
        auth_workspace_user_id: own.held_id,
        permission: permissionRef(own),
        ...readAudit(own),
      },
      group_permission: ofGroups.length === 0 ? null : ofGroups.map(groupEntry),
    };
  }

  async groupPermission(
    { tenantId, workspace }: WorkspaceScope,
    groupId: number,
  ): Promise<WorkspaceGroupPermissionRead> {
    const held = await this.repository.heldBy('group', workspace.workspaceId, groupId);
    if (!held) throw noHolder('GROUP', `group with id ${groupId}`, workspace);
    return {
      group_id: groupId,
      group_name: held.holder_name,
      workspace: refOf(workspace),
      tenant_id: tenantId,
      group_permission: groupEntry(held),
    };
  }

  /** Assigns a permission in place of another that the user held directly. It holds from the next request on. */
  async assignToUser(
    scope: WorkspaceScope,
    { user_id: userId, permission_id: permissionId }: { user_id: number; permission_id: number },
  ): Promise<WorkspaceUserPermissionWrite> {
    const lockHolder = (tx: Tx) => this.accounts.lockUser(tx, scope.tenantId, userId);
    const { held_id, ...answer } = await this.assign('user', scope, { holderId: userId, permissionId }, lockHolder);
    return { auth_workspace_user_id: held_id, user_id: idText(userId), ...answer };
  }

  /** Does the same for a group and all of its present and future members. */
  async assignToGroup(
    scope: WorkspaceScope,
    { group_id: groupId, permission_id: permissionId }: { group_id: number; permission_id: number },
  ): Promise<WorkspaceGroupPermissionWrite> {
    const lockHolder = (tx: Tx) => this.accounts.lockGroup(tx, scope.tenantId, groupId);
    const { held_id, ...answer } = await this.assign('group', scope, { holderId: groupId, permissionId }, lockHolder);
    return { auth_workspace_group_id: held_id, group_id: idText(groupId), ...answer };
  }

  /** Revokes a permission from the next request on. The holder need not be in the tenant any longer. */
  async revoke(kind: HolderKind, scope: WorkspaceScope, holderId: number, permissionId: number): Promise<Message> {
    const { name } = await this.getPermission(permissionId);
    return this.transactions.run(async (tx) => {
      const { workspaceId } = scope.workspace;
      if (!(await this.repository.revoke(tx, kind, scope, { workspaceId, holderId, permissionId }))) {
        throw notFound(
          'WORKSPACE_PERMISSION.NOT_HELD',
          `The ${kind} with id ${holderId} does not hold ${name} on the workspace "${scope.workspace.name}" directly.`,
        );
      }
      return {
        message: `The permission ${name} on the workspace "${scope.workspace.name}" is revoked from the ${kind} with id ${holderId}.`,
      };
    });
  }

  private async assign(
    kind: HolderKind,
    scope: WorkspaceScope,
    { holderId, permissionId }: { holderId: number; permissionId: number },
    lockHolder: (tx: Tx) => Promise<string>,
  ) {
    const permission = await this.getPermission(permissionId);
    return this.transactions.run(async (tx) => {
      const holder = await lockHolder(tx);
      const { workspaceId } = scope.workspace;
      const assigned = await this.repository.assign(tx, kind, scope, { workspaceId, holderId, permissionId });
      if (!assigned) {
        throw conflict(
          'WORKSPACE_PERMISSION.ALREADY_HELD',
          `The ${kind} "${holder}" already holds ${permission.name} on the workspace "${scope.workspace.name}".`,
        );
      }
      return permissionWrite(assigned);
    });
  }

  private async byPermission<K extends HolderKind, H extends object>(
    kind: K,
    { workspaceId, name, description }: WorkspaceContext,
    page: PageRequest,
    filter: HolderFilter,
    holdersOf: (holders: Holder<K>[]) => H,
  ) {
    const requested =
      filter.permissionId === undefined
        ? await this.repository.permissions()
        : [await this.getPermission(filter.permissionId)];
    const { data, result_set } = await this.repository.list(kind, workspaceId, page, filter);
    const permissions = requested.map((permission) => ({
      permission_id: permission.permission_id,
      name: permission.name,
      description: permission.description,
      ...holdersOf(data.filter((holder) => holder.permission_id === permission.permission_id)),
    }));
    const [only] = permissions;
    const permission = filter.permissionId === undefined || !only ? permissions : only;
    return { data: { workspace_id: workspaceId, workspace_name: name, description, permission }, result_set };
  }

  private findByName<K extends HolderKind>(
    kind: K,
    { workspaceId }: WorkspaceContext,
    name: string,
  ): Promise<Page<Holder<K>>> {
    return this.repository.list(kind, workspaceId, { limit: MAX_PAGE, pageNumber: 1 }, { name });
  }

  private async getPermission(permissionId: number): Promise<WorkspacePermissionRecord> {
    const permission = await this.repository.permission(permissionId);
    if (permission) return permission;
    throw notFound(
      'WORKSPACE_PERMISSION.NOT_FOUND',
      `There is no workspace permission with id ${permissionId}. GET /workspace/permissions lists them.`,
    );
  }
}

function noHolder(code: 'USER' | 'GROUP', who: string, { name }: WorkspaceContext) {
  return notFound(`${code}.NOT_FOUND`, `There is no ${who} with a permission on the workspace "${name}".`);
}

function refOf({ workspaceId, name, description }: WorkspaceContext) {
  return { workspace_id: workspaceId, name, description };
}

function permissionRead(row: WorkspacePermissionRecord): WorkspacePermissionRead {
  return { permission_id: row.permission_id, name: row.name, description: row.description, ...validity(row) };
}

function permissionRef({ permission_id, permission_name, permission_description }: HeldPermission) {
  return { auth_workspace_perm_id: permission_id, name: permission_name, description: permission_description };
}

function groupEntry(held: HeldPermission) {
  return {
    auth_workspace_group_id: held.held_id,
    group_id: held.holder_id,
    group_name: held.holder_name,
    permission: permissionRef(held),
    ...readAudit(held),
  };
}

function permissionWrite(row: AssignedPermission) {
  return {
    held_id: idText(row.held_id),
    workspace_id: idText(row.workspace_id),
    auth_workspace_perm_id: idText(row.permission_id),
    tenant_id: row.tenant_id,
    ...writeAudit(row),
  };
}
