import type { Principal } from '../../../../platform/kernel/auth/principal';
import { tenantNotSelected } from '../../../../platform/http/auth/request-principal';
import { PLATFORM_ROLES, type Role } from '../../../../platform/kernel/auth/roles';
import { forbidden, invalid } from '../../../../platform/kernel/errors/domain-error';

/**
 * The scope of a grant. `selected` is the caller's selected tenant and allows only tenant roles. `named` is the tenant
 * in the request, or null for a platform-wide role.
 */
export type RoleScope = { kind: 'selected'; tenantId: string } | { kind: 'named'; tenantId: string | null };

/** Throws unless the role can be held in the scope. */
export function assertRoleScope(role: Role, scope: RoleScope): void {
  const isPlatformWide = PLATFORM_ROLES.includes(role);
  if (isPlatformWide && scope.kind === 'selected') {
    throw forbidden(
      'ROLE.PLATFORM_WIDE',
      `${role} is a platform-wide role. A PLATFORM ADMIN grants and revokes it under /platform/admin/tenant.`,
    );
  }
  if (isPlatformWide && scope.tenantId !== null) {
    throw invalid('ROLE.PLATFORM_WIDE', `${role} is a platform-wide role. Omit tenant_id.`);
  }
  if (!isPlatformWide && scope.tenantId === null) {
    throw invalid('ROLE.TENANT_REQUIRED', `${role} is a tenant role, so tenant_id is required.`);
  }
}

/** Returns the scope of a role in a request that creates its holder. */
export function scopeAtCreation(caller: Principal, role: Role): RoleScope {
  if (caller.roles.has('PLATFORM ADMIN') && PLATFORM_ROLES.includes(role)) return { kind: 'named', tenantId: null };
  if (caller.tenantId === null) throw tenantNotSelected();
  return { kind: 'selected', tenantId: caller.tenantId };
}
