import { type BlobStore } from '../../../../libs/object-storage/blob-store';
import { BucketBlobStore } from '../../../../libs/object-storage/bucket-blob-store';
import { BucketLogStore } from '../../../../libs/object-storage/bucket-log-store';
import { DirectoryBlobStore } from '../../../../libs/object-storage/directory-blob-store';
import { DirectoryLogStore } from '../../../../libs/object-storage/directory-log-store';
import type { LogStore } from '../../../../libs/object-storage/log-store';
import { type ObjectStore, ObjectStoreError } from '../../../../libs/object-storage/object-store';
import { openObjectStore } from '../../../../libs/object-storage/open-object-store';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { ConfigurationError } from '../../../config/env-reader';
import type { StorageConfig, StoreConfig } from '../../../config/storage.config';
import { messageOf } from '../errors/message-of';
import type { Logger } from '../logging/logger';

/** Agents wait fifteen seconds for the response to a chunk of a log, which may take more than one call. */
const LOG_CALL_TIMEOUT_MS = 5_000;

/** The operator configures the bucket, so any address is allowed; `OUTBOUND_*` limits the addresses that users choose. */
const ANYWHERE = new OutboundPolicy({
  schemes: ['https', 'http'],
  allowedClasses: ['private', 'loopback', 'link-local'],
});

/** Opens the configured log store without a call. Throws `ConfigurationError` if the bucket's name or credentials are invalid. */
export function openLogStore({ store, objectStoreTimeoutMs }: StorageConfig, logger: Logger): LogStore {
  if (store.kind === 'directory') return new DirectoryLogStore(store.logsDir);
  const callMs = Math.min(objectStoreTimeoutMs, LOG_CALL_TIMEOUT_MS);
  return new BucketLogStore(bucketOf(store, { callMs, idleMs: objectStoreTimeoutMs }), 'logs', (error) =>
    logger.warn({ reason: messageOf(error) }, 'The pieces of a log could not be merged; the next attempt follows'),
  );
}

/** Opens the configured store of workspace files. Throws as {@link openLogStore} does. */
export function openBlobStore({ store, filesReserveBytes, objectStoreTimeoutMs }: StorageConfig): BlobStore {
  if (store.kind === 'directory') return new DirectoryBlobStore(store.filesDir, filesReserveBytes);
  const timeouts = { callMs: objectStoreTimeoutMs, idleMs: objectStoreTimeoutMs };
  return new BucketBlobStore(bucketOf(store, timeouts), 'files');
}

function bucketOf(
  { provider, bucket, credentials }: Extract<StoreConfig, { kind: 'bucket' }>,
  timeouts: { callMs: number; idleMs: number },
): ObjectStore {
  try {
    return openObjectStore({ provider, bucket, credentials, outbound: ANYWHERE, timeouts });
  } catch (error) {
    const isName = error instanceof ObjectStoreError && error.code === 'INVALID_REQUEST';
    const variable = isName ? 'STORE_BUCKET' : 'STORE_CREDENTIALS';
    throw new ConfigurationError([`${variable} is not usable: ${messageOf(error)}`]);
  }
}
