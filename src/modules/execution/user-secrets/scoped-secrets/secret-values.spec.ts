import { generateKeyPairSync } from 'node:crypto';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { SECRET_TYPE_ID, type SecretTypeName } from '../../../foundation/reference-data';
import { MAX_SECRET_BYTES, type SecretValues } from './dto/scoped-secret.dto';
import { valuesIn, requiredValues } from './secret-values';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keytab = (...bytes: number[]) => Buffer.from([...bytes, 0, 0]).toString('base64');

const VALUES: Record<SecretTypeName, SecretValues> = {
  'HIVE KERBEROS': { principal: 'hive/host@REALM', keytab: keytab(5, 2) },
  'HIVE BASIC': { username: 'hive', password: ' päss ' },
  'DATABRICKS UNITY TOKEN': { token: 'hush' },
  'ENVIRONMENT VARIABLE': { value: 'hush\nhush' },
  'AWS ACCESS SECRET KEY PAIR': { aws_access_key_id: 'id', aws_secret_access_key: 'hush', aws_default_region: 'eu' },
  'AZURE SERVICE PRINCIPAL': { tenant_id: 't', subscription_id: 's', client_id: 'c', client_secret: 'hush' },
  'GOOGLE SERVICE ACCOUNT': {
    type: 'service_account',
    project_id: 'p',
    private_key_id: 'k',
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    client_email: 'c@example.org',
    client_id: '1',
    auth_uri: 'https://a.example.org',
    token_uri: 'https://t.example.org',
    auth_provider_x509_cert_url: 'https://p.example.org',
    client_x509_cert_url: 'https://c.example.org',
    access_key: 'a',
    secret_key: 'hush',
  },
};
const TYPES = Object.keys(SECRET_TYPE_ID) as SecretTypeName[];

function errorOf(type: SecretTypeName, body: SecretValues): [string, string] {
  try {
    requiredValues(type, body);
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'invalid') {
      expect(error.message + JSON.stringify(error.details)).not.toContain('hush');
      return [error.code, error.message];
    }
    throw error;
  }
  throw new Error('was accepted');
}

describe('values of secrets', () => {
  it.each(TYPES)('of %s are accepted unchanged', (type) => {
    expect(requiredValues(type, VALUES[type])).toEqual(VALUES[type]);
    expect(valuesIn(type, VALUES[type])).toEqual(VALUES[type]);
  });

  it.each(TYPES)('of %s are required all together, and others are refused', (type) => {
    for (const name of Object.keys(VALUES[type])) {
      expect(errorOf(type, { ...VALUES[type], [name]: undefined })).toEqual([
        'SECRET.FIELD_MISSING',
        expect.stringContaining(name),
      ]);
      expect(errorOf(type, { ...VALUES[type], [name]: ' ' })[0]).toBe('SECRET.VALUE_INVALID');
    }
    const other = type === 'HIVE BASIC' ? 'token' : 'password';
    expect(errorOf(type, { ...VALUES[type], [other]: 'hush' })).toEqual([
      'SECRET.FIELD_UNKNOWN',
      expect.stringContaining(other),
    ]);
    expect(valuesIn(type, {})).toBeNull();
  });

  it('may include optional ones', () => {
    const more = { ...VALUES['GOOGLE SERVICE ACCOUNT'], universe_domain: 'googleapis.com' };
    expect(requiredValues('GOOGLE SERVICE ACCOUNT', more)).toEqual(more);
  });

  it.each([
    ['a keytab of another version', 'HIVE KERBEROS', { keytab: keytab(5, 3) }],
    ['a keytab of another kind', 'HIVE KERBEROS', { keytab: keytab(4, 2) }],
    ['a keytab in another base64', 'HIVE KERBEROS', { keytab: keytab(5, 2).replace(/.$/, '_') }],
    ['a cut keytab', 'HIVE KERBEROS', { keytab: Buffer.from([5]).toString('base64') }],
    ['an invalid private key', 'GOOGLE SERVICE ACCOUNT', { private_key: 'hush' }],
  ] as const)('refuse %s', (_what, type, change) => {
    expect(errorOf(type, { ...VALUES[type], ...change })).toEqual([
      'SECRET.VALUE_INVALID',
      expect.stringContaining(Object.keys(change).join()),
    ]);
  });

  it('accept keytabs of both versions', () => {
    for (const text of [keytab(5, 1), `${keytab(5, 2)}\n`]) {
      const values = { ...VALUES['HIVE KERBEROS'], keytab: text };
      expect(requiredValues('HIVE KERBEROS', values)).toEqual(values);
    }
  });

  it('have at most 64 KiB together, in bytes', () => {
    const half = 'ä'.repeat(MAX_SECRET_BYTES / 4);
    const fits = { username: half, password: half };
    expect(requiredValues('HIVE BASIC', fits)).toEqual(fits);
    expect(errorOf('HIVE BASIC', { ...fits, password: `${half}a` })[0]).toBe('SECRET.TOO_LARGE');
  });
});
