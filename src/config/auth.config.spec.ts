import { FilterParser } from 'ldapts';
import { type AuthConfig, readAuthConfig } from './auth.config';
import { ConfigurationError, EnvReader } from './env-reader';

const KEYS = { AUTH_JWT_KEYS: `first:${Buffer.alloc(32).toString('base64')}` };
const LDAP = { LDAP_URL: 'ldaps://ldap.example.org', LDAP_USER_BASE_DN: 'ou=people,dc=example,dc=org' };
const OIDC = { OIDC_ISSUER: 'https://login.example.org/tenant/v2.0', OIDC_CLIENT_ID: 'platform' };
const REDIRECT = { OIDC_REDIRECT_URL: 'https://platform.example.org/api/v1/login/sso/callback' };

function configOf(environment: Record<string, string>): AuthConfig {
  const env = new EnvReader({ ...KEYS, ...environment });
  const config = readAuthConfig(env);
  env.assertValid();
  return config;
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    configOf(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('readAuthConfig', () => {
  it.each([
    [{}, 'LDAP', 'local'],
    [{ AUTH_TYPE: 'LOCAL' }, 'LOCAL', 'local'],
    [LDAP, 'LDAP', 'ldap'],
    [{ AUTH_TYPE: 'AAD', ...OIDC }, 'AAD', 'oidc'],
    [{ AUTH_TYPE: 'AZURE_SSO', ...OIDC, ...REDIRECT }, 'AZURE_SSO', 'oidc'],
  ])('%j announces %s and asks the directory %s', (environment, announcedType, directory) => {
    const config = configOf(environment);
    expect(config).toMatchObject({ announcedType, directory });
    expect([config.ldap !== null, config.oidc !== null]).toEqual([directory === 'ldap', directory === 'oidc']);
  });

  it.each([
    ['plain LDAP over a network', { ...LDAP, LDAP_URL: 'ldap://ldap.example.org' }, 'LDAP_URL would send passwords'],
    ['StartTLS over TLS', { ...LDAP, LDAP_START_TLS: 'true' }, 'LDAP_START_TLS may be set only with ldap://'],
    [
      'another scheme',
      { ...LDAP, LDAP_URL: 'http://ldap.example.org' },
      'LDAP_URL must be a URL starting with ldap://',
    ],
    ['no place of users', { LDAP_URL: LDAP.LDAP_URL }, 'LDAP_USER_BASE_DN is required'],
    ['a searching account without a password', { ...LDAP, LDAP_BIND_DN: 'cn=a' }, 'LDAP_BIND_PASSWORD is required'],
    ['a file of authorities that is not there', { ...LDAP, LDAP_CA_FILE: '/nowhere' }, 'LDAP_CA_FILE names a file'],
    ['a filter without a name', { ...LDAP, LDAP_USER_FILTER: '(uid=jane)' }, 'LDAP_USER_FILTER must be a filter'],
    ['a filter without brackets', { ...LDAP, LDAP_USER_FILTER: 'uid={username}' }, 'LDAP_USER_FILTER must be a filter'],
    ['LDAP beside another type', { ...LDAP, AUTH_TYPE: 'LOCAL' }, 'LDAP_URL may be set only with AUTH_TYPE=LDAP'],
    ['a provider without an issuer', { AUTH_TYPE: 'AAD', OIDC_CLIENT_ID: 'a' }, 'OIDC_ISSUER is required'],
    ['a provider without a client', { AUTH_TYPE: 'AAD', OIDC_ISSUER: OIDC.OIDC_ISSUER }, 'OIDC_CLIENT_ID is required'],
    ['a page without a way back', { AUTH_TYPE: 'AZURE_SSO', ...OIDC }, 'OIDC_REDIRECT_URL is required'],
    ['no ID tokens', { AUTH_TYPE: 'AAD', ...OIDC, OIDC_SCOPES: 'profile' }, 'OIDC_SCOPES must name openid'],
    [
      'plain HTTP',
      { AUTH_TYPE: 'AAD', ...OIDC, OIDC_ISSUER: 'http://login.example.org', OIDC_ALLOW_HTTP: 'true' },
      'OIDC_ISSUER must start with https://',
    ],
    ['plain HTTP unasked', { AUTH_TYPE: 'AAD', ...OIDC, OIDC_ISSUER: 'http://127.0.0.1' }, 'OIDC_ISSUER must start'],
  ])('refuses %s', (_what, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['StartTLS', { LDAP_URL: 'ldap://ldap.example.org', LDAP_START_TLS: 'true' }],
    ['this machine', { LDAP_URL: 'ldap://127.0.0.1:1389' }],
    ['an operator who allows it', { LDAP_URL: 'ldap://ldap.example.org', LDAP_ALLOW_PLAIN: 'true' }],
  ])('takes ldap:// for %s', (_why, environment) => {
    expect(problemsOf({ ...LDAP, ...environment })).toEqual([]);
  });

  it.each(['OPENLDAP', 'ACTIVE_DIRECTORY'])('has filters for %s that can be read', (type) => {
    const { ldap } = configOf({ ...LDAP, LDAP_SERVER_TYPE: type });
    for (const filter of [ldap?.userFilter, ldap?.groupFilter]) {
      const text = (filter ?? '').replaceAll('{username}', 'jane').replaceAll('{dn}', 'cn=jane');
      expect(FilterParser.parseString(text).toString()).toBe(text);
    }
  });
});
