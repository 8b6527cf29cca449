import type { ObjectStore } from '../../../../libs/object-storage/object-store';
import type { VendedCredentials } from '../../../../libs/metastore-clients/metastore-client';
import { openObjectStore, type StoreProvider } from '../../../../libs/object-storage/open-object-store';
import { parseStoreUri, STORE_SCHEMES, type StoreUri } from '../../../../libs/object-storage/store-uri';
import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import { StoreTableFiles } from '../../../../libs/table-schemas/store-table-files';
import { excerpt, TableSchemaError } from '../../../../libs/table-schemas/table-schema-error';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { S3Servers } from '../../infrastructure/metastores';
import type { SecretTypeName } from '../../foundation/reference-data';
import type { RevealedSecret } from '../../execution/user-secrets';

const TIMEOUTS = { callMs: 10_000, idleMs: 10_000 };

/** If this is the wrong region for a bucket, Amazon responds with the right one. */
const AWS_DEFAULT_REGION = 'us-east-1';

const PROVIDERS: Record<VendedCredentials['provider'], string> = { aws: 'Amazon', azure: 'Azure', gcp: 'Google' };

/** The location of a URI, and the provider whose API opens it. */
export interface StorePlace extends StoreUri {
  provider: StoreProvider;
  /** Settings of the bucket's server in addition to credentials, by key: an endpoint, a region or an account. */
  server: Readonly<Record<string, string>>;
}

interface StoreKind {
  provider: VendedCredentials['provider'];
  /** Maps the values of a secret to the credentials of such a store. */
  credentials(values: Readonly<Record<string, string>>): Record<string, string | undefined>;
}

/** The stores that secrets of each type open. */
const STORE_KINDS: Partial<Record<SecretTypeName, StoreKind>> = {
  'AWS ACCESS SECRET KEY PAIR': {
    provider: 'aws',
    credentials: (values) => ({
      AWS_ACCESS_KEY_ID: values['aws_access_key_id'],
      AWS_SECRET_ACCESS_KEY: values['aws_secret_access_key'],
      AWS_DEFAULT_REGION: values['aws_default_region'],
    }),
  },
  'AZURE SERVICE PRINCIPAL': {
    provider: 'azure',
    credentials: (values) => ({
      CLIENT_ID: values['client_id'],
      TENANT_ID: values['tenant_id'],
      CLIENT_SECRET: values['client_secret'],
    }),
  },
  'GOOGLE SERVICE ACCOUNT': {
    provider: 'gcp',
    credentials: (values) => ({ CLIENT_EMAIL: values['client_email'], PRIVATE_KEY: values['private_key'] }),
  },
};

/** Returns the schemes of URIs that a secret of the type opens; null if it opens no stores. */
export function storesOf(type: SecretTypeName): readonly string[] | null {
  const kind = STORE_KINDS[type];
  return kind ? STORE_SCHEMES[kind.provider] : null;
}

/** Parses a URI of an object store; throws a 400 if a secret of the type cannot open it. */
export function placeOf(type: SecretTypeName, uri: string, s3: S3Servers): StorePlace {
  const provider = STORE_KINDS[type]?.provider;
  const place = provider && placeIn(provider, uri, s3);
  if (!place) throw wrongStore(type, uri);
  return place;
}

/** Parses a URI of a provider's object store; returns null for a URI of another provider. */
function placeIn(provider: VendedCredentials['provider'], uri: string, s3: S3Servers): StorePlace | null {
  const place = parseStoreUri(uri, provider);
  if (!place) return null;
  if (provider !== 'aws') {
    return { ...place, provider, server: place.account === null ? {} : { STORAGE_ACCOUNT_NAME: place.account } };
  }
  const { endpoint, region } = s3.of(place.bucket);
  if (endpoint !== null) return { ...place, provider: 's3-compatible', server: { S3_ENDPOINT: endpoint } };
  return { ...place, provider, server: region === null ? {} : { AWS_DEFAULT_REGION: region } };
}

/** Opens a store with a secret, without a connection. Throws the `ObjectStoreError`s of {@link openObjectStore}. */
export function openStore(
  { type, values }: RevealedSecret,
  { provider, bucket, server }: StorePlace,
  outbound: OutboundPolicy,
): ObjectStore {
  const keys = STORE_KINDS[type]?.credentials(values) ?? {};
  const present = Object.entries(keys).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const credentials = { ...Object.fromEntries(present), ...server };
  return openObjectStore({ provider, bucket, credentials, outbound, timeouts: TIMEOUTS });
}

/**
 * Opens the files of a table with credentials that its metastore has vended, without a connection. Throws a `TableSchemaError` if
 * the credentials are for another location than the table's, and otherwise the errors of {@link openStore}.
 */
export function openVended(
  { provider, keys, url }: VendedCredentials,
  location: string,
  s3: S3Servers,
  outbound: OutboundPolicy,
): StoreTableFiles {
  const place = placeIn(provider, location, s3);
  if (!place || (url !== null && !isWithin(place, parseStoreUri(url, provider)))) {
    const opened = url === null ? PROVIDERS[provider] : excerpt(url);
    const message = `The files are at ${excerpt(location)}, but the metastore returned credentials for ${opened}. The administrator of the metastore must correct that.`;
    throw new TableSchemaError('outside', message);
  }
  const credentials = { ...(provider === 'aws' ? { AWS_DEFAULT_REGION } : {}), ...keys, ...place.server };
  const { bucket } = place;
  const store = openObjectStore({ provider: place.provider, bucket, credentials, outbound, timeouts: TIMEOUTS });
  return new StoreTableFiles(store, place);
}

function isWithin(place: StoreUri, opened: StoreUri | null): boolean {
  if (!opened || place.bucket !== opened.bucket || place.account !== opened.account) return false;
  return opened.path === '' || `${place.path}/`.startsWith(`${opened.path}/`);
}

function wrongStore(type: SecretTypeName, uri: string): Error {
  const schemes = storesOf(type)?.map((scheme) => `${scheme}://`);
  const supported = schemes?.join(', ') ?? 'no object store';
  return invalid('SECRET.OTHER_STORE', `A secret of type ${type} opens ${supported}, but the URI is ${uri}.`);
}
