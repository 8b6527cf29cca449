import type { SecretType } from 'managed-spark/types';

interface SecretField {
  name: string;
  label: string;
  /** A password is not shown while it is typed; a text has several lines. */
  kind: 'line' | 'password' | 'text';
  isOptional?: boolean;
}

const line = (name: string, label: string): SecretField => ({ name, label, kind: 'line' });
const password = (name: string, label: string): SecretField => ({ name, label, kind: 'password' });

/** The values of each type of secret, as the API asks for them. */
export const SECRET_FIELDS: Readonly<Record<SecretType, readonly SecretField[]>> = {
  'ENVIRONMENT VARIABLE': [password('value', 'Value')],
  'AWS ACCESS SECRET KEY PAIR': [
    line('aws_access_key_id', 'Access key id'),
    password('aws_secret_access_key', 'Secret access key'),
    line('aws_default_region', 'Region'),
  ],
  'AZURE SERVICE PRINCIPAL': [
    line('tenant_id', 'Directory (tenant) id at Azure'),
    line('subscription_id', 'Subscription id'),
    line('client_id', 'Application (client) id'),
    password('client_secret', 'Client secret'),
  ],
  'GOOGLE SERVICE ACCOUNT': [
    line('type', 'type'),
    line('project_id', 'project_id'),
    line('private_key_id', 'private_key_id'),
    { name: 'private_key', label: 'private_key', kind: 'text' },
    line('client_email', 'client_email'),
    line('client_id', 'client_id'),
    line('auth_uri', 'auth_uri'),
    line('token_uri', 'token_uri'),
    line('auth_provider_x509_cert_url', 'auth_provider_x509_cert_url'),
    line('client_x509_cert_url', 'client_x509_cert_url'),
    line('access_key', 'HMAC access key'),
    password('secret_key', 'HMAC secret'),
    { ...line('universe_domain', 'universe_domain'), isOptional: true },
  ],
  'HIVE BASIC': [line('username', 'User name'), password('password', 'Password')],
  'HIVE KERBEROS': [line('principal', 'Principal'), password('keytab', 'Keytab as Base64')],
  'DATABRICKS UNITY TOKEN': [password('token', 'Token')],
};

export const SECRET_TYPES = Object.keys(SECRET_FIELDS) as SecretType[];
