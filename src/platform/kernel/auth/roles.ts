/** Roles of the specification. The first and the last apply across tenants, the others in one tenant. */
export const ROLES = ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER', 'PLATFORM BILLING'] as const;
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
export const WORKSPACE_PERMISSIONS = ['VIEW', 'RUN', 'EDIT', 'MANAGE'] as const;
export type WorkspacePermission = (typeof WORKSPACE_PERMISSIONS)[number];

export function includesPermission(held: WorkspacePermission, needed: WorkspacePermission): boolean {
  return WORKSPACE_PERMISSIONS.indexOf(held) >= WORKSPACE_PERMISSIONS.indexOf(needed);
}
