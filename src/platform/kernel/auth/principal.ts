import { CLUSTER_MANAGERS, type Role, type WorkspacePermission } from './roles';

/** The caller of a request. */
export interface Principal {
  userId: number;
  username: string;
  sessionId: string;
  /** `token` if the caller uses a personal token. */
  sessionKind: 'login' | 'token';
  /** Tenant selected for the session. */
  tenantId: string | null;
  roles: ReadonlySet<Role>;
}

/** The node whose agent calls: columns of its row that the guard needs. The agents' API reads the others. */
export interface AuthenticatedNode {
  node_id: number;
  tenant_id: string;
}

/** The first parameter of every repository method for a tenant's records. */
export interface TenantScope {
  tenantId: string;
  userId: number;
  username: string;
}

/** The workspace that the request names, after the guard has admitted the caller to it. */
export interface WorkspaceContext {
  workspaceId: number;
  name: string;
  description: string | null;
  /** False once the workspace is disabled. */
  active: boolean;
  /** The caller's permission; absent if the platform itself acts. */
  permission?: WorkspacePermission;
}

/** The caller within a workspace, to which the guard admitted them; the first parameter of every repository method for its records. */
export interface WorkspaceScope extends TenantScope {
  workspace: WorkspaceContext;
}

export function isTenantAdmin(principal: Pick<Principal, 'roles'>): boolean {
  return principal.roles.has('ADMIN') || principal.roles.has('PLATFORM ADMIN');
}

/** True if the caller administers the tenant, or only its clusters. */
export function managesClusters(principal: Pick<Principal, 'roles'>): boolean {
  return CLUSTER_MANAGERS.some((role) => principal.roles.has(role));
}
