import { EVERY_TENANT_ROLE, type Role, ROLES, type WorkspacePermission } from './roles';

/** The callers that an operation admits. The guard enforces it and OpenAPI shows it. */
export type Access =
  | { kind: 'public' }
  /** Any signed-in user; no tenant needs to be selected. */
  | { kind: 'signed-in' }
  /** Any role, or one of `roles`, in the selected tenant. */
  | { kind: 'tenant'; roles: readonly Role[] | null }
  /** One of `roles`, held everywhere or in the selected tenant; works across tenants, and without one selected. */
  | { kind: 'platform'; roles: readonly Role[] }
  /**
   * At least `permission` in the workspace that path or query names. ADMIN and PLATFORM ADMIN need no permission. If it is `optional`
   * to name a workspace, a request without one needs any role in the selected tenant and is about all workspaces that the
   * caller may see.
   */
  | { kind: 'workspace'; permission: WorkspacePermission; optional?: true }
  /** A machine that will become a node, and anybody else: the response holds no secrets. */
  | { kind: 'machine' }
  /** A node agent with the token of its node. */
  | { kind: 'node' }
  /** A node agent that does not have its token yet, with the bootstrap token of its node. */
  | { kind: 'bootstrap' };

export const Allow = {
  everyone: { kind: 'public' } as Access,
  signedIn: { kind: 'signed-in' } as Access,
  machines: { kind: 'machine' } as Access,
  nodes: { kind: 'node' } as Access,
  bootstrap: { kind: 'bootstrap' } as Access,
  /** Members of the selected tenant; with one of the roles, if any are named. */
  tenant: (roles: readonly Role[] | null = null): Access => ({ kind: 'tenant', roles }),
  platform: (roles: readonly Role[]): Access => ({ kind: 'platform', roles }),
  workspace: (permission: WorkspacePermission): Access => ({ kind: 'workspace', permission }),
  workspaceIfNamed: (permission: WorkspacePermission): Access => ({ kind: 'workspace', permission, optional: true }),
};

/** True if only signed-in users have this access. */
export function isForUsers(access: Access): boolean {
  return access.kind !== 'public' && !isForNodes(access);
}

/** True if the access is for nodes, so that the operation belongs to the agents' API. */
export function isForNodes({ kind }: Access): boolean {
  return kind === 'machine' || kind === 'node' || kind === 'bootstrap';
}

/**
 * Returns the roles that this access admits, for the guard and for the list of access rules. In a workspace, a caller also
 * needs a permission. An access without a user's token admits no roles.
 */
export function admittedRoles(access: Access): readonly Role[] {
  switch (access.kind) {
    case 'public':
    case 'machine':
    case 'node':
    case 'bootstrap':
      return [];
    case 'signed-in':
      return ROLES;
    case 'platform':
      return access.roles;
    case 'tenant':
      return access.roles ?? EVERY_TENANT_ROLE;
    case 'workspace':
      return EVERY_TENANT_ROLE;
  }
}
