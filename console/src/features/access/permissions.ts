import type { WorkspacePermissionName } from 'managed-spark/types';

/** Permissions on a workspace; each includes those before it. */
export const PERMISSIONS = ['VIEW', 'RUN', 'EDIT', 'MANAGE'] as const satisfies readonly WorkspacePermissionName[];
