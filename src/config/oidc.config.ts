import type { EnvReader } from './env-reader';

/**
 * Reads an OpenID Connect provider and the meaning of its claims, as `libs/directories` explains them.
 * @param needsBrowser true if users log in at the provider's own page
 */
export function readOidcConfig(reader: EnvReader, needsBrowser: boolean) {
  const env = reader.section(
    'OpenID Connect provider',
    'These variables apply to `AUTH_TYPE=AAD` and `AUTH_TYPE=AZURE_SSO`; ' +
      '[where people log in](operations/login.md#where-people-log-in) says how to set them up.',
  );
  const issuer = env.url('OIDC_ISSUER', ['https:', 'http:'], {
    requiredIf: '`AUTH_TYPE` is `AAD` or `AZURE_SSO`',
    example: 'https://login.microsoftonline.com/<tenant id>/v2.0',
    readBy: ['API'],
    description: 'URL of the provider.',
  });
  const clientId = env.string('OIDC_CLIENT_ID', {
    requiredIf: '`AUTH_TYPE` is `AAD` or `AZURE_SSO`',
    readBy: ['API'],
    description: 'Id of this platform at the provider.',
  });
  const clientSecret = env.optional('OIDC_CLIENT_SECRET', {
    defaultText: 'the platform is a public client',
    readBy: ['API'],
    description: 'Secret of this platform at the provider.',
  });
  const redirectUrl = {
    requiredIf: '`AUTH_TYPE` is `AZURE_SSO`',
    example: 'https://platform.example.org/api/v1/login/sso/callback',
    readBy: ['API'],
    description:
      'URL to which the provider sends browsers back: the address of the API with `/api/v1/login/sso/callback`.',
  } as const;
  const scopes = env.string('OIDC_SCOPES', {
    default: 'openid profile email',
    allowed: 'scopes with blanks between them, among them `openid`',
    readBy: ['API'],
    description: 'Scopes that a login asks for.',
  });
  const allowHttp = env.boolean('OIDC_ALLOW_HTTP', {
    default: false,
    readBy: ['API'],
    description: 'Whether the URL of a provider at a loopback address may start with `http://`.',
  });
  if (issuer.startsWith('http:') && !(allowHttp && env.isLoopback(issuer))) {
    env.problem('OIDC_ISSUER', 'must start with https://; OIDC_ALLOW_HTTP admits http:// for loopback addresses');
  }
  if (!scopes.split(/\s+/).includes('openid')) env.problem('OIDC_SCOPES', 'must name openid');
  return {
    issuer,
    clientId,
    clientSecret,
    redirectUrl: needsBrowser
      ? env.url('OIDC_REDIRECT_URL', ['https:', 'http:'], redirectUrl)
      : env.optional('OIDC_REDIRECT_URL', redirectUrl),
    scopes,
    subjectClaim: env.string('OIDC_SUBJECT_CLAIM', {
      default: 'sub',
      allowed: 'claim',
      readBy: ['API'],
      description: 'Claim with an id that stays the same when the person is renamed.',
    }),
    usernameClaim: env.string('OIDC_USERNAME_CLAIM', {
      default: 'preferred_username',
      allowed: 'claim',
      readBy: ['API'],
      description: 'Claim that becomes the user name on this platform.',
    }),
    emailClaim: env.string('OIDC_EMAIL_CLAIM', {
      default: 'email',
      allowed: 'claim',
      readBy: ['API'],
      description: "Claim with the user's e-mail address.",
    }),
    displayNameClaim: env.string('OIDC_DISPLAY_NAME_CLAIM', {
      default: 'name',
      allowed: 'claim',
      readBy: ['API'],
      description: "Claim with the user's full name.",
    }),
    groupsClaim: env.string('OIDC_GROUPS_CLAIM', {
      default: 'groups',
      allowed: 'claim',
      readBy: ['API'],
      description: "Claim with the user's groups.",
    }),
    allowHttp,
    timeoutMs: env.integer('OIDC_TIMEOUT_MS', {
      default: 10_000,
      min: 100,
      max: 60_000,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Longest time that one request to the provider may take.',
    }),
  };
}

export type OidcConfig = ReturnType<typeof readOidcConfig>;
