import {
  ADMINS,
  EVERY_TENANT_ROLE,
  includesPermission,
  type Role,
  WORKSPACE_PERMISSIONS,
} from '../../../platform/kernel/auth/roles';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import type { ResourceFilter } from '../../../platform/http/resources/resource-repository';
import { heldRoles } from '../../foundation/iam';
import type { Workspace } from './entities/workspace.entity';

const RUNNING_PERMISSIONS = WORKSPACE_PERMISSIONS.filter((held) => includesPermission(held, 'RUN'))
  .map((held) => `'${held}'`)
  .join(', ');

/**
 * Condition that a user holds a permission on workspace `t`, directly or through a group. The user's id is passed
 * twice.
 */
const HOLDS_PERMISSION = `EXISTS (SELECT 1 FROM workspace_users wu WHERE wu.workspace_id = t.workspace_id
    AND wu.user_id = ? AND wu.to_date = 'infinity')
  OR EXISTS (SELECT 1 FROM workspace_groups wg JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
    WHERE wg.workspace_id = t.workspace_id AND gu.user_id = ? AND wg.to_date = 'infinity')`;

/** Returns SQL for the name of a user's strongest permission on a workspace, directly or through a group. */
export const STRONGEST_PERMISSION = (workspace: string, user: string) => `
  SELECT p.name FROM workspace_permissions p WHERE p.permission_id IN (
    SELECT wu.permission_id FROM workspace_users wu
    WHERE wu.workspace_id = ${workspace} AND wu.user_id = ${user} AND wu.to_date = 'infinity'
    UNION ALL
    SELECT wg.permission_id FROM workspace_groups wg
    JOIN group_users gu ON gu.group_id = wg.group_id AND gu.to_date = 'infinity'
    WHERE wg.workspace_id = ${workspace} AND gu.user_id = ${user} AND wg.to_date = 'infinity')
  ORDER BY p.permission_id DESC LIMIT 1`;

/**
 * Returns an SQL condition that a user, with the present roles and permissions, may run things in a workspace. The
 * guard applies the same rule to requests.
 * @param of SQL expressions for the ids
 */
export function mayRun(of: Record<'user' | 'tenant' | 'workspace', string>): string {
  const listed = (roles: readonly Role[]) => roles.map((role) => `'${role}'`).join(', ');
  return `EXISTS (SELECT 1 FROM (${heldRoles(of.user)}) h
    WHERE (h.tenant_id IS NULL OR ${ofTenant('h', of.tenant)}) AND (h.role IN (${listed(ADMINS)})
      OR h.role IN (${listed(EVERY_TENANT_ROLE)})
        AND (${STRONGEST_PERMISSION(of.workspace, of.user)}) IN (${RUNNING_PERMISSIONS})))`;
}

/**
 * Filters for workspaces, or rows with a workspace, on which the user holds a permission, directly or through a group.
 */
export function sharedWith<E extends Pick<Workspace, 'workspace_id'>>(userId: number): ResourceFilter<E> {
  return (conditions) => conditions.add(HOLDS_PERMISSION, userId, userId);
}

/** Returns SQL for the ids of the workspaces of a tenant on which a user holds a permission, directly or through a group. */
export const workspacesSharedWith = (user: string, tenant: string) => `
  SELECT wu.workspace_id FROM workspace_users wu
  WHERE wu.user_id = ${user} AND ${ofTenant('wu', tenant)} AND wu.to_date = 'infinity'
  UNION
  SELECT wg.workspace_id FROM group_users gu JOIN workspace_groups wg ON wg.group_id = gu.group_id
  WHERE gu.user_id = ${user} AND gu.to_date = 'infinity' AND ${ofTenant('wg', tenant)} AND wg.to_date = 'infinity'`;

/** Returns SQL for the ids of all workspaces of a tenant. */
export const workspacesOf = (tenant: string) =>
  `SELECT w.workspace_id FROM workspaces w WHERE ${ofTenant('w', tenant)}`;

/** Returns an SQL condition that a workspace may use a cluster, by SQL expressions for their ids. */
export const servesWorkspace = (clusterId: string, workspaceId: string) => `(
  NOT EXISTS (SELECT 1 FROM cluster_workspaces WHERE cluster_id = ${clusterId})
  OR EXISTS (SELECT 1 FROM cluster_workspaces
    WHERE cluster_id = ${clusterId} AND workspace_id = ${workspaceId} AND to_date = 'infinity'))`;
