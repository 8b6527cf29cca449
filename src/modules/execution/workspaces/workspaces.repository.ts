import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import type { WorkspacePermission } from '../../../platform/kernel/auth/roles';
import type { AuthorNames } from '../../../platform/kernel/dto/response-fields';
import { firstRow, insertRow, NOW, rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { ResourceRepository } from '../../../platform/http/resources/resource-repository';
import { Workspace } from './entities/workspace.entity';
import { WorkspaceUser } from './entities/workspace-permissions.entity';
import { STRONGEST_PERMISSION } from './workspaces.joins';

export type WorkspaceRow = Workspace & AuthorNames;

export const PERMISSION_ID: Record<WorkspacePermission, number> = { VIEW: 0, RUN: 1, EDIT: 2, MANAGE: 3 };

@Injectable()
export class WorkspacesRepository extends ResourceRepository<Workspace> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Workspace,
    });
  }

  /** Locks the workspace against changes until `tx` ends. Returns null if it does not exist. */
  async lock(tx: Tx, workspaceId: number): Promise<Pick<Workspace, 'name' | 'to_date'> | null> {
    return firstRow(tx, 'SELECT name, to_date FROM workspaces WHERE workspace_id = $1 FOR SHARE', [workspaceId]);
  }

  /** Returns the strongest permission of the user on the workspace, directly or through a group. */
  async permissionOf(workspaceId: number, userId: number): Promise<WorkspacePermission | null> {
    const row = await firstRow<{ name: WorkspacePermission }>(
      this.dataSource.manager,
      STRONGEST_PERMISSION('$1', '$2'),
      [workspaceId, userId],
    );
    return row?.name ?? null;
  }

  /** Returns the workspaces with these ids, each with the user's strongest permission, in any order. */
  async withPermissions(
    requested: readonly { workspaceId: number; userId: number }[],
  ): Promise<(WorkspaceRow & { user_id: number; held: WorkspacePermission | null })[]> {
    return rows(
      this.dataSource.manager,
      `SELECT t.*, requested.user_id, (${STRONGEST_PERMISSION('t.workspace_id', 'requested.user_id')}) AS held
       FROM unnest($1::bigint[], $2::bigint[]) AS requested (workspace_id, user_id)
       JOIN workspaces t ON t.workspace_id = requested.workspace_id`,
      [requested.map(({ workspaceId }) => workspaceId), requested.map(({ userId }) => userId)],
    );
  }

  async grantToUser(tx: Tx, workspace: WorkspaceRow, userId: number, permission: WorkspacePermission): Promise<void> {
    await insertRow(tx, WorkspaceUser, {
      tenant_id: workspace.tenant_id,
      workspace_id: workspace.workspace_id,
      user_id: userId,
      permission_id: PERMISSION_ID[permission],
      created_by_user_id: userId,
      modified_by_user_id: userId,
    });
  }

  async describe(tx: Tx, workspaceId: number, description: string, userId: number): Promise<void> {
    await tx.query(
      `UPDATE workspaces SET description = $2, modified_by_user_id = $3, last_update_date = platform_now()
       WHERE workspace_id = $1 AND description IS NULL`,
      [workspaceId, description, userId],
    );
  }

  /** Reopens or ends the validity of a workspace. */
  async setEnd(tx: Tx, scope: TenantScope, workspaceId: number, isOpen: boolean): Promise<void> {
    await this.write(tx, scope, workspaceId, { to_date: isOpen ? Infinity : NOW });
  }

  /** Disabled workspaces are read and listed too. */
  protected override addValidity(): void {
    return;
  }
}
