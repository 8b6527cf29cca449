import type { Principal } from '../../../../platform/kernel/auth/principal';
import { forbidden } from '../../../../platform/kernel/errors/domain-error';

/** Whose an account or a group is: a tenant's, or the platform's (null). */
export interface Owned {
  owner_tenant_id: string | null;
}

/** In whose name an administrator acts: the platform's (null) as PLATFORM ADMIN, else that of the selected tenant. */
export function actingTenant(caller: Principal): string | null {
  if (caller.roles.has('PLATFORM ADMIN')) return null;
  if (caller.tenantId === null) throw new Error('An ADMIN without a selected tenant was admitted');
  return caller.tenantId;
}

/**
 * Throws a 403 unless the caller may change the account or group: PLATFORM ADMIN any, ADMIN those that the own tenant
 * owns, whatever roles they hold. Whoever sets a password or a membership can use it everywhere, now and later.
 * @param owned read under a lock that keeps it whose it is
 */
export function assertReach(caller: Principal, label: 'account' | 'group', owned: Owned): void {
  const tenantId = actingTenant(caller);
  if (tenantId === null || owned.owner_tenant_id === tenantId) return;
  const reason =
    owned.owner_tenant_id === null
      ? `The ${label} belongs to the platform. Only a PLATFORM ADMIN may change it.`
      : `The ${label} belongs to another tenant. Only its administrators and a PLATFORM ADMIN may change it.`;
  throw forbidden('AUTH.PLATFORM_ADMIN_REQUIRED', reason);
}
