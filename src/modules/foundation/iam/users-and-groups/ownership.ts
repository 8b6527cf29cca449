import type { Principal } from '../../../../platform/kernel/auth/principal';
import { forbidden } from '../../../../platform/kernel/errors/domain-error';

/** An account or group with its owner: a tenant, or the platform (null). */
export interface Owned {
  owner_tenant_id: string | null;
}

/**
 * Returns the tenant that an administrator acts for: null (the platform) for a PLATFORM ADMIN, else the selected one.
 */
export function actingTenant(caller: Principal): string | null {
  if (caller.roles.has('PLATFORM ADMIN')) return null;
  if (caller.tenantId === null) throw new Error('The caller is ADMIN but has no selected tenant');
  return caller.tenantId;
}

/**
 * Throws 403 unless the caller may change the account or group: a PLATFORM ADMIN any, an ADMIN those that the selected
 * tenant owns. Ownership decides and not roles, because a password or membership works in every tenant.
 * @param owned read under a row lock, so that the owner cannot change
 */
export function assertMayChange(caller: Principal, label: 'account' | 'group', owned: Owned): void {
  const tenantId = actingTenant(caller);
  if (tenantId === null || owned.owner_tenant_id === tenantId) return;
  const reason =
    owned.owner_tenant_id === null
      ? `The ${label} belongs to the platform. Only a PLATFORM ADMIN may change it.`
      : `The ${label} belongs to another tenant. Only its administrators and a PLATFORM ADMIN may change it.`;
  throw forbidden('AUTH.PLATFORM_ADMIN_REQUIRED', reason);
}
