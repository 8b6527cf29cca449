import type { PermissionWithUsers, Role, WorkspacePermissionName } from 'managed-spark/types';
import { commonTexts } from '../common-texts';
import type { Need } from './needs';

const texts = commonTexts.reasons;

/** Says why something cannot be done now, and what would help; null if it can be done. */
export type Reason = string | null;

/** Permissions on a workspace; each includes those before it. */
export const PERMISSIONS = ['VIEW', 'RUN', 'EDIT', 'MANAGE'] as const satisfies readonly WorkspacePermissionName[];

/** Roles that may do everything in the workspaces of their tenant, without a permission; the strongest comes first. */
const ADMINS: readonly Role[] = ['PLATFORM ADMIN', 'ADMIN'];
/** So many people are named who could help. */
const MAX_NAMES = 3;

/** Returns the role by which a user may do everything in every workspace; null if there is none. */
export function adminRole(roles: readonly Role[]): Role | null {
  return ADMINS.find((role) => roles.includes(role)) ?? null;
}

/** True if a permission includes another one; no permission includes none. */
export function includes(held: WorkspacePermissionName | null, needed: WorkspacePermissionName): boolean {
  return held !== null && PERMISSIONS.indexOf(held) >= PERMISSIONS.indexOf(needed);
}

/** The strongest of what some operations need of a workspace; null if they need none. */
export function strongestNeeded(needs: readonly Need[]): WorkspacePermissionName | null {
  const wanted = needs.flatMap((need) => ('permission' in need ? [need.permission] : []));
  return PERMISSIONS.findLast((permission) => wanted.includes(permission)) ?? null;
}

/** Returns the roles of which the user would need one, for the first operation that they may not call; null if they may call all. */
export function lackedRoles(needs: readonly Need[], held: readonly Role[]): readonly Role[] | null {
  for (const need of needs) {
    if ('roles' in need && !need.roles.some((role) => held.includes(role))) return need.roles;
  }
  return null;
}

export function roleReason(roles: readonly Role[]): string {
  const isForTenant = roles.some((role) => !role.startsWith('PLATFORM'));
  // The role that gives least is the one to ask for.
  const named = isForTenant ? roles.filter((role) => !role.startsWith('PLATFORM')) : roles;
  return `${texts.role(named)} ${isForTenant ? texts.askAdmins : texts.askPlatform}`;
}

interface PermissionReason {
  needed: WorkspacePermissionName;
  held: WorkspacePermissionName | null;
  workspace: string | undefined;
  /** Names of users with MANAGE on the workspace, as far as they are known. */
  managers: readonly string[];
}

export function permissionReason({ needed, held, workspace, managers }: PermissionReason): string {
  const ask = managers.length > 0 ? texts.ask(managers.slice(0, MAX_NAMES)) : texts.askManagers;
  return `${texts.permission(needed, workspace ?? texts.thisWorkspace, held)} ${ask}`;
}

/** Returns the names of those who can grant permissions on a workspace. */
export function managersOf(permissions: readonly PermissionWithUsers[]): string[] {
  const managers = permissions.find(({ name }) => name === 'MANAGE')?.users ?? [];
  return managers.map(({ username }) => username);
}
