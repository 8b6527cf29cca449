import type { TenantScope } from '../auth/principal';

/** Columns that name a tenant: the owner of a row, the owner of an account or group, and the giver of a role or membership. */
type TenantColumn = 'tenant_id' | 'owner_tenant_id' | 'granted_by_tenant_id';

/**
 * Returns the SQL condition that keeps a statement within one tenant: `t.tenant_id = $1`. Every condition on a tenant comes
 * from here or from {@link inTenant}, so that the access matrix can remove each one and check that a test notices. The
 * linter refuses any other.
 * @param place placeholder of the tenant's id, or a column of a table that is already kept within the tenant
 */
export function ofTenant(alias: string, place = '?', column: TenantColumn = 'tenant_id'): string {
  return `${alias}.${column} = ${place}`;
}

/** Returns the same condition for a read or write of one table through TypeORM. */
export function inTenant(scope: Pick<TenantScope, 'tenantId'>): { tenant_id: string } {
  return { tenant_id: scope.tenantId };
}
