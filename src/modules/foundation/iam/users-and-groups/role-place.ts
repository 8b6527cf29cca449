import type { Principal } from '../../../../platform/kernel/auth/principal';
import { tenantNotSelected } from '../../../../platform/http/auth/request-principal';
import { PLATFORM_ROLES, type Role } from '../../../../platform/kernel/auth/roles';
import { forbidden, invalid } from '../../../../platform/kernel/errors/domain-error';

/**
 * Where a role is given or taken: in the tenant that the caller has selected, where only roles of a tenant are; or
 * where the caller says, which is in no tenant (null) for a platform-wide role.
 */
export type RolePlace = { kind: 'selected'; tenantId: string } | { kind: 'named'; tenantId: string | null };

/** Throws unless the role can be held there. */
export function assertPlace(role: Role, place: RolePlace): void {
  const platformWide = PLATFORM_ROLES.includes(role);
  if (platformWide && place.kind === 'selected') {
    throw forbidden(
      'ROLE.PLATFORM_WIDE',
      `${role} is not a role of a tenant. A PLATFORM ADMIN gives and takes it under /platform/admin/tenant.`,
    );
  }
  if (platformWide && place.tenantId !== null) {
    throw invalid('ROLE.PLATFORM_WIDE', `${role} is held platform-wide. Leave out tenant_id.`);
  }
  if (!platformWide && place.tenantId === null) {
    throw invalid('ROLE.TENANT_REQUIRED', `${role} is a role of a tenant. tenant_id must name one.`);
  }
}

/** Where a role goes that is named in the call that creates: everywhere or in the selected tenant, as the role is. */
export function placeAtCreation(caller: Principal, role: Role): RolePlace {
  if (caller.roles.has('PLATFORM ADMIN') && PLATFORM_ROLES.includes(role)) return { kind: 'named', tenantId: null };
  if (caller.tenantId === null) throw tenantNotSelected();
  return { kind: 'selected', tenantId: caller.tenantId };
}
