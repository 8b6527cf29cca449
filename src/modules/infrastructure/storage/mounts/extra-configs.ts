import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { StoreCloudProviderName } from '../object-storage-managers/object-storage-managers.joins';

const MAX_ENTRIES = 100;
const MAX_LENGTH = 1000;

/** A mount may set only properties of its own store. */
const PREFIXES: Record<StoreCloudProviderName, string> = {
  AWS: 'fs.s3a.',
  OnPrem: 'fs.s3a.',
  GCP: 'fs.gs.',
  Azure: 'fs.azure.',
};

const KEY = /^fs(\.[A-Za-z0-9_-]+)+$/;
/** Matches keys that hold credentials or choose a credentials provider. */
const CREDENTIALS = /secret|passw|credential|token|private|keyfile|(access|account|client)[.-]key|client-provided/i;
const AUTHENTICATION = /\.(auth|oauth2?|sas)(\.|$)/i;
const ENCRYPTION_ALGORITHM = /encryption[.-]algorithm$/i;
const ENCRYPTION_KEY = /encryption[.-]key([.-]hash)?$/i;
/** Matches keys that would replace the file system of the scheme and so bypass the mount's settings. */
const IMPLEMENTATION = /\.impl$/i;

/**
 * Throws 400 for properties of another store, and for properties that may hold a secret, because everybody in the
 * tenant can read them.
 */
export function assertExtraConfigs(
  configs: Readonly<Record<string, unknown>> | null,
  provider: StoreCloudProviderName,
  encryption: string | null,
): void {
  const entries = Object.entries(configs ?? {});
  if (entries.length > MAX_ENTRIES) throw refused(`extra_configs can have at most ${MAX_ENTRIES} properties.`);
  for (const [key, value] of entries) {
    assertKey(key, provider, encryption);
    assertValue(key, value);
  }
}

/** Converts the properties to text, as Hadoop expects. */
export function extraConfigTexts(configs: Readonly<Record<string, unknown>> | null): Record<string, string> {
  return Object.fromEntries(Object.entries(configs ?? {}).map(([key, value]) => [key, String(value)]));
}

function assertKey(key: string, provider: StoreCloudProviderName, encryption: string | null): void {
  const prefix = PREFIXES[provider];
  if (key.length > MAX_LENGTH || !KEY.test(key) || !key.startsWith(prefix)) {
    throw refused(
      `For this storage type, the keys of extra_configs must be Hadoop properties that begin with ${prefix}.`,
    );
  }
  if (CREDENTIALS.test(key) || AUTHENTICATION.test(key)) {
    throw refused(`extra_configs contains ${key}: credentials belong in the credentials configuration.`);
  }
  if (ENCRYPTION_ALGORITHM.test(key)) {
    throw refused(`extra_configs contains ${key}: encryption_type_id chooses the encryption.`);
  }
  // For SSE-KMS the value is a key id, otherwise it is the key itself.
  if (ENCRYPTION_KEY.test(key) && encryption !== 'SSE-KMS') {
    throw refused(`extra_configs contains ${key}, which names a key of SSE-KMS: choose that with encryption_type_id.`);
  }
  if (IMPLEMENTATION.test(key)) throw refused(`extra_configs contains ${key}: the platform chooses the file system.`);
}

function assertValue(key: string, value: unknown): void {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  const text = String(value);
  // eslint-disable-next-line no-control-regex -- a line break would begin another property
  if (isPlain && text.length <= MAX_LENGTH && !/[\u0000-\u001f\u007f]/.test(text)) return;
  throw refused(
    `The value of ${key} in extra_configs must be a number, a boolean or a text of at most ${MAX_LENGTH} characters without control characters.`,
  );
}

function refused(message: string): Error {
  return invalid('MOUNT.INVALID_EXTRA_CONFIGS', message);
}
