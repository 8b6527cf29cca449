import { Injectable } from '@nestjs/common';
import { unauthenticated } from '../../platform/errors/domain-error';
import { firstRow, type Tx } from '../../platform/persistence/sql';
import { ofTenant } from '../../platform/persistence/tenant-condition';

/** Which tenants something may come to life in. */
@Injectable()
export class OpenTenantsService {
  /**
   * The tenant cannot be deleted before `tx` ends. To be called before the locks of the tenant's records are taken.
   * @throws unauthenticated when it has been deleted, as its sessions are refused from then on
   */
  async hold(tx: Tx, tenantId: string): Promise<void> {
    // Waits for a deletion in progress only, not for changes of the tenant's name.
    const open = await firstRow(
      tx,
      `SELECT 1 FROM tenants t WHERE ${ofTenant('t', '$1')} AND to_date = 'infinity' FOR KEY SHARE`,
      [tenantId],
    );
    if (!open) throw unauthenticated('The tenant of the session is closed. Log in again.');
  }

  /** Whether it is the tenant that the first start made, for which the installation is. */
  async isFirst(tx: Tx, tenantId: string): Promise<boolean> {
    const sql = 'SELECT tenant_id FROM tenants ORDER BY from_date, tenant_id LIMIT 1';
    return (await firstRow<{ tenant_id: string }>(tx, sql))?.tenant_id === tenantId;
  }
}
