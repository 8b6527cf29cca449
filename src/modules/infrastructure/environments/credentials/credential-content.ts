import { LONG_JSON, parseUntrusted } from '../../../../../libs/json/parse-json';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { isServiceUrl } from '../../../../platform/kernel/outbound/allowed-url';
import { CREDENTIAL_TYPE_ID } from '../../../foundation/reference-data';
import { bytesOfBase64, isPrivateKey } from '../../../foundation/secrets';

/** Error code if the outbound policy does not allow an endpoint in credentials, or one where they are checked. */
export const ENDPOINT_REFUSED = 'CREDENTIALS_CONF.ENDPOINT_REFUSED';

type Check = (key: string, value: string) => void;

/** Keys of a credential type, each with a check of its value, which must also be a non-empty string. */
type CredentialKeys = Readonly<Record<string, Check | null>>;

/** Keys by credential type, from the API specification. All are required. */
const CREDENTIAL_KEYS: Readonly<Record<number, CredentialKeys>> = {
  [CREDENTIAL_TYPE_ID.googleServiceAccount]: {
    TYPE: null,
    PROJECT_ID: null,
    PRIVATE_KEY_ID: null,
    PRIVATE_KEY: assertPrivateKey,
    CLIENT_EMAIL: null,
    CLIENT_ID: null,
    AUTH_URI: null,
    TOKEN_URI: null,
    AUTH_PROVIDER_X509_CERT_URL: null,
    CLIENT_X509_CERT_URL: null,
  },
  [CREDENTIAL_TYPE_ID.awsAccessSecretKeyPair]: {
    AWS_ACCESS_KEY_ID: null,
    AWS_SECRET_ACCESS_KEY: null,
    AWS_DEFAULT_REGION: null,
  },
  [CREDENTIAL_TYPE_ID.azureServicePrincipal]: {
    CLIENT_ID: null,
    TENANT_ID: null,
    CLIENT_SECRET: null,
    SUBSCRIPTION_ID: null,
    STORAGE_ACCOUNT_NAME: null,
    CONTAINER_NAME: null,
  },
  [CREDENTIAL_TYPE_ID.onPremBasicAuth]: { USERNAME: null, PASSWORD: null },
  [CREDENTIAL_TYPE_ID.ociApiKey]: {
    OCI_TENANCY_OCID: null,
    OCI_USER_OCID: null,
    OCI_FINGERPRINT: null,
    OCI_PRIVATE_KEY: assertPrivateKey,
    OCI_COMPARTMENT_OCID: null,
  },
  [CREDENTIAL_TYPE_ID.customS3]: {
    AWS_ACCESS_KEY_ID: null,
    AWS_SECRET_ACCESS_KEY: null,
    S3_ENDPOINT: assertServiceUrl,
  },
};

/** Keys that identify the account, or a part of it, for types where the cloud environment does not. */
const ACCOUNT_KEYS: Readonly<Record<number, readonly string[]>> = {
  [CREDENTIAL_TYPE_ID.azureServicePrincipal]: ['SUBSCRIPTION_ID'],
  [CREDENTIAL_TYPE_ID.ociApiKey]: ['OCI_TENANCY_OCID', 'OCI_COMPARTMENT_OCID'],
};

/** True if new credentials belong to another account, where the nodes created with the old ones are not found. */
export function opensAnotherAccount(
  credentialTypeId: number,
  values: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): boolean {
  return (ACCOUNT_KEYS[credentialTypeId] ?? []).some((key) => values[key]?.trim() !== before[key]?.trim());
}

/**
 * Parses a base64-encoded JSON object that must have exactly the keys of the credential type. The 400s it throws name
 * keys but never contain values; parser errors are dropped because they quote their input.
 */
export function parseCredentials(credentialTypeId: number, encoded: string): Record<string, string> {
  const keys = CREDENTIAL_KEYS[credentialTypeId];
  if (!keys) {
    throw invalid('CREDENTIALS_CONF.TYPE_UNSUPPORTED', `Credentials of type ${credentialTypeId} are not supported.`);
  }
  const content = parseObject(decode(encoded));
  assertKeys(Object.keys(content), Object.keys(keys));
  return Object.fromEntries(
    Object.entries(keys).map(([key, check]) => {
      const value = content[key];
      if (typeof value !== 'string' || value.trim() === '') {
        throw invalid('CREDENTIALS_CONF.VALUE_INVALID', `The value of ${key} must be a non-empty string.`, { key });
      }
      check?.(key, value);
      return [key, value];
    }),
  );
}

function decode(encoded: string): string {
  const bytes = bytesOfBase64(encoded);
  if (bytes === null) {
    throw invalid('CREDENTIALS_CONF.NOT_BASE64', 'base64_encoded_credentials.encoded must be standard base64.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('CREDENTIALS_CONF.NOT_UTF8', 'The decoded credentials are not UTF-8 text.');
  }
}

function parseObject(text: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = parseUntrusted(text, LONG_JSON);
  } catch {
    throw invalid('CREDENTIALS_CONF.NOT_JSON', 'The decoded credentials are not JSON.');
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw invalid('CREDENTIALS_CONF.NOT_JSON', 'The decoded credentials are not a JSON object.');
  }
  return content as Record<string, unknown>;
}

function assertKeys(actual: readonly string[], expected: readonly string[]): void {
  const unknown = actual.filter((key) => !expected.includes(key)).map(printable);
  if (unknown.length > 0) {
    throw invalid(
      'CREDENTIALS_CONF.KEY_UNKNOWN',
      `The credentials contain ${unknown.slice(0, 10).join(', ')}, but the keys of the credential type are ${expected.join(', ')}.`,
    );
  }
  const missing = expected.filter((key) => !actual.includes(key));
  if (missing.length > 0) {
    throw invalid(
      'CREDENTIALS_CONF.KEY_MISSING',
      `The credentials have no ${missing.join(', ')}. All keys of the credential type are required.`,
      { missing },
    );
  }
}

/** Hides a key that does not look like one: it may be a misplaced secret. */
function printable(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(key) ? key : 'a key that is not an identifier';
}

function assertPrivateKey(key: string, value: string): void {
  if (isPrivateKey(value)) return;
  throw invalid('CREDENTIALS_CONF.VALUE_INVALID', `The value of ${key} must be a private key in PEM form.`, { key });
}

function assertServiceUrl(key: string, value: string): void {
  if (isServiceUrl(value)) return;
  throw invalid(
    'CREDENTIALS_CONF.VALUE_INVALID',
    `The value of ${key} must be an http or https URL without query, fragment or white space.`,
    { key },
  );
}
