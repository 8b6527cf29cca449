import type { EnvReader } from './env-reader';
import { type LdapConfig, readLdapConfig } from './ldap.config';
import { type OidcConfig, readOidcConfig } from './oidc.config';

const AUTH_TYPES = ['LDAP', 'LOCAL', 'AAD', 'AZURE_SSO'] as const;

/** Login type announced to clients; existing ones send user name and password only to LDAP and AAD. */
export type AuthType = (typeof AUTH_TYPES)[number];

/** Where people's passwords are checked. Accounts of the built-in directory `local` can always log in. */
export type Directory = 'local' | 'ldap' | 'oidc';

export interface SigningKey {
  id: string;
  key: Buffer;
}

export interface AuthConfig {
  announcedType: AuthType;
  directory: Directory;
  /** Set with the directory `ldap`. */
  ldap: LdapConfig;
  /** Set with the directory `oidc`. */
  oidc: OidcConfig | null;
  /** The first signs, all verify: keys rotate without logging anybody out. */
  signingKeys: SigningKey[];
  bootstrapTenant: string;
  bootstrapUsername: string;
  /** Null lets the first start generate a password and print it once. */
  bootstrapPassword: string | null;
  /** Failed logins from one address within the window before 429; a user name that fails so often from anywhere is slowed down. */
  loginAttempts: number;
  loginWindowSeconds: number;
  /** How long an API pod may use a session it has read before it reads it again, milliseconds. */
  sessionCacheMs: number;
}

export function readAuthConfig(env: EnvReader): AuthConfig {
  const announcedType = env.oneOf('AUTH_TYPE', AUTH_TYPES, 'LDAP');
  const ldap = readLdapConfig(env);
  if (ldap && announcedType !== 'LDAP') env.problem('LDAP_URL', 'may be set only with AUTH_TYPE=LDAP');
  const oidc =
    announcedType === 'AAD' || announcedType === 'AZURE_SSO'
      ? readOidcConfig(env, announcedType === 'AZURE_SSO')
      : null;
  return {
    announcedType,
    directory: ldap ? 'ldap' : oidc ? 'oidc' : 'local',
    ldap,
    oidc,
    signingKeys: env.keyRing('AUTH_JWT_KEYS', 32),
    bootstrapTenant: env.string('BOOTSTRAP_TENANT', { default: 'default' }),
    bootstrapUsername: env.string('BOOTSTRAP_ADMIN_USERNAME', { default: 'admin' }),
    bootstrapPassword: env.optional('BOOTSTRAP_ADMIN_PASSWORD'),
    loginAttempts: env.integer('LOGIN_ATTEMPTS', { default: 10, min: 1 }),
    loginWindowSeconds: env.integer('LOGIN_WINDOW_SECONDS', { default: 300, min: 1 }),
    sessionCacheMs: env.integer('SESSION_CACHE_MS', { default: 1000, min: 0, max: 1000 }),
  };
}
