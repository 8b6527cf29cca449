import type { StoreProvider } from './open-object-store';

/** A place in an object store as Hadoop's connectors name it. */
export interface StoreUri {
  /** In lower case. */
  scheme: string;
  /** Bucket or container. */
  bucket: string;
  /** Azure's storage account in lower case, else null. */
  account: string | null;
  /** Without slashes at its ends and empty names in it, as Hadoop reads it; empty for the whole bucket. */
  path: string;
}

/** Schemes of the connectors that reach the stores of a provider, the usual one first. */
export const STORE_SCHEMES: Readonly<Record<StoreProvider, readonly string[]>> = {
  aws: ['s3', 's3a', 's3n'],
  's3-compatible': ['s3', 's3a', 's3n'],
  gcp: ['gs'],
  azure: ['abfss', 'abfs', 'wasbs', 'wasb'],
};

/** Whether a URI names a place in any object store, and not in a file system. */
export function isInStore(uri: string): boolean {
  const [scheme = ''] = uri.split(':', 1);
  return Object.values(STORE_SCHEMES).some((schemes) => schemes.includes(scheme.toLowerCase()));
}

const URI = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(.*)$/is;
const AZURE_AUTHORITY = /^([^@]+)@([a-z0-9]+)\.(?:dfs|blob)\.core\.windows\.net$/i;

/** Where a URI leads in the stores of a provider; null for one that does not lead there. */
export function parseStoreUri(uri: string, provider: StoreProvider): StoreUri | null {
  const [, given = '', authority = '', rest = ''] = URI.exec(uri) ?? [];
  const scheme = given.toLowerCase();
  if (!STORE_SCHEMES[provider].includes(scheme)) return null;
  const path = rest.split('/').filter(Boolean).join('/');
  if (provider !== 'azure') return authority === '' ? null : { scheme, bucket: authority, account: null, path };
  const [, bucket, account] = AZURE_AUTHORITY.exec(authority) ?? [];
  if (bucket === undefined || account === undefined) return null;
  return { scheme, bucket, account: account.toLowerCase(), path };
}
