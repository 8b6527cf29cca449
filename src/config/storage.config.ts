import { join } from 'node:path';
import type { EnvReader } from './env-reader';

/** Where the bytes of workspace files and logs are; the same place for all pods. */
export type StoreConfig =
  | {
      kind: 'directory';
      /** Holds the others. */
      dir: string;
      filesDir: string;
      logsDir: string;
    }
  | {
      kind: 'bucket';
      provider: (typeof PROVIDERS)[number];
      /** Bucket, or container of the storage account. */
      bucket: string;
      /** Under the names that credentials of the provider have, such as `AWS_ACCESS_KEY_ID`. */
      credentials: Record<string, string>;
    };

const PROVIDERS = ['s3-compatible', 'aws', 'gcp', 'azure'] as const;

export interface StorageConfig {
  store: StoreConfig;
  /** Logs of runs and nodes are removed this long after their end, days. */
  logRetentionDays: number;
  /** At most this much of each stream of a run, and of a node's own log, is kept, bytes. */
  logMaxBytes: number;
  /** Total size of a workspace's files, bytes; null is no limit. */
  workspaceQuotaBytes: number | null;
  /** A call to an object store, or a pause in one of its streams, times out after this, milliseconds. */
  objectStoreTimeoutMs: number;
  /** Uploads to object stores that one process carries at once; each holds up to 32 MiB. */
  objectStoreMaxUploads: number;
  /** Uploads to workspaces that one process carries at once. */
  workspaceMaxUploads: number;
  /** Uploads are refused while the file system of the files has less room than this left, bytes. */
  filesReserveBytes: number;
}

export function readStorageConfig(env: EnvReader): StorageConfig {
  const store = readStore(env);
  const quota = env.integer('WORKSPACE_QUOTA_BYTES', { default: 100 * 1024 ** 3, min: 0 });
  return {
    store,
    logRetentionDays: env.integer('LOG_RETENTION_DAYS', { default: 30, min: 1 }),
    logMaxBytes: env.integer('LOG_MAX_BYTES', { default: 100 * 1024 * 1024, min: 64 * 1024, max: 2 ** 40 }),
    objectStoreTimeoutMs: env.integer('OBJECT_STORE_TIMEOUT_MS', { default: 30_000, min: 100, max: 600_000 }),
    objectStoreMaxUploads: env.integer('OBJECT_STORE_MAX_UPLOADS', { default: 8, min: 1, max: 1000 }),
    workspaceMaxUploads: env.integer('WORKSPACE_MAX_UPLOADS', {
      // Each holds up to 32 MiB on its way into a bucket.
      default: store.kind === 'directory' ? 32 : 8,
      min: 1,
      max: 1000,
    }),
    filesReserveBytes: env.integer('FILES_RESERVE_BYTES', { default: 1024 ** 3, min: 0 }),
    workspaceQuotaBytes: quota === 0 ? null : quota,
  };
}

function readStore(env: EnvReader): StoreConfig {
  const kind = env.oneOf('STORE', ['directory', ...PROVIDERS], 'directory');
  if (kind !== 'directory') {
    const credentials = env.map('STORE_CREDENTIALS', 'name=value');
    if (env.optional('STORE_CREDENTIALS') === null) env.problem('STORE_CREDENTIALS', 'is required with a bucket');
    return { kind: 'bucket', provider: kind, bucket: env.string('STORE_BUCKET'), credentials };
  }
  const dir = env.string('DATA_DIR');
  return { kind, dir, filesDir: join(dir, 'files'), logsDir: join(dir, 'logs') };
}
