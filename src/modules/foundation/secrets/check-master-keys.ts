import type { EntityManager } from 'typeorm';
import { type MasterKey, SecretBox, SecretBoxError } from '../../../../libs/secret-box/secret-box';
import type { Logger } from '../../../platform/kernel/logging/logger';
import { StartError } from '../../../platform/kernel/process/start-error';
import { MasterKeysRepository } from './master-keys.repository';

/** Probes are sealed with this context; a data key is sealed with its tenant's id. */
const PROBE_CONTEXT = 'master key probe';
const variable = 'SECRETS_MASTER_KEYS';

/**
 * Throws if a configured master key differs from the key that this database knows by the same id: existing secrets
 * would be unreadable, and new ones would depend on the wrong key. Stores a probe for a key that is new. Logs an error
 * for keys that data keys need but that are not configured; the secrets of other tenants stay usable.
 */
export async function checkMasterKeys(
  manager: EntityManager,
  masterKeys: readonly MasterKey[],
  logger: Logger,
): Promise<void> {
  const repository = new MasterKeysRepository(manager);
  for (const masterKey of masterKeys) await checkKey(repository, masterKey);
  const missing = await repository.otherKeysInUse(masterKeys.map(({ id }) => id));
  if (missing.length === 0) return;
  const remedy = `Add these keys to ${variable}. After "secrets:rewrap" they are no longer needed.`;
  logger.error(
    { code: 'SECRETS.MASTER_KEY_MISSING', missing, variable, remedy },
    'The secrets of some tenants cannot be decrypted: their master keys are not configured',
  );
}

async function checkKey(repository: MasterKeysRepository, masterKey: MasterKey): Promise<void> {
  const box = new SecretBox([masterKey]);
  const probe = (await repository.probeOf(masterKey.id)) ?? (await storeProbe(repository, masterKey, box));
  if (!opens(box, probe, PROBE_CONTEXT)) throw wrongKey(masterKey.id);
}

/** Databases of earlier releases have data keys but no probes, so the key is checked against a data key first. */
async function storeProbe(repository: MasterKeysRepository, { id }: MasterKey, box: SecretBox): Promise<Buffer> {
  const wrapped = await repository.anyKeyWrappedBy(id);
  if (wrapped && !opens(box, wrapped.wrapped_key, wrapped.tenant_id)) throw wrongKey(id);
  const sealed = box.wrapKey(box.createDataKey(), PROBE_CONTEXT);
  await repository.addProbe(id, sealed);
  // If another process was first, its probe counts.
  return (await repository.probeOf(id)) ?? sealed;
}

function opens(box: SecretBox, sealed: Buffer, boundTo: string): boolean {
  try {
    box.unwrapKey(sealed, boundTo);
    return true;
  } catch (error) {
    if (error instanceof SecretBoxError) return false;
    throw error;
  }
}

function wrongKey(id: string): StartError {
  return new StartError(
    'SECRETS.WRONG_MASTER_KEY',
    `The master key ${id} differs from the key that this database knows by that id.`,
    { variable, remedy: `Set the original key for ${id} in ${variable}. Give a new key a new id.` },
  );
}
