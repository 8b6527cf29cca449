import { CLUSTER_MANAGERS, type Role, type WorkspacePermission } from './roles';

/** The caller of a request. */
export interface Principal {
  userId: number;
  username: string;
  sessionId: string;
  /** `token` for a personal token. */
  sessionKind: 'login' | 'token';
  /** Tenant selected for the session. */
  tenantId: string | null;
  roles: ReadonlySet<Role>;
}

/** The node whose agent calls, as a row of its table; the agents' API knows the rest of its columns. */
export interface AuthenticatedNode {
  node_id: number;
  tenant_id: string;
}

/** What every repository method of a tenant's records takes first. */
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
  /** False once disabled. */
  active: boolean;
  /** What the caller may do there; absent where the platform itself acts. */
  permission?: WorkspacePermission;
}

/** The caller within a workspace, to which the guard admitted them; the first parameter of every repository method for its records. */
export interface WorkspaceScope extends TenantScope {
  workspace: WorkspaceContext;
}

export function isTenantAdmin(principal: Pick<Principal, 'roles'>): boolean {
  return principal.roles.has('ADMIN') || principal.roles.has('PLATFORM ADMIN');
}

/** Of the tenant, or of its clusters alone. */
export function managesClusters(principal: Pick<Principal, 'roles'>): boolean {
  return CLUSTER_MANAGERS.some((role) => principal.roles.has(role));
}
