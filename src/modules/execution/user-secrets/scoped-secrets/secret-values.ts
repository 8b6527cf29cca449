import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { SecretTypeName } from '../../../foundation/reference-data';
import { bytesOfBase64, isPrivateKey } from '../../../foundation/secrets';
import { MAX_SECRET_BYTES, type SecretValues } from './dto/scoped-secret.dto';

type FieldName = keyof SecretValues;

/** Constraints on a value, which must always be more than blanks. */
interface Constraint {
  optional?: boolean;
  isValid?: (value: string) => boolean;
  /** Describes a valid value for the error: `must be …`. */
  expected?: string;
}

const ANY: Constraint = {};
const PRIVATE_KEY: Constraint = { isValid: isPrivateKey, expected: 'a private key in PEM form' };
const KEYTAB: Constraint = { isValid: isKeytab, expected: 'standard base64 of a keytab file' };

/** Fields of each secret type. */
const SECRET_FIELDS: Readonly<Record<SecretTypeName, Partial<Record<FieldName, Constraint>>>> = {
  'HIVE KERBEROS': { principal: ANY, keytab: KEYTAB },
  'HIVE BASIC': { username: ANY, password: ANY },
  'DATABRICKS UNITY TOKEN': { token: ANY },
  'ENVIRONMENT VARIABLE': { value: ANY },
  'AWS ACCESS SECRET KEY PAIR': { aws_access_key_id: ANY, aws_secret_access_key: ANY, aws_default_region: ANY },
  'AZURE SERVICE PRINCIPAL': { tenant_id: ANY, subscription_id: ANY, client_id: ANY, client_secret: ANY },
  'GOOGLE SERVICE ACCOUNT': {
    type: ANY,
    project_id: ANY,
    private_key_id: ANY,
    private_key: PRIVATE_KEY,
    client_email: ANY,
    client_id: ANY,
    auth_uri: ANY,
    token_uri: ANY,
    auth_provider_x509_cert_url: ANY,
    client_x509_cert_url: ANY,
    access_key: ANY,
    secret_key: ANY,
    universe_domain: { optional: true },
  },
};

const FIELD_NAMES = [...new Set(Object.values(SECRET_FIELDS).flatMap((fields) => Object.keys(fields) as FieldName[]))];

/**
 * Returns the values in a request for a secret of the type; null if it contains none. Throws a 400 for missing fields and for
 * fields of other types. The error names fields and never contains a value.
 */
export function valuesIn(type: SecretTypeName, body: SecretValues): Record<string, string> | null {
  const fields = SECRET_FIELDS[type];
  const present = FIELD_NAMES.filter((name) => body[name] !== undefined);
  const unknown = present.filter((name) => !(name in fields));
  if (unknown.length > 0) {
    const allowed = Object.keys(fields).join(', ');
    throw invalid(
      'SECRET.FIELD_UNKNOWN',
      `${unknown.join(', ')} cannot be set for a secret of type ${type}. Allowed: ${allowed}.`,
      {
        unknown,
      },
    );
  }
  return present.length === 0 ? null : checked(type, body);
}

/** Returns the values in a request that must contain them; throws a 400 if they are missing. */
export function requiredValues(type: SecretTypeName, body: SecretValues): Record<string, string> {
  return valuesIn(type, body) ?? checked(type, body);
}

function checked(type: SecretTypeName, body: SecretValues): Record<string, string> {
  const forms = Object.entries(SECRET_FIELDS[type]) as [FieldName, Constraint][];
  const missing = forms.filter(([name, { optional }]) => !optional && body[name] === undefined).map(([name]) => name);
  if (missing.length > 0) {
    const text = `${missing.join(', ')} is required for a secret of type ${type}. Send all of its values together.`;
    throw invalid('SECRET.FIELD_MISSING', text, { missing });
  }
  const values = forms.flatMap(([name, form]): [string, string][] => {
    const value = body[name];
    if (value === undefined) return [];
    assertValid(name, form, value);
    return [[name, value]];
  });
  const bytes = values.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0);
  if (bytes > MAX_SECRET_BYTES) {
    throw invalid(
      'SECRET.TOO_LARGE',
      `The values of a secret may have at most ${MAX_SECRET_BYTES} bytes together; these have ${bytes}.`,
    );
  }
  return Object.fromEntries(values);
}

function assertValid(name: FieldName, { isValid, expected = '' }: Constraint, value: string): void {
  if (value.trim() === '') {
    throw invalid('SECRET.VALUE_INVALID', `The value of ${name} must be more than blanks.`, { field: name });
  }
  if (isValid && !isValid(value)) {
    throw invalid('SECRET.VALUE_INVALID', `The value of ${name} must be ${expected}.`, { field: name });
  }
}

/** A keytab file starts with its version, 5.1 or 5.2. */
function isKeytab(text: string): boolean {
  const [major, minor] = bytesOfBase64(text) ?? [];
  return major === 5 && (minor === 1 || minor === 2);
}
