import { isPath } from '../../../../../libs/object-storage/store-paths';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { StoreCloudProviderName } from '../object-storage-managers/object-storage-managers.joins';

export interface MountLocation {
  bucket: string;
  /** Has no leading or trailing slash; empty for the whole bucket. */
  path: string;
  /** Azure storage account in the source; null if it names none. */
  account: string | null;
}

interface SourceRule {
  schemes: readonly string[];
  example: string;
  bucket: RegExp;
  /** Describes the pattern in error messages. */
  bucketMeaning: string;
}

/** Hadoop's S3A accepts only bucket names that Java parses as host names, even if the store allows others. */
const S3: SourceRule = {
  schemes: ['s3', 's3a'],
  example: 's3a://bucket/path',
  bucket: /^(?=.{3,63}$)(?!.*\.[0-9][a-z0-9-]*$)[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$/,
  bucketMeaning:
    '3 to 63 lower-case letters, digits, dots and hyphens; each part between dots begins and ends with a letter or ' +
    'digit, the last of several begins with a letter',
};

const RULES: Record<StoreCloudProviderName, SourceRule> = {
  AWS: S3,
  OnPrem: S3,
  GCP: {
    schemes: ['gs'],
    example: 'gs://bucket/path',
    bucket: /^(?!.*\.\.)[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/,
    bucketMeaning: '3 to 222 lower-case letters, digits, dots, hyphens and underscores',
  },
  Azure: {
    schemes: ['abfss'],
    example: 'abfss://container@account.dfs.core.windows.net/path',
    bucket: /^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
    bucketMeaning: '3 to 63 lower-case letters, digits and single hyphens',
  },
};

const ACCOUNT_HOST = /^([a-z0-9]{3,24})\.dfs\.core\.windows\.net$/;

/**
 * Parses the source of a mount: the provider's URI or `bucket/path`, optionally with a trailing slash. The 400s it
 * throws never repeat the source, because it may contain a misplaced secret.
 */
export function parseMountSource(source: string, provider: StoreCloudProviderName): MountLocation {
  const rule = RULES[provider];
  const [, scheme, rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([\s\S]*)$/.exec(source) ?? [];
  if (scheme !== undefined && !rule.schemes.includes(scheme)) {
    throw refused(
      rule,
      `a source of ${provider} must begin with ${rule.schemes.map((name) => `${name}://`).join(' or ')}`,
    );
  }
  const slash = rest.indexOf('/');
  const [authority, path] = slash === -1 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash + 1)];
  const isAzureUri = provider === 'Azure' && scheme !== undefined;
  const { bucket, account } = isAzureUri ? containerAndAccount(authority, rule) : { bucket: authority, account: null };
  if (/[@:]/.test(bucket)) throw refused(rule, 'it must not name a user, key or port');
  if (!rule.bucket.test(bucket)) {
    const noun = provider === 'Azure' ? 'container' : 'bucket';
    throw refused(rule, `the name of a ${noun} must have ${rule.bucketMeaning}`);
  }
  return { bucket, path: directoryOf(path, rule), account };
}

function containerAndAccount(authority: string, rule: SourceRule): { bucket: string; account: string } {
  const at = authority.lastIndexOf('@');
  const account = ACCOUNT_HOST.exec(authority.slice(at + 1))?.[1];
  if (at === -1 || account === undefined) {
    throw refused(rule, 'a container and the host of its storage account must follow abfss://');
  }
  return { bucket: authority.slice(0, at), account };
}

function directoryOf(path: string, rule: SourceRule): string {
  const directory = path.endsWith('/') ? path.slice(0, -1) : path;
  if (path === '') return '';
  if (!isPath(directory)) {
    throw refused(
      rule,
      'its path must be names separated by single slashes, none of them . or .., without control characters',
    );
  }
  // In a URI these start a query, fragment or escape, so Hadoop would read another path than the store shows.
  if (/[?#%\\]/.test(directory)) throw refused(rule, 'its path must not contain ?, #, % or a backslash');
  // Hadoop expands variables, and Spark trims white space.
  if (directory.includes('${')) throw refused(rule, 'its path must not contain ${');
  if (directory !== directory.trim()) throw refused(rule, 'its path must not begin or end with white space');
  return directory;
}

function refused(rule: SourceRule, reason: string): Error {
  return invalid('MOUNT.INVALID_SOURCE', `The source of the mount is invalid: ${reason}. Example: ${rule.example}`);
}
