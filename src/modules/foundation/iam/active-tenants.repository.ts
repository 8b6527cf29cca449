import { Injectable } from '@nestjs/common';
import { firstRow, type Tx } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { Tenant } from './entities/tenant.entity';

/** Reads tenants for those who make something in them. */
@Injectable()
export class ActiveTenantsRepository {
  /** Whether the tenant is current; if so, it cannot be deleted before `tx` ends. */
  async hold(tx: Tx, tenantId: string): Promise<boolean> {
    // Waits for a deletion in progress only, not for changes of the tenant's name.
    const open = await firstRow(
      tx,
      `SELECT 1 FROM tenants t WHERE ${ofTenant('t', '$1')} AND t.to_date = 'infinity' FOR KEY SHARE`,
      [tenantId],
    );
    return open !== null;
  }

  /** Id of the tenant that was there before all others; null when there is none. */
  async firstId(tx: Tx): Promise<string | null> {
    const order = { from_date: 'ASC', tenant_id: 'ASC' } as const;
    const [first] = await tx.find(Tenant, { select: { tenant_id: true }, order, take: 1 });
    return first?.tenant_id ?? null;
  }
}
