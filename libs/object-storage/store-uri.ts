import type { StoreProvider } from './open-object-store';

/** A location in an object store as Hadoop's connectors write it. */
export interface StoreUri {
  /** In lower case. */
  scheme: string;
  /** Bucket or container. */
  bucket: string;
  /** Azure's storage account in lower case, else null. */
  account: string | null;
  /** Without outer slashes and empty names, as Hadoop reads it; empty for the whole bucket. */
  path: string;
}

/** URI schemes of the connectors for the stores of a provider, the usual one first. */
export const STORE_SCHEMES: Readonly<Record<StoreProvider, readonly string[]>> = {
  aws: ['s3', 's3a', 's3n'],
  's3-compatible': ['s3', 's3a', 's3n'],
  gcp: ['gs'],
  azure: ['abfss', 'abfs', 'wasbs', 'wasb'],
};

/** True if the URI points to an object store, not to a file system. */
export function isInStore(uri: string): boolean {
  const [scheme = ''] = uri.split(':', 1);
  return Object.values(STORE_SCHEMES).some((schemes) => schemes.includes(scheme.toLowerCase()));
}

const URI = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(.*)$/is;
const AZURE_AUTHORITY = /^([^@]+)@([a-z0-9]+)\.(?:dfs|blob)\.core\.windows\.net$/i;

/** Parses the URI of a location in the provider's stores; returns null if it points elsewhere. */
export function parseStoreUri(uri: string, provider: StoreProvider): StoreUri | null {
  const [, anyCase = '', authority = '', rest = ''] = URI.exec(uri) ?? [];
  const scheme = anyCase.toLowerCase();
  if (!STORE_SCHEMES[provider].includes(scheme)) return null;
  const path = rest.split('/').filter(Boolean).join('/');
  if (provider !== 'azure') return authority === '' ? null : { scheme, bucket: authority, account: null, path };
  const [, bucket, account] = AZURE_AUTHORITY.exec(authority) ?? [];
  if (bucket === undefined || account === undefined) return null;
  return { scheme, bucket, account: account.toLowerCase(), path };
}
