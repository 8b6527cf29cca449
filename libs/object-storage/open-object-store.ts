import type { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { KeyedObjectStore } from './keyed-object-store';
import type * as AzureModule from './azure-key-space';
import type * as GcsModule from './gcs-key-space';
import type { KeySpace } from './key-space';
import { DEFAULT_STORE_TIMEOUTS, type ObjectStore, ObjectStoreError, type StoreTimeouts } from './object-store';
import type * as S3Module from './s3-key-space';

/* eslint-disable @typescript-eslint/no-require-imports -- An SDK is loaded with the first store of its provider: together
   they take a quarter of a second and some ten MiB, and most processes open no store. */
const s3 = () => require('./s3-key-space') as typeof S3Module;
const gcs = () => require('./gcs-key-space') as typeof GcsModule;
const azure = () => require('./azure-key-space') as typeof AzureModule;
/* eslint-enable @typescript-eslint/no-require-imports */

/** The API of a store; each has its own type of credentials. */
export type StoreProvider = 'aws' | 'gcp' | 'azure' | 's3-compatible';

export interface ObjectStoreSpec {
  provider: StoreProvider;
  /** Bucket, or container of the storage account. */
  bucket: string;
  /**
   * The keys of the credentials as the specification lists them for their type, such as `AWS_ACCESS_KEY_ID`. Temporary
   * credentials add `AWS_SESSION_TOKEN`, or have `SAS_TOKEN` or `OAUTH_TOKEN` instead.
   */
  credentials: Readonly<Record<string, string>>;
  outbound: OutboundPolicy;
  timeouts?: StoreTimeouts;
}

/** Names that some provider accepts, including Azure's `$root` and `$web`. */
const BUCKET = /^[$A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;

/** A token is sent in a header, which holds visible ASCII characters only. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** A signature is sent as the query of a URL. */
const SAS = /^[\w%&=.:+/~-]{1,8192}$/;

/** S3-compatible stores have no regions and accept this one. */
const DEFAULT_REGION = 'us-east-1';

/**
 * Opens a store without calling it; use `check()` to learn whether the bucket and the credentials work. Throws
 * `INVALID_REQUEST` for a malformed bucket name, `INVALID_CREDENTIALS` for a missing or malformed key and
 * `ADDRESS_REFUSED` for an endpoint that may not be called.
 */
export function openObjectStore(spec: ObjectStoreSpec): ObjectStore {
  const timeouts = spec.timeouts ?? DEFAULT_STORE_TIMEOUTS;
  if (!BUCKET.test(spec.bucket)) {
    throw new ObjectStoreError(
      'INVALID_REQUEST',
      'A bucket name must consist of letters, digits, dots, dashes and underscores.',
    );
  }
  return new KeyedObjectStore(keySpaceOf(spec, timeouts.callMs), timeouts);
}

function keySpaceOf({ provider, bucket, credentials, outbound }: ObjectStoreSpec, timeoutMs: number): KeySpace {
  const key = (name: string) => required(credentials, name);
  const token = (name: string) =>
    matching(key(name), TOKEN, `${name} must have at most 16384 characters, all visible ASCII.`);
  const s3Keys = () => ({
    accessKeyId: key('AWS_ACCESS_KEY_ID'),
    secretAccessKey: key('AWS_SECRET_ACCESS_KEY'),
    sessionToken: 'AWS_SESSION_TOKEN' in credentials ? token('AWS_SESSION_TOKEN') : undefined,
  });
  switch (provider) {
    case 'aws': {
      const region = matching(
        key('AWS_DEFAULT_REGION'),
        /^[a-z0-9-]{1,40}$/,
        'AWS_DEFAULT_REGION is not the name of a region.',
      );
      const { S3KeySpace } = s3();
      return new S3KeySpace({ bucket, endpoint: null, region, ...s3Keys() }, outbound.agents, timeoutMs);
    }
    case 's3-compatible': {
      const endpoint = assertedUrl(outbound, key('S3_ENDPOINT'));
      const { S3KeySpace } = s3();
      return new S3KeySpace({ bucket, endpoint, region: DEFAULT_REGION, ...s3Keys() }, outbound.agents, timeoutMs);
    }
    case 'gcp': {
      if ('OAUTH_TOKEN' in credentials) {
        const { GcsKeySpace, gcsTokenLocation } = gcs();
        return new GcsKeySpace(gcsTokenLocation({ bucket, token: token('OAUTH_TOKEN') }), outbound.agents, timeoutMs);
      }
      const keys = { bucket, clientEmail: key('CLIENT_EMAIL'), privateKey: key('PRIVATE_KEY') };
      const { GcsKeySpace, gcsLocation } = gcs();
      return new GcsKeySpace(gcsLocation(keys), outbound.agents, timeoutMs);
    }
    case 'azure': {
      // The account name becomes a part of a host name.
      const [account, rule] = [key('STORAGE_ACCOUNT_NAME'), /^[a-z0-9]{3,24}$/];
      const accountName = matching(account, rule, 'STORAGE_ACCOUNT_NAME must be 3 to 24 lowercase letters and digits.');
      const { AzureKeySpace, azureLocation, azureSasLocation } = azure();
      if ('SAS_TOKEN' in credentials) {
        const sas = matching(
          key('SAS_TOKEN').replace(/^\?/, ''),
          SAS,
          'SAS_TOKEN must be a shared access signature, the query of a URL.',
        );
        return new AzureKeySpace(azureSasLocation({ accountName, container: bucket, sas }), outbound.agents);
      }
      const location = azureLocation({
        accountName,
        container: bucket,
        tenantId: matching(key('TENANT_ID'), /^[A-Za-z0-9.-]{1,255}$/, 'TENANT_ID is not the id of a directory.'),
        clientId: key('CLIENT_ID'),
        clientSecret: key('CLIENT_SECRET'),
      });
      return new AzureKeySpace(location, outbound.agents);
    }
  }
}

function required(credentials: Readonly<Record<string, string>>, name: string): string {
  const value = credentials[name];
  if (value === undefined || value === '') {
    throw new ObjectStoreError('INVALID_CREDENTIALS', `${name} is required: the credentials do not contain it.`);
  }
  return value;
}

function matching(value: string, pattern: RegExp, message: string): string {
  if (!pattern.test(value)) throw new ObjectStoreError('INVALID_CREDENTIALS', message);
  return value;
}

function assertedUrl(outbound: OutboundPolicy, endpoint: string): string {
  try {
    return outbound.assertUrl(endpoint).href;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ObjectStoreError('ADDRESS_REFUSED', reason, { cause: error });
  }
}
