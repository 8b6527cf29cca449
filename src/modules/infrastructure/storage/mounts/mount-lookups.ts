import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import {
  storeCloudProvider,
  type StoreCloudProviderName,
} from '../object-storage-managers/object-storage-managers.joins';
import type { LookupRecords } from '../../../foundation/reference-data';

/**
 * Returns the provider of a storage type. Throws 400 if the type is unknown or the platform does not support stores of
 * its provider.
 */
export function mountProvider(storageTypeId: number, records: LookupRecords): StoreCloudProviderName {
  const { name, cloudProviderId } = requireRecord(records.storageType(storageTypeId), 'storage type', storageTypeId);
  const provider = storeCloudProvider(cloudProviderId);
  if (provider !== undefined) return provider;
  throw invalid('MOUNT.STORAGE_TYPE_UNSUPPORTED', `Stores of type ${name} cannot be mounted.`);
}

/** Returns the name of an encryption type, for example `SSE-KMS`; null leaves encryption to the store. */
export function encryptionName(id: number | null, records: LookupRecords): string | null {
  return id === null ? null : requireRecord(records.encryptionType(id), 'encryption type', id).name;
}
