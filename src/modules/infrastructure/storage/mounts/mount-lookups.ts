import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { known } from '../../../../platform/http/resources/known';
import {
  storeCloudProvider,
  type StoreCloudProviderName,
} from '../object-storage-managers/object-storage-managers.joins';
import type { LookupRecords } from '../../../foundation/reference-data';

/**
 * Provider of a storage type; throws a 400 if `records` do not have the type or its provider has no store that can be
 * reached.
 */
export function mountProvider(storageTypeId: number, records: LookupRecords): StoreCloudProviderName {
  const { name, cloudProviderId } = known(records.storageType(storageTypeId), 'storage type', storageTypeId);
  const provider = storeCloudProvider(cloudProviderId);
  if (provider !== undefined) return provider;
  throw invalid('MOUNT.STORAGE_TYPE_UNSUPPORTED', `Stores of type ${name} cannot be mounted.`);
}

/** Name of an encryption type, such as `SSE-KMS`; null leaves the encryption to the store. */
export function encryptionName(id: number | null, records: LookupRecords): string | null {
  return id === null ? null : known(records.encryptionType(id), 'encryption type', id).name;
}
