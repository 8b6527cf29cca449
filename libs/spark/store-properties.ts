import type { RunMount } from '../contracts/agent-protocol';
import { SubmitError } from './submit-error';

/** A mount in Hadoop's terms. */
export interface HadoopStore {
  /** URI of the mounted folder: `s3a://bucket/folder`. */
  target: string;
  /** Names the bucket, account or service that the properties configure. A run has one set of properties for each. */
  scope: string;
  /** Hadoop properties with which the store is reached, including credentials. */
  properties: Record<string, string>;
}

/** A name and a value. */
type Property = [string, string];

/** Folder that buffers uploads. Each process has its own, which is removed with the run. */
const BUFFER_ROOT = '${env.SPARK_LOCAL_DIRS:-${hadoop.tmp.dir}}';

/** Names of encryption types that Hadoop's S3 client has to request. The store applies all others by itself. */
const S3_ENCRYPTION: Readonly<Record<string, string>> = { 'SSE-S3': 'AES256', 'SSE-KMS': 'SSE-KMS', 'SSE-C': 'SSE-C' };

/** Stores that are not Amazon's have no region and accept this one. */
const DEFAULT_REGION = 'us-east-1';

/** Returns the Hadoop settings of a mount's store. Throws a SubmitError that names a missing credential. */
export function hadoopStore(mount: RunMount): HadoopStore {
  switch (mount.provider) {
    case 'aws':
    case 's3-compatible':
      return s3Store(mount);
    case 'gcp':
      return googleStore(mount);
    case 'azure':
      return azureStore(mount);
  }
}

function s3Store(mount: RunMount): HadoopStore {
  const options: Record<string, string> = {
    // Set explicitly, so that a wrong key is an error and does not start a search for the machine's own credentials.
    'aws.credentials.provider': 'org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider',
    'access.key': credential(mount, 'AWS_ACCESS_KEY_ID'),
    'secret.key': credential(mount, 'AWS_SECRET_ACCESS_KEY'),
  };
  if (mount.provider === 'aws') {
    const region = credential(mount, 'AWS_DEFAULT_REGION');
    options['endpoint'] = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    options['endpoint.region'] = region;
  } else {
    options['endpoint'] = credential(mount, 'S3_ENDPOINT');
    options['endpoint.region'] = DEFAULT_REGION;
    options['path.style.access'] = 'true';
  }
  const encryption = S3_ENCRYPTION[mount.encryption ?? ''];
  if (encryption !== undefined) options['encryption.algorithm'] = encryption;

  const bucketPrefix = `fs.s3a.bucket.${mount.bucket}.`;
  const own = Object.entries(options).map(([name, value]): Property => [bucketPrefix + name, value]);
  const extra = Object.entries(mount.extra_configs).map(([name, value]): Property => [
    s3Name(name, bucketPrefix),
    value,
  ]);
  return {
    target: `s3a://${mount.bucket}/${mount.path}`,
    scope: `the bucket ${mount.bucket}`,
    properties: { 'fs.s3a.buffer.dir': `${BUFFER_ROOT}/s3a`, ...Object.fromEntries([...own, ...extra]) },
  };
}

/** Option names from before Hadoop 3.3.2. The new names win if both are set. */
const RENAMED: Readonly<Record<string, string>> = {
  'server-side-encryption-algorithm': 'encryption.algorithm',
  'server-side-encryption.key': 'encryption.key',
};

/** Turns an option for all buckets into one for the mount's bucket. Only the choice of the client cannot be set per bucket. */
function s3Name(name: string, bucketPrefix: string): string {
  const option = /^fs\.s3a\.(?!bucket\.|impl$)(.+)$/.exec(name)?.[1];
  return option === undefined ? name : bucketPrefix + (RENAMED[option] ?? option);
}

/**
 * Hadoop 3.5 has a client of its own for Google, whose defaults are sizes such as `64m`. That of Google accepts only bytes, and reads
 * the same names; these are its own defaults.
 */
const GOOGLE_SIZES = {
  'fs.gs.block.size': String(64 * 2 ** 20),
  'fs.gs.inputstream.inplace.seek.limit': String(8 * 2 ** 20),
  'fs.gs.inputstream.min.range.request.size': String(2 * 2 ** 20),
  'fs.gs.outputstream.buffer.size': String(8 * 2 ** 20),
};

function googleStore(mount: RunMount): HadoopStore {
  return {
    target: `gs://${mount.bucket}/${mount.path}`,
    scope: 'Google Cloud Storage',
    properties: {
      ...GOOGLE_SIZES,
      'fs.gs.impl': 'com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem',
      'fs.AbstractFileSystem.gs.impl': 'com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS',
      'fs.gs.auth.service.account.enable': 'true',
      'fs.gs.auth.service.account.email': credential(mount, 'CLIENT_EMAIL'),
      'fs.gs.auth.service.account.private.key.id': credential(mount, 'PRIVATE_KEY_ID'),
      'fs.gs.auth.service.account.private.key': credential(mount, 'PRIVATE_KEY'),
      ...mount.extra_configs,
    },
  };
}

function azureStore(mount: RunMount): HadoopStore {
  const host = `${credential(mount, 'STORAGE_ACCOUNT_NAME')}.dfs.core.windows.net`;
  const tenant = encodeURIComponent(credential(mount, 'TENANT_ID'));
  const own: Record<string, string> = {
    [`fs.azure.account.auth.type.${host}`]: 'OAuth',
    [`fs.azure.account.oauth.provider.type.${host}`]: 'org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider',
    [`fs.azure.account.oauth2.client.endpoint.${host}`]: `https://login.microsoftonline.com/${tenant}/oauth2/token`,
    [`fs.azure.account.oauth2.client.id.${host}`]: credential(mount, 'CLIENT_ID'),
    [`fs.azure.account.oauth2.client.secret.${host}`]: credential(mount, 'CLIENT_SECRET'),
  };
  const extra = Object.entries(mount.extra_configs).map(([name, value]): Property =>
    // A setting of the account beats one for all accounts.
    [`${name}.${host}` in own ? `${name}.${host}` : name, value],
  );
  return {
    target: `abfss://${mount.bucket}@${host}/${mount.path}`,
    scope: `the storage account ${host}`,
    properties: {
      'fs.azure.buffer.dir': `${BUFFER_ROOT}/abfs`,
      // Hadoop 3.5 collects metrics of its own in threads for which the JVM would wait at the end of a run, forever.
      'fs.azure.metrics.collection.enabled': 'false',
      ...own,
      ...Object.fromEntries(extra),
    },
  };
}

function credential(mount: RunMount, name: string): string {
  const value = mount.credentials[name];
  if (value === undefined || value === '')
    throw new SubmitError(`The credentials of the mount ${mount.mount_point} lack ${name}.`);
  return value;
}
