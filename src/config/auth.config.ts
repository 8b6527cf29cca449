import type { EnvReader } from './env-reader';
import { type LdapConfig, readLdapConfig } from './ldap.config';
import { type OidcConfig, readOidcConfig } from './oidc.config';

const AUTH_TYPES = ['LDAP', 'LOCAL', 'AAD', 'AZURE_SSO'] as const;

export type AuthType = (typeof AUTH_TYPES)[number];

/** The directory that checks passwords. Accounts of the built-in directory `local` can always log in. */
export type Directory = 'local' | 'ldap' | 'oidc';

export interface SigningKey {
  id: string;
  key: Buffer;
}

export interface AuthConfig {
  announcedType: AuthType;
  directory: Directory;
  /** Set if the directory is `ldap`. */
  ldap: LdapConfig;
  /** Set if the directory is `oidc`. */
  oidc: OidcConfig | null;
  /** The first key signs and all verify, so keys rotate without logging anybody out. */
  signingKeys: SigningKey[];
  bootstrapTenant: string;
  bootstrapUsername: string;
  bootstrapPassword: string | null;
  loginAttempts: number;
  loginWindowSeconds: number;
  sessionCacheMs: number;
}

export function readAuthConfig(reader: EnvReader): AuthConfig {
  const env = reader.section('Logins');
  const announcedType = env.oneOf('AUTH_TYPE', AUTH_TYPES, {
    default: 'LDAP',
    readBy: ['API'],
    description:
      'Login type that the API announces: `LDAP` checks passwords at `LDAP_URL`, or in the built-in directory if that is ' +
      'not set; `LOCAL` in the built-in directory; `AAD` at an OpenID Connect provider; `AZURE_SSO` sends users to the ' +
      "provider's page. Existing clients send name and password only to `LDAP` and `AAD`.",
  });
  const ldap = readLdapConfig(reader);
  if (ldap && announcedType !== 'LDAP') env.problem('LDAP_URL', 'may be set only with AUTH_TYPE=LDAP');
  const oidc =
    announcedType === 'AAD' || announcedType === 'AZURE_SSO'
      ? readOidcConfig(reader, announcedType === 'AZURE_SSO')
      : null;
  return {
    announcedType,
    directory: ldap ? 'ldap' : oidc ? 'oidc' : 'local',
    ldap,
    oidc,
    signingKeys: env.keyRing('AUTH_JWT_KEYS', 32, {
      allowed: '`id:base64,id:base64`, keys of at least 32 bytes (`openssl rand -base64 32`)',
      readBy: ['API'],
      description: 'Keys of access tokens: the first one signs, and all of them verify.',
    }),
    bootstrapTenant: env.string('BOOTSTRAP_TENANT', {
      default: 'default',
      readBy: ['API'],
      description: 'Tenant that the first start creates.',
    }),
    bootstrapUsername: env.string('BOOTSTRAP_ADMIN_USERNAME', {
      default: 'admin',
      readBy: ['API'],
      description: 'User name of the administrator that the first start creates.',
    }),
    bootstrapPassword: env.optional('BOOTSTRAP_ADMIN_PASSWORD', {
      defaultText: 'generated, and printed once on standard output',
      readBy: ['API'],
      description: 'First password of that administrator.',
    }),
    loginAttempts: env.integer('LOGIN_ATTEMPTS', {
      default: 10,
      min: 1,
      readBy: ['API'],
      description:
        'Number of failed logins from one address within `LOGIN_WINDOW_SECONDS` after which further ones get status 429. A ' +
        'user name that fails so often from anywhere is slowed down.',
    }),
    loginWindowSeconds: env.integer('LOGIN_WINDOW_SECONDS', {
      default: 300,
      min: 1,
      unit: 'seconds',
      readBy: ['API'],
      description: 'Time for which failed logins are counted.',
    }),
    sessionCacheMs: env.integer('SESSION_CACHE_MS', {
      default: 1000,
      min: 0,
      max: 1000,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Time for which an API process may use a session before it reads it from the database again.',
    }),
  };
}
