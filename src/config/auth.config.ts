import type { EnvReader } from './env-reader';

export interface SigningKey {
  id: string;
  key: Buffer;
}

export interface AuthConfig {
  /** Login type announced to clients; existing clients send user name and password only to LDAP and AAD. */
  announcedType: 'LDAP' | 'LOCAL';
  /** Where users and groups come from; only those of `local` are created and changed here. */
  directory: 'local' | 'ldap' | 'oidc';
  /** The first signs, all verify: keys rotate without logging anybody out. */
  signingKeys: SigningKey[];
  bootstrapTenant: string;
  bootstrapUsername: string;
  /** Null lets the first start make a password and print it once. */
  bootstrapPassword: string | null;
  /** Failed logins of one user name or address within the window before 429. */
  loginAttempts: number;
  loginWindowSeconds: number;
  /** How long an API pod may use a session it has read before it reads it again, milliseconds. */
  sessionCacheMs: number;
}

export function readAuthConfig(env: EnvReader): AuthConfig {
  return {
    announcedType: env.oneOf('AUTH_TYPE', ['LDAP', 'LOCAL'], 'LDAP'),
    directory: 'local',
    signingKeys: env.keyRing('AUTH_JWT_KEYS', 32),
    bootstrapTenant: env.string('BOOTSTRAP_TENANT', { default: 'default' }),
    bootstrapUsername: env.string('BOOTSTRAP_ADMIN_USERNAME', { default: 'admin' }),
    bootstrapPassword: env.optional('BOOTSTRAP_ADMIN_PASSWORD'),
    loginAttempts: env.integer('LOGIN_ATTEMPTS', { default: 10, min: 1 }),
    loginWindowSeconds: env.integer('LOGIN_WINDOW_SECONDS', { default: 300, min: 1 }),
    sessionCacheMs: env.integer('SESSION_CACHE_MS', { default: 1000, min: 0, max: 1000 }),
  };
}
