import type { EnvReader } from './env-reader';

/**
 * An OpenID Connect provider and which of its claims are what, as `libs/directories` explains.
 * @param needsBrowser whether users log in at the provider's own page
 */
export function readOidcConfig(env: EnvReader, needsBrowser: boolean) {
  const allowHttp = env.boolean('OIDC_ALLOW_HTTP', false);
  const issuer = env.url('OIDC_ISSUER', ['https:', 'http:']);
  if (issuer.startsWith('http:') && !(allowHttp && env.isLoopback(issuer))) {
    env.problem('OIDC_ISSUER', 'must start with https://; OIDC_ALLOW_HTTP admits http:// for loopback addresses');
  }
  const scopes = env.string('OIDC_SCOPES', { default: 'openid profile email' });
  if (!scopes.split(/\s+/).includes('openid')) env.problem('OIDC_SCOPES', 'must name openid');
  return {
    issuer,
    clientId: env.string('OIDC_CLIENT_ID'),
    clientSecret: env.optional('OIDC_CLIENT_SECRET'),
    redirectUrl: needsBrowser ? env.url('OIDC_REDIRECT_URL', ['https:', 'http:']) : env.optional('OIDC_REDIRECT_URL'),
    scopes,
    subjectClaim: env.string('OIDC_SUBJECT_CLAIM', { default: 'sub' }),
    usernameClaim: env.string('OIDC_USERNAME_CLAIM', { default: 'preferred_username' }),
    emailClaim: env.string('OIDC_EMAIL_CLAIM', { default: 'email' }),
    displayNameClaim: env.string('OIDC_DISPLAY_NAME_CLAIM', { default: 'name' }),
    groupsClaim: env.string('OIDC_GROUPS_CLAIM', { default: 'groups' }),
    allowHttp,
    timeoutMs: env.integer('OIDC_TIMEOUT_MS', { default: 10_000, min: 100, max: 60_000 }),
  };
}

export type OidcConfig = ReturnType<typeof readOidcConfig>;
