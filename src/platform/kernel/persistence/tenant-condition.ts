import type { TenantScope } from '../auth/principal';

/** Whose a row is, whose an account or group is, and which tenant gave a role or a membership. */
type TenantColumn = 'tenant_id' | 'owner_tenant_id' | 'granted_by_tenant_id';

/**
 * What keeps a statement within one tenant, as SQL: `t.tenant_id = $1`. Every such condition is made here or by {@link
 * inTenant}, so that the access matrix can remove each and check that a test notices; the linter refuses others.
 * @param place what stands for the tenant's id: a parameter, or the column of a table that is within the tenant already
 */
export function ofTenant(alias: string, place = '?', column: TenantColumn = 'tenant_id'): string {
  return `${alias}.${column} = ${place}`;
}

/** The same for a read or write of one table through TypeORM. */
export function inTenant(scope: Pick<TenantScope, 'tenantId'>): { tenant_id: string } {
  return { tenant_id: scope.tenantId };
}
