import type { RunMount } from '../contracts/agent-protocol';
import { SubmitError } from './submit-error';

/** A mount in Hadoop's terms. */
export interface HadoopStore {
  /** Where the mount leads to: `s3a://bucket/folder`. */
  target: string;
  /** What the properties hold for: a run has one set of them for each. */
  scope: string;
  /** Hadoop properties by which the store is reached, credentials among them. */
  properties: Record<string, string>;
}

/** Name and value. */
type Property = [string, string];

/** Uploads are kept here on their way; of each process its own, so that they go with the run. */
const BUFFER_ROOT = '${env.SPARK_LOCAL_DIRS:-${hadoop.tmp.dir}}';

/** Names of encryption types that Hadoop's S3 client asks for by itself. All others are the store's own matter. */
const S3_ENCRYPTION: Readonly<Record<string, string>> = { 'SSE-S3': 'AES256', 'SSE-KMS': 'SSE-KMS', 'SSE-C': 'SSE-C' };

/** Stores that are not Amazon's have no region and accept this one. */
const DEFAULT_REGION = 'us-east-1';

/** How Hadoop reaches the store of a mount; throws a SubmitError that names a missing credential. */
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
    // Named, so that a wrong key is an error and not a search for the credentials of the machine.
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

  const ofBucket = `fs.s3a.bucket.${mount.bucket}.`;
  const own = Object.entries(options).map(([name, value]): Property => [ofBucket + name, value]);
  const extra = Object.entries(mount.extra_configs).map(([name, value]): Property => [s3Name(name, ofBucket), value]);
  return {
    target: `s3a://${mount.bucket}/${mount.path}`,
    scope: `the bucket ${mount.bucket}`,
    properties: { 'fs.s3a.buffer.dir': `${BUFFER_ROOT}/s3a`, ...Object.fromEntries([...own, ...extra]) },
  };
}

/** Names from before Hadoop 3.3.2, which lose if the new ones are set, too. */
const RENAMED: Readonly<Record<string, string>> = {
  'server-side-encryption-algorithm': 'encryption.algorithm',
  'server-side-encryption.key': 'encryption.key',
};

/** A setting of all buckets is one of the mount's bucket here; only the choice of the client cannot be. */
function s3Name(name: string, ofBucket: string): string {
  const option = /^fs\.s3a\.(?!bucket\.|impl$)(.+)$/.exec(name)?.[1];
  return option === undefined ? name : ofBucket + (RENAMED[option] ?? option);
}

function googleStore(mount: RunMount): HadoopStore {
  return {
    target: `gs://${mount.bucket}/${mount.path}`,
    scope: 'Google Cloud Storage',
    properties: {
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
    properties: { 'fs.azure.buffer.dir': `${BUFFER_ROOT}/abfs`, ...own, ...Object.fromEntries(extra) },
  };
}

function credential(mount: RunMount, name: string): string {
  const value = mount.credentials[name];
  if (value === undefined || value === '')
    throw new SubmitError(`The credentials of the mount ${mount.mount_point} lack ${name}.`);
  return value;
}
