import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { SecretTypeName } from '../../../foundation/reference-data';
import { bytesOfBase64, isPrivateKey } from '../../../foundation/secrets';
import { MAX_SECRET_BYTES, type SecretValues } from './dto/scoped-secret.dto';

type FieldName = keyof SecretValues;

/** What a value must be besides a text with more than blanks; `optional` ones may be left out. */
interface Form {
  optional?: boolean;
  holds?: (value: string) => boolean;
  /** What `holds` demands, for the error: `must be …`. */
  meaning?: string;
}

const ANY: Form = {};
const PRIVATE_KEY: Form = { holds: isPrivateKey, meaning: 'a private key in PEM form' };
const KEYTAB: Form = { holds: isKeytab, meaning: 'standard base64 of a keytab file' };

/** Fields of each secret type. */
const SECRET_FIELDS: Readonly<Record<SecretTypeName, Partial<Record<FieldName, Form>>>> = {
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
 * The values that a request gives a secret of the type; null when it gives none. Throws 400s for fields that the type
 * lacks or has besides, which name fields and never contain a value.
 */
export function givenValues(type: SecretTypeName, body: SecretValues): Record<string, string> | null {
  const fields = SECRET_FIELDS[type];
  const given = FIELD_NAMES.filter((name) => body[name] !== undefined);
  const foreign = given.filter((name) => !(name in fields));
  if (foreign.length > 0) {
    const wanted = Object.keys(fields).join(', ');
    throw invalid('SECRET.FIELD_UNKNOWN', `A secret of type ${type} has ${wanted}, and not ${foreign.join(', ')}.`, {
      unknown: foreign,
    });
  }
  return given.length === 0 ? null : checked(type, body);
}

/** The same for a secret that needs its values. */
export function neededValues(type: SecretTypeName, body: SecretValues): Record<string, string> {
  return givenValues(type, body) ?? checked(type, body);
}

function checked(type: SecretTypeName, body: SecretValues): Record<string, string> {
  const forms = Object.entries(SECRET_FIELDS[type]) as [FieldName, Form][];
  const missing = forms.filter(([name, { optional }]) => !optional && body[name] === undefined).map(([name]) => name);
  if (missing.length > 0) {
    const text = `A secret of type ${type} needs ${missing.join(', ')}, too: all its values are given together.`;
    throw invalid('SECRET.FIELD_MISSING', text, { missing });
  }
  const values = forms.flatMap(([name, form]): [string, string][] => {
    const value = body[name];
    if (value === undefined) return [];
    assertForm(name, form, value);
    return [[name, value]];
  });
  const bytes = values.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0);
  if (bytes > MAX_SECRET_BYTES) {
    throw invalid('SECRET.TOO_LARGE', `The values of a secret have at most ${MAX_SECRET_BYTES} bytes together.`);
  }
  return Object.fromEntries(values);
}

function assertForm(name: FieldName, { holds, meaning = '' }: Form, value: string): void {
  if (value.trim() === '') {
    throw invalid('SECRET.VALUE_INVALID', `The value of ${name} must be more than blanks.`, { field: name });
  }
  if (holds && !holds(value)) {
    throw invalid('SECRET.VALUE_INVALID', `The value of ${name} must be ${meaning}.`, { field: name });
  }
}

/** A keytab file begins with its version, 5.1 or 5.2. */
function isKeytab(text: string): boolean {
  const [major, minor] = bytesOfBase64(text) ?? [];
  return major === 5 && (minor === 1 || minor === 2);
}
