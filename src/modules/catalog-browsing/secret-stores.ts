import type { ObjectStore } from '../../../libs/object-storage/object-store';
import { openObjectStore, type StoreProvider } from '../../../libs/object-storage/open-object-store';
import { parseStoreUri, STORE_SCHEMES, type StoreUri } from '../../../libs/object-storage/store-uri';
import type { OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';
import { invalid } from '../../platform/errors/domain-error';
import type { SecretTypeName } from '../reference-data/reference-data.contract';
import type { RevealedSecret } from '../scoped-secrets/scoped-secrets.contract';

const TIMEOUTS = { callMs: 10_000, idleMs: 10_000 };

/** Where a URI leads, and by whose API. */
export interface StorePlace extends StoreUri {
  provider: StoreProvider;
}

interface StoreKind {
  provider: StoreProvider;
  /** The keys of the credentials that open such a store. */
  credentials(values: Readonly<Record<string, string>>, account: string | null): Record<string, string | undefined>;
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
    credentials: (values, account) => ({
      CLIENT_ID: values['client_id'],
      TENANT_ID: values['tenant_id'],
      CLIENT_SECRET: values['client_secret'],
      STORAGE_ACCOUNT_NAME: account ?? undefined,
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
export function placeOf(type: SecretTypeName, uri: string, s3Endpoint: string | null): StorePlace {
  const kind = STORE_KINDS[type];
  const place = kind ? parseStoreUri(uri, kind.provider) : null;
  if (!kind || !place) throw notOpened(type, uri);
  const isCompatible = kind.provider === 'aws' && s3Endpoint !== null;
  return { ...place, provider: isCompatible ? 's3-compatible' : kind.provider };
}

/**
 * The store of a place, opened with a secret. Calls nothing. Throws the `ObjectStoreError`s of {@link openObjectStore}.
 * @param s3Endpoint URL of an S3-compatible store, null for Amazon's
 */
export function openStore(
  { type, values }: RevealedSecret,
  { provider, bucket, account }: StorePlace,
  { s3Endpoint, outbound }: { s3Endpoint: string | null; outbound: OutboundPolicy },
): ObjectStore {
  const keys = { ...STORE_KINDS[type]?.credentials(values, account), S3_ENDPOINT: s3Endpoint ?? undefined };
  const given = Object.entries(keys).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return openObjectStore({ provider, bucket, credentials: Object.fromEntries(given), outbound, timeouts: TIMEOUTS });
}

function notOpened(type: SecretTypeName, uri: string): Error {
  const schemes = storesOf(type)?.map((scheme) => `${scheme}://`);
  const wanted = schemes?.join(', ') ?? 'no object store';
  return invalid('SECRET.OTHER_STORE', `A secret of type ${type} opens ${wanted}, and not ${uri}.`);
}
