import type { EntityManager } from 'typeorm';
import { type MasterKey, SecretBox, SecretBoxError } from '../../../../libs/secret-box/secret-box';
import type { Logger } from '../../../platform/kernel/logging/logger';
import { StartError } from '../../../platform/kernel/process/start-error';
import { MasterKeysRepository } from './master-keys.repository';

/** What a probe is bound to; a data key is bound to its tenant. */
const PROBE = 'master key probe';
const variable = 'SECRETS_MASTER_KEYS';

/**
 * Throws if a master key is not the one that this database knows by its id: secrets could not be read, and new ones would be
 * lost with it. A key that is seen for the first time leaves a probe. The log names ids that data keys need and that are
 * not given; the other tenants' secrets can be used all the same.
 */
export async function checkMasterKeys(
  manager: EntityManager,
  masterKeys: readonly MasterKey[],
  logger: Logger,
): Promise<void> {
  const known = new MasterKeysRepository(manager);
  for (const masterKey of masterKeys) await checkKey(known, masterKey);
  const missing = await known.others(masterKeys.map(({ id }) => id));
  if (missing.length === 0) return;
  const remedy = `Add these keys to ${variable}; "secrets:rewrap" makes them superfluous.`;
  logger.error(
    { code: 'SECRETS.MASTER_KEY_MISSING', missing, variable, remedy },
    'The secrets of some tenants are locked: the master keys of their data keys are not given',
  );
}

async function checkKey(known: MasterKeysRepository, masterKey: MasterKey): Promise<void> {
  const box = new SecretBox([masterKey]);
  const probe = (await known.probeOf(masterKey.id)) ?? (await leaveProbe(known, masterKey, box));
  if (!opens(box, probe, PROBE)) throw wrongKey(masterKey.id);
}

/** Databases of earlier releases have no probes, but data keys. */
async function leaveProbe(known: MasterKeysRepository, { id }: MasterKey, box: SecretBox): Promise<Buffer> {
  const wrapped = await known.wrappedBy(id);
  if (wrapped && !opens(box, wrapped.wrapped_key, wrapped.tenant_id)) throw wrongKey(id);
  const sealed = box.wrapKey(box.createDataKey(), PROBE);
  await known.addProbe(id, sealed);
  // Another process may have been first, and its probe is the one that counts.
  return (await known.probeOf(id)) ?? sealed;
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
    `The master key ${id} is not the one that this database knows by that id.`,
    { variable, remedy: `Give the right key in ${variable}, and a new key under an id of its own.` },
  );
}
