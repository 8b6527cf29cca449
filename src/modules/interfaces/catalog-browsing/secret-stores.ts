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

/** If it is the wrong region for a bucket, Amazon answers with the right one. */
const AWS_DEFAULT_REGION = 'us-east-1';

const PROVIDERS: Record<VendedCredentials['provider'], string> = { aws: 'Amazon', azure: 'Azure', gcp: 'Google' };

/** Where a URI leads, and whose API opens it. */
export interface StorePlace extends StoreUri {
  provider: StoreProvider;
  /** The settings that its bucket needs besides credentials, by key: an endpoint, a region or an account. */
  server: Readonly<Record<string, string>>;
}

interface StoreKind {
  provider: VendedCredentials['provider'];
  /** The keys of the credentials that open such a store. */
  credentials(values: Readonly<Record<string, string>>): Record<string, string | undefined>;
}

/** Which stores the secrets of a type open. */
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

/** Schemes of the URIs that a secret of the type opens; null for one that opens no stores. */
export function storesOf(type: SecretTypeName): readonly string[] | null {
  const kind = STORE_KINDS[type];
  return kind ? STORE_SCHEMES[kind.provider] : null;
}

/** The place in an object store that a URI names; throws a 400 for one that a secret of the type cannot open. */
export function placeOf(type: SecretTypeName, uri: string, s3: S3Servers): StorePlace {
  const provider = STORE_KINDS[type]?.provider;
  const place = provider && placeIn(provider, uri, s3);
  if (!place) throw notOpened(type, uri);
  return place;
}

/** The place that a URI names in the stores of a provider; null if it is elsewhere. */
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

/** The store of a place, opened with a secret. Calls nothing. Throws the `ObjectStoreError`s of {@link openObjectStore}. */
export function openStore(
  { type, values }: RevealedSecret,
  { provider, bucket, server }: StorePlace,
  outbound: OutboundPolicy,
): ObjectStore {
  const keys = STORE_KINDS[type]?.credentials(values) ?? {};
  const given = Object.entries(keys).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const credentials = { ...Object.fromEntries(given), ...server };
  return openObjectStore({ provider, bucket, credentials, outbound, timeouts: TIMEOUTS });
}

/**
 * Opens the files of a table with the credentials that its metastore gave for them. Calls nothing. Throws a `TableSchemaError` if
 * the credentials are for another place than the table's, and otherwise like {@link openStore}.
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
    const message = `The files are at ${excerpt(location)}, but the metastore gave credentials for ${opened}. Its administrator must correct that.`;
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

function notOpened(type: SecretTypeName, uri: string): Error {
  const schemes = storesOf(type)?.map((scheme) => `${scheme}://`);
  const wanted = schemes?.join(', ') ?? 'no object store';
  return invalid('SECRET.OTHER_STORE', `A secret of type ${type} opens ${wanted}, not ${uri}.`);
}
