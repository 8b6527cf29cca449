import { join } from 'node:path';
import type { EnvReader } from './env-reader';

/** The place of workspace files and logs, which all processes share. */
export type StoreConfig =
  | {
      kind: 'directory';
      /** Parent of the other two. */
      dir: string;
      filesDir: string;
      logsDir: string;
    }
  | {
      kind: 'bucket';
      provider: (typeof PROVIDERS)[number];
      /** Bucket, or container of the storage account. */
      bucket: string;
      /** Keyed by the names that credentials of the provider have, such as `AWS_ACCESS_KEY_ID`. */
      credentials: Record<string, string>;
    };

const PROVIDERS = ['s3-compatible', 'aws', 'gcp', 'azure'] as const;

export type StorageConfig = ReturnType<typeof readStorageConfig>;

export function readStorageConfig(reader: EnvReader) {
  const store = readStore(reader.section('Where files and logs are stored'));
  const env = reader.section('Files and logs');
  const quota = env.integer('WORKSPACE_QUOTA_BYTES', {
    default: 100 * 1024 ** 3,
    min: 0,
    unit: 'bytes',
    readBy: ['API'],
    description: 'Largest total size of the files of one workspace. `0` means no limit.',
  });
  return {
    store,
    logRetentionDays: env.integer('LOG_RETENTION_DAYS', {
      default: 30,
      min: 1,
      unit: 'days',
      readBy: ['worker'],
      description: 'Time after the end of a run or a node at which its logs are removed.',
    }),
    logMaxBytes: env.integer('LOG_MAX_BYTES', {
      default: 100 * 1024 * 1024,
      min: 64 * 1024,
      max: 2 ** 40,
      unit: 'bytes',
      readBy: ['API', 'worker', 'agent'],
      description:
        'Size at which each log of a run (stdout, stderr, events) and of a node is cut off. The log says that it is cut.',
    }),
    objectStoreTimeoutMs: env.integer('OBJECT_STORE_TIMEOUT_MS', {
      default: 30_000,
      min: 100,
      max: 600_000,
      unit: 'milliseconds',
      readBy: ['API', 'worker'],
      description:
        'Time after which a call to an object store, or a pause in a transfer, fails. For calls about logs it is at most ' +
        '5000.',
    }),
    objectStoreMaxUploads: env.integer('OBJECT_STORE_MAX_UPLOADS', {
      default: 8,
      min: 1,
      max: 1000,
      readBy: ['API'],
      description:
        'Number of uploads to object stores that one API process carries at once, half of them for one tenant. Each needs ' +
        'up to 32 MiB of memory; further ones get status 429.',
    }),
    workspaceMaxUploads: env.integer('WORKSPACE_MAX_UPLOADS', {
      // On its way into a bucket, each upload needs up to 32 MiB of memory.
      default: store.kind === 'directory' ? 32 : 8,
      min: 1,
      max: 1000,
      defaultText: '`32`; `8` if files are in a bucket, because each upload then needs up to 32 MiB of memory',
      readBy: ['API'],
      description:
        'Number of uploads to workspaces that one API process carries at once, half of them for one tenant. Further ones ' +
        'get status 429.',
    }),
    filesReserveBytes: env.integer('FILES_RESERVE_BYTES', {
      default: 1024 ** 3,
      min: 0,
      unit: 'bytes',
      readBy: ['API'],
      description:
        'Free space that the file system of `DATA_DIR` must keep. Uploads to workspaces are refused while it has less.',
    }),
    workspaceQuotaBytes: quota === 0 ? null : quota,
  };
}

function readStore(env: EnvReader): StoreConfig {
  const kind = env.oneOf('STORE', ['directory', ...PROVIDERS], {
    default: 'directory',
    readBy: ['API', 'worker'],
    description: 'Kind of storage for workspace files and logs: a directory, or a bucket at one of the providers.',
  });
  if (kind === 'directory') {
    const dir = env.string('DATA_DIR', {
      allowed: 'path of a directory',
      requiredIf: '`STORE` is `directory`',
      example: '/var/lib/managed-spark/data',
      readBy: ['API', 'worker'],
      description: 'Directory of workspace files and logs, which all API processes and workers share.',
    });
    return { kind, dir, filesDir: join(dir, 'files'), logsDir: join(dir, 'logs') };
  }
  const credentials = env.map('STORE_CREDENTIALS', 'name=value', {
    requiredIf: '`STORE` is a provider',
    readBy: ['API', 'worker'],
    description:
      'Credentials of the bucket. `s3-compatible` needs `S3_ENDPOINT`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`; ' +
      '`aws` needs `AWS_DEFAULT_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`; `gcp` needs `CLIENT_EMAIL`, ' +
      '`PRIVATE_KEY`; `azure` needs `STORAGE_ACCOUNT_NAME`, `TENANT_ID`, `CLIENT_ID`, `CLIENT_SECRET`.',
  });
  if (!env.isSet('STORE_CREDENTIALS')) env.problem('STORE_CREDENTIALS', 'is required with a bucket');
  const bucket = env.string('STORE_BUCKET', {
    allowed: 'name of a bucket',
    requiredIf: '`STORE` is a provider',
    readBy: ['API', 'worker'],
    description: 'Name of the bucket, or of the container of the Azure storage account.',
  });
  return { kind: 'bucket', provider: kind, bucket, credentials };
}
