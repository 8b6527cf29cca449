import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import { firstRow, type Db, type Tx, updateRows } from '../../../platform/kernel/persistence/sql';
import { inTenant, ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { TenantDataKey } from './entities/tenant-data-key.entity';

@Injectable()
export class TenantSecretsRepository {
  /** Returns the tenant's wrapped data key, or null if it has none. */
  async wrappedKey(db: Db, tenantId: string): Promise<Buffer | null> {
    return this.key(db, tenantId, '');
  }

  /** Like {@link wrappedKey}, and locks the row until `tx` ends. */
  async lockKey(tx: Tx, tenantId: string): Promise<Buffer | null> {
    return this.key(tx, tenantId, 'FOR UPDATE');
  }

  /** Stores the tenant's first data key. If a concurrent transaction stored one, that key stays. */
  async addKey(tx: Tx, tenantId: string, wrappedKey: Buffer, masterKeyId: string): Promise<void> {
    await tx.query(
      `INSERT INTO tenant_data_keys (tenant_id, wrapped_key, master_key_id) VALUES ($1, $2, $3)
       ON CONFLICT (tenant_id) DO NOTHING`,
      [tenantId, wrappedKey, masterKeyId],
    );
  }

  /** Returns the data keys of all tenants that another master key wraps, ordered by tenant. */
  keysNotWrappedBy(db: Db, masterKeyId: string): Promise<Pick<TenantDataKey, 'tenant_id' | 'master_key_id'>[]> {
    return db.find(TenantDataKey, {
      select: { tenant_id: true, master_key_id: true },
      where: { master_key_id: Not(masterKeyId) },
      order: { tenant_id: 'ASC' },
    });
  }

  async replaceKey(tx: Tx, tenantId: string, wrappedKey: Buffer, masterKeyId: string): Promise<void> {
    const wrapped = { wrapped_key: wrappedKey, master_key_id: masterKeyId };
    await updateRows(tx, TenantDataKey, wrapped, inTenant({ tenantId }));
  }

  private async key(db: Db, tenantId: string, lock: string): Promise<Buffer | null> {
    const row = await firstRow<Pick<TenantDataKey, 'wrapped_key'>>(
      db,
      `SELECT t.wrapped_key FROM tenant_data_keys t WHERE ${ofTenant('t', '$1')} ${lock}`,
      [tenantId],
    );
    return row?.wrapped_key ?? null;
  }
}
