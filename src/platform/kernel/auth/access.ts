import { EVERY_TENANT_ROLE, type Role, ROLES, type WorkspacePermission } from './roles';

/** Who may call an operation; the guard enforces it and OpenAPI shows it. */
export type Access =
  | { kind: 'public' }
  /** Any signed-in user; no tenant needs to be selected. */
  | { kind: 'signed-in' }
  /** Any role, or one of `roles`, in the selected tenant. */
  | { kind: 'tenant'; roles: readonly Role[] | null }
  /** One of `roles`, held everywhere or in the selected tenant; works across tenants, and without one selected. */
  | { kind: 'platform'; roles: readonly Role[] }
  /**
   * At least `permission` in the workspace that path or query names; ADMIN and PLATFORM ADMIN pass without. Where it is
   * `optional` to name one, any role in the selected tenant is enough without; the operation then is about the workspaces
   * that the caller may see.
   */
  | { kind: 'workspace'; permission: WorkspacePermission; optional?: true }
  /** A machine that is to be a node, and anybody else: what has no secrets. */
  | { kind: 'machine' }
  /** A node agent with the token of its node. */
  | { kind: 'node' }
  /** A node agent that has yet to get that token, with the bootstrap token of its node. */
  | { kind: 'bootstrap' };

export const Allow = {
  everyone: { kind: 'public' } as Access,
  signedIn: { kind: 'signed-in' } as Access,
  machines: { kind: 'machine' } as Access,
  nodes: { kind: 'node' } as Access,
  bootstrap: { kind: 'bootstrap' } as Access,
  /** Members of the selected tenant, with one of the roles when any is named. */
  tenant: (roles: readonly Role[] | null = null): Access => ({ kind: 'tenant', roles }),
  platform: (roles: readonly Role[]): Access => ({ kind: 'platform', roles }),
  workspace: (permission: WorkspacePermission): Access => ({ kind: 'workspace', permission }),
  workspaceIfNamed: (permission: WorkspacePermission): Access => ({ kind: 'workspace', permission, optional: true }),
};

/** Whether only signed-in users have this access. */
export function isForUsers(access: Access): boolean {
  return access.kind !== 'public' && !isForNodes(access);
}

/** Whether an access is for nodes, and part of the agents' API. */
export function isForNodes({ kind }: Access): boolean {
  return kind === 'machine' || kind === 'node' || kind === 'bootstrap';
}

/**
 * Roles that pass this access, for the guard and for the list of rules. In a workspace they also need a permission;
 * without a token, or with a node's, there are none.
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
