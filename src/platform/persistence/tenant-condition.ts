import type { TenantScope } from '../auth/principal';

/**
 * What keeps a statement within one tenant, as SQL: `t.tenant_id = $1`. Every such condition is made here or by {@link
 * inTenant}, so that the access matrix can remove each and check that a test notices.
 * @param place what stands for the tenant's id: a parameter, or the column of a table that is within the tenant already
 */
export function ofTenant(alias: string, place = '?'): string {
  return `${alias}.tenant_id = ${place}`;
}

/** The same for a read or write of one table through TypeORM. */
export function inTenant(scope: Pick<TenantScope, 'tenantId'>): { tenant_id: string } {
  return { tenant_id: scope.tenantId };
}
