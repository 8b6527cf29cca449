import type { DataSource } from 'typeorm';
import { SecretBox, SecretBoxError, type MasterKey } from '../../../libs/secret-box/secret-box';
import { firstRow, rows } from '../../platform/persistence/sql';
import { ofTenant } from '../../platform/persistence/tenant-condition';

export interface RewrapOutcome {
  /** Data keys that the first master key wraps from now on. */
  rewrapped: number;
  /** Data keys whose master key is not given, or that were changed: they stay as they were. */
  failed: { tenantId: string; masterKeyId: string; reason: string }[];
}

/**
 * Wraps every tenant's data key with the first of the master keys; the secrets themselves stay as they are. Pods that
 * know both keys go on meanwhile. May be stopped and run again at any point.
 */
export async function rewrapDataKeys(dataSource: DataSource, masterKeys: readonly MasterKey[]): Promise<RewrapOutcome> {
  const box = new SecretBox(masterKeys);
  const due = await rows<{ tenant_id: string; master_key_id: string }>(
    dataSource.manager,
    'SELECT tenant_id, master_key_id FROM tenant_data_keys WHERE master_key_id <> $1 ORDER BY tenant_id',
    [box.currentKeyId],
  );
  const outcome: RewrapOutcome = { rewrapped: 0, failed: [] };
  for (const { tenant_id: tenantId, master_key_id: masterKeyId } of due) {
    try {
      await rewrap(dataSource, box, tenantId);
      outcome.rewrapped += 1;
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      outcome.failed.push({ tenantId, masterKeyId, reason: error.message });
    }
  }
  return outcome;
}

async function rewrap(dataSource: DataSource, box: SecretBox, tenantId: string): Promise<void> {
  await dataSource.transaction(async (tx) => {
    const row = await firstRow<{ wrapped_key: Buffer }>(
      tx,
      `SELECT wrapped_key FROM tenant_data_keys t WHERE ${ofTenant('t', '$1')} FOR UPDATE`,
      [tenantId],
    );
    if (!row) return;
    const dataKey = box.unwrapKey(row.wrapped_key, tenantId);
    await tx.query(`UPDATE tenant_data_keys t SET wrapped_key = $2, master_key_id = $3 WHERE ${ofTenant('t', '$1')}`, [
      tenantId,
      box.wrapKey(dataKey, tenantId),
      box.currentKeyId,
    ]);
  });
}
