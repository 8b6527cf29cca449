import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import {
  ADMINS,
  EVERY_TENANT_ROLE,
  includesPermission,
  type Role,
  WORKSPACE_PERMISSIONS,
  type WorkspacePermission,
} from '../../../platform/kernel/auth/roles';
import type { AuthorNames } from '../../../platform/kernel/dto/answers';
import { firstRow, insertRow, NOW, rows, type Tx } from '../../../platform/kernel/persistence/sql';
import { type ResourceFilter, ResourceRepository } from '../../../platform/http/resources/resource-repository';
import { Workspace } from './entities/workspace.entity';
import { WorkspaceUser } from './entities/workspace-permissions.entity';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { heldRoles } from '../../foundation/iam';

export type WorkspaceRow = Workspace & AuthorNames;

/** Permission ids of the lookup table. */
export const PERMISSION_ID: Record<WorkspacePermission, number> = { VIEW: 0, RUN: 1, EDIT: 2, MANAGE: 3 };

const RUNNING_PERMISSIONS = WORKSPACE_PERMISSIONS.filter((held) => includesPermission(held, 'RUN'))
  .map((held) => `'${held}'`)
  .join(', ');

/** Condition that a user, who is named twice, holds a permission on workspace `t`, directly or through a group. */
const HOLDS_PERMISSION = `EXISTS (SELECT 1 FROM workspace_users wu WHERE wu.workspace_id = t.workspace_id
    AND wu.user_id = ? AND wu.to_date = 'infinity')
  OR EXISTS (SELECT 1 FROM workspace_groups wg JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
    WHERE wg.workspace_id = t.workspace_id AND gu.user_id = ? AND wg.to_date = 'infinity')`;

/** SQL of the name of a user's strongest permission on a workspace, directly or through a group. */
const STRONGEST_PERMISSION = (workspace: string, user: string) => `
  SELECT p.name FROM workspace_permissions p WHERE p.permission_id IN (
    SELECT wu.permission_id FROM workspace_users wu
    WHERE wu.workspace_id = ${workspace} AND wu.user_id = ${user} AND wu.to_date = 'infinity'
    UNION ALL
    SELECT wg.permission_id FROM workspace_groups wg
    JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
    WHERE wg.workspace_id = ${workspace} AND gu.user_id = ${user} AND wg.to_date = 'infinity')
  ORDER BY p.permission_id DESC LIMIT 1`;

/**
 * SQL condition that a user, with the roles and permissions held now, may run things in a workspace. The guard applies the same
 * rule to requests.
 * @param of SQL expressions for the ids
 */
export function mayRun(of: Record<'user' | 'tenant' | 'workspace', string>): string {
  const listed = (roles: readonly Role[]) => roles.map((role) => `'${role}'`).join(', ');
  return `EXISTS (SELECT 1 FROM (${heldRoles(of.user)}) h
    WHERE (h.tenant_id IS NULL OR ${ofTenant('h', of.tenant)}) AND (h.role IN (${listed(ADMINS)})
      OR h.role IN (${listed(EVERY_TENANT_ROLE)})
        AND (${STRONGEST_PERMISSION(of.workspace, of.user)}) IN (${RUNNING_PERMISSIONS})))`;
}

/** Workspaces, or what is listed by them, on which the user holds a permission, directly or through a group. */
export function sharedWith<E extends Pick<Workspace, 'workspace_id'>>(userId: number): ResourceFilter<E> {
  return (conditions) => conditions.add(HOLDS_PERMISSION, userId, userId);
}

@Injectable()
export class WorkspacesRepository extends ResourceRepository<Workspace> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Workspace,
    });
  }

  /** The workspace as it is, which it stays until `tx` ends; null when there is none. */
  async hold(tx: Tx, workspaceId: number): Promise<Pick<Workspace, 'name' | 'to_date'> | null> {
    return firstRow(tx, 'SELECT name, to_date FROM workspaces WHERE workspace_id = $1 FOR SHARE', [workspaceId]);
  }

  /** The strongest permission of the user on the workspace, directly or through a group. */
  async permissionOf(workspaceId: number, userId: number): Promise<WorkspacePermission | null> {
    const row = await firstRow<{ name: WorkspacePermission }>(
      this.dataSource.manager,
      STRONGEST_PERMISSION('$1', '$2'),
      [workspaceId, userId],
    );
    return row?.name ?? null;
  }

  /** The workspaces with these ids, each with the user's strongest permission, in any order. */
  async withPermissions(
    asked: readonly { workspaceId: number; userId: number }[],
  ): Promise<(WorkspaceRow & { user_id: number; held: WorkspacePermission | null })[]> {
    return rows(
      this.dataSource.manager,
      `SELECT t.*, asked.user_id, (${STRONGEST_PERMISSION('t.workspace_id', 'asked.user_id')}) AS held
       FROM unnest($1::bigint[], $2::bigint[]) AS asked (workspace_id, user_id)
       JOIN workspaces t ON t.workspace_id = asked.workspace_id`,
      [asked.map(({ workspaceId }) => workspaceId), asked.map(({ userId }) => userId)],
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

  /** Gives the workspace a description if it has none. */
  async describe(tx: Tx, workspaceId: number, description: string, userId: number): Promise<void> {
    await tx.query(
      `UPDATE workspaces SET description = $2, modified_by_user_id = $3, last_update_date = platform_now()
       WHERE workspace_id = $1 AND description IS NULL`,
      [workspaceId, description, userId],
    );
  }

  /** Clears or sets the end of a workspace's validity. */
  async setEnd(tx: Tx, scope: TenantScope, workspaceId: number, isOpen: boolean): Promise<void> {
    await this.write(tx, scope, workspaceId, { to_date: isOpen ? Infinity : NOW });
  }

  /** Disabled workspaces are read and listed, too. */
  protected override addValidity(): void {
    return;
  }
}
