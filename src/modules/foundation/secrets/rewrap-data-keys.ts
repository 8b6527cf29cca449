import type { DataSource } from 'typeorm';
import { SecretBox, SecretBoxError, type MasterKey } from '../../../../libs/secret-box/secret-box';
import { type Tx, inTransaction } from '../../../platform/kernel/persistence/sql';
import { TenantSecretsRepository } from './tenant-secrets.repository';

export interface RewrapOutcome {
  /** Number of data keys now wrapped by the first master key. */
  rewrapped: number;
  /** Data keys left unchanged because their master key is not configured or they were tampered with. */
  failed: { tenantId: string; masterKeyId: string; reason: string }[];
}

/**
 * Wraps every tenant's data key with the first master key. Secrets are not re-encrypted, and pods with both keys keep
 * working. The rewrap can be interrupted and repeated at any point.
 */
export async function rewrapDataKeys(dataSource: DataSource, masterKeys: readonly MasterKey[]): Promise<RewrapOutcome> {
  const box = new SecretBox(masterKeys);
  const keys = new TenantSecretsRepository();
  const due = await keys.keysNotWrappedBy(dataSource.manager, box.currentKeyId);
  const outcome: RewrapOutcome = { rewrapped: 0, failed: [] };
  for (const { tenant_id: tenantId, master_key_id: masterKeyId } of due) {
    try {
      await inTransaction(dataSource, (tx) => rewrap(tx, keys, box, tenantId));
      outcome.rewrapped += 1;
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      outcome.failed.push({ tenantId, masterKeyId, reason: error.message });
    }
  }
  return outcome;
}

async function rewrap(tx: Tx, keys: TenantSecretsRepository, box: SecretBox, tenantId: string): Promise<void> {
  const wrapped = await keys.lockKey(tx, tenantId);
  if (!wrapped) return;
  const dataKey = box.unwrapKey(wrapped, tenantId);
  await keys.replaceKey(tx, tenantId, box.wrapKey(dataKey, tenantId), box.currentKeyId);
}
