import type { Role, WorkspacePermission } from './roles';

/** Who may call an operation; the guard enforces it and OpenAPI shows it. */
export type Access =
  | { kind: 'public' }
  /** Any signed-in user; no tenant needs to be selected. */
  | { kind: 'signed-in' }
  /** Any role, or one of `roles`, in the selected tenant. */
  | { kind: 'tenant'; roles: readonly Role[] | null }
  /** One of `roles`; works across tenants. */
  | { kind: 'platform'; roles: readonly Role[] }
  /** At least `permission` in the workspace that path or query names; ADMIN and PLATFORM ADMIN pass without. */
  | { kind: 'workspace'; permission: WorkspacePermission }
  /** A node agent with its own token; checked by the agents' guard. */
  | { kind: 'node' };

export const Allow = {
  everyone: { kind: 'public' } as Access,
  signedIn: { kind: 'signed-in' } as Access,
  nodes: { kind: 'node' } as Access,
  /** Members of the selected tenant, with one of the roles when any is named. */
  tenant: (roles: readonly Role[] | null = null): Access => ({ kind: 'tenant', roles }),
  platform: (roles: readonly Role[]): Access => ({ kind: 'platform', roles }),
  workspace: (permission: WorkspacePermission): Access => ({ kind: 'workspace', permission }),
};
