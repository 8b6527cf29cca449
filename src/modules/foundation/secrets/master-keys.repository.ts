import { firstRow, rows, type Db } from '../../../platform/kernel/persistence/sql';
import type { MasterKeyProbe } from './entities/master-key-probe.entity';
import type { TenantDataKey } from './entities/tenant-data-key.entity';

/** Reads and stores the traces of master keys: probes and wrapped data keys. */
export class MasterKeysRepository {
  constructor(private readonly tx: Db) {}

  async probeOf(masterKeyId: string): Promise<Buffer | null> {
    const sql = 'SELECT sealed FROM master_key_probes WHERE master_key_id = $1';
    return (await firstRow<Pick<MasterKeyProbe, 'sealed'>>(this.tx, sql, [masterKeyId]))?.sealed ?? null;
  }

  /** Stores the probe unless the key already has one. */
  async addProbe(masterKeyId: string, sealed: Buffer): Promise<void> {
    await this.tx.query(
      'INSERT INTO master_key_probes (master_key_id, sealed) VALUES ($1, $2) ON CONFLICT (master_key_id) DO NOTHING',
      [masterKeyId, sealed],
    );
  }

  async anyKeyWrappedBy(masterKeyId: string): Promise<Pick<TenantDataKey, 'tenant_id' | 'wrapped_key'> | null> {
    const sql = 'SELECT tenant_id, wrapped_key FROM tenant_data_keys WHERE master_key_id = $1 LIMIT 1';
    return firstRow<Pick<TenantDataKey, 'tenant_id' | 'wrapped_key'>>(this.tx, sql, [masterKeyId]);
  }

  /** Returns the other master keys that wrap data keys, with the number of tenants. */
  async otherKeysInUse(masterKeyIds: readonly string[]): Promise<{ master_key_id: string; tenants: number }[]> {
    return rows<Pick<TenantDataKey, 'master_key_id'> & { tenants: number }>(
      this.tx,
      `SELECT master_key_id, count(*) AS tenants FROM tenant_data_keys
       WHERE master_key_id <> ALL($1) GROUP BY master_key_id ORDER BY master_key_id`,
      [masterKeyIds],
    );
  }
}
