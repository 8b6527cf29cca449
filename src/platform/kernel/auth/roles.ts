import { nameEnum } from '../dto/named-enums';

/** Roles of the specification. The first and the last apply across tenants, the others in one tenant. */
export const ROLES = nameEnum(
  'Role',
  ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER', 'PLATFORM BILLING'],
  'A role, which decides what its holder may call.',
  {
    'PLATFORM ADMIN': 'administers the platform and all tenants',
    ADMIN: 'administers one tenant',
    'CAN MANAGE CLUSTER': 'manages clusters and what they are made of',
    USER: 'works in the workspaces on which the user holds a permission',
    'PLATFORM BILLING': 'reads the usage and the costs of all tenants',
  },
);
export type Role = (typeof ROLES)[number];

/**
 * Roles that are not bound to a tenant. Their holders may select any tenant, and each operation decides what they may do
 * there.
 */
export const PLATFORM_ROLES: readonly Role[] = ['PLATFORM ADMIN', 'PLATFORM BILLING'];

export const ADMINS: readonly Role[] = ['ADMIN', 'PLATFORM ADMIN'];
export const CLUSTER_MANAGERS: readonly Role[] = ['CAN MANAGE CLUSTER', 'ADMIN', 'PLATFORM ADMIN'];
export const EVERY_TENANT_ROLE: readonly Role[] = ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER'];

/** Permissions in ascending order; each includes the ones before it. */
export const WORKSPACE_PERMISSIONS = nameEnum(
  'WorkspacePermissionName',
  ['VIEW', 'RUN', 'EDIT', 'MANAGE'],
  'A permission on a workspace. Each includes those before it.',
  {
    VIEW: 'sees the files, the jobs and their logs',
    RUN: 'runs jobs, notebooks and functions',
    EDIT: 'changes files and configurations',
    MANAGE: 'grants permissions and changes the workspace itself',
  },
);
export type WorkspacePermission = (typeof WORKSPACE_PERMISSIONS)[number];

export function includesPermission(held: WorkspacePermission, needed: WorkspacePermission): boolean {
  return WORKSPACE_PERMISSIONS.indexOf(held) >= WORKSPACE_PERMISSIONS.indexOf(needed);
}
