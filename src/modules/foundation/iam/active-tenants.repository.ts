import { Injectable } from '@nestjs/common';
import { firstRow, type Db, type Tx } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { Tenant } from './entities/tenant.entity';

/** Reads and locks tenants that have not been deleted. */
@Injectable()
export class ActiveTenantsRepository {
  /** Returns false if the tenant is deleted; otherwise it cannot be deleted before `tx` ends. */
  async lock(tx: Tx, tenantId: string): Promise<boolean> {
    // KEY SHARE waits for a deletion in progress, but not for an update of the tenant's name.
    const active = await firstRow(
      tx,
      `SELECT 1 FROM tenants t WHERE ${ofTenant('t', '$1')} AND t.to_date = 'infinity' FOR KEY SHARE`,
      [tenantId],
    );
    return active !== null;
  }

  /** Returns the id of the oldest tenant, or null if there is none. */
  async firstId(db: Db): Promise<string | null> {
    const order = { from_date: 'ASC', tenant_id: 'ASC' } as const;
    const [first] = await db.find(Tenant, { select: { tenant_id: true }, order, take: 1 });
    return first?.tenant_id ?? null;
  }
}
