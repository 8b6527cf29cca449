import { Injectable } from '@nestjs/common';
import { firstRow, type Tx } from '../../platform/persistence/sql';
import { ofTenant } from '../../platform/persistence/tenant-condition';

@Injectable()
export class TenantSecretsRepository {
  async wrappedKey(tx: Tx, tenantId: string): Promise<Buffer | null> {
    const row = await firstRow<{ wrapped_key: Buffer }>(
      tx,
      `SELECT wrapped_key FROM tenant_data_keys t WHERE ${ofTenant('t', '$1')}`,
      [tenantId],
    );
    return row?.wrapped_key ?? null;
  }

  /** Stores the tenant's first data key; a concurrent first one stays and this one is dropped. */
  async addKey(tx: Tx, tenantId: string, wrappedKey: Buffer, masterKeyId: string): Promise<void> {
    await tx.query(
      `INSERT INTO tenant_data_keys (tenant_id, wrapped_key, master_key_id) VALUES ($1, $2, $3)
       ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantId, wrappedKey, masterKeyId],
    );
  }
}
