import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  genericGrantRequest,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import {
  type DirectoryGroup,
  DirectoryRefusalError,
  DirectoryUnavailableError,
  type DirectoryUser,
  usableText,
} from './directory';

/** The provider, the client that this platform is there, and the meaning of the claims. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Null for a public client. */
  clientSecret: string | null;
  /** Required for logins in a browser; null otherwise. */
  redirectUrl: string | null;
  scopes: string;
  /** Stable id of a person, which identifies an account when its names change. */
  subjectClaim: string;
  usernameClaim: string;
  emailClaim: string;
  displayNameClaim: string;
  groupsClaim: string;
  /** Admits plain HTTP, for a provider on this machine. */
  allowHttp: boolean;
  /** Timeout of one request, milliseconds. */
  timeoutMs: number;
}

/** The state of a browser login, which the caller keeps secret until the browser returns. */
export interface BrowserLogin {
  state: string;
  nonce: string;
  codeVerifier: string;
}

type Claims = Readonly<Record<string, unknown>>;
type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

const DISCOVERY_TTL_MS = 3_600_000;
const MAX_GROUPS = 1000;

/** Codes of a provider that returned no usable response; any other error is a response that must not be accepted. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
]);

/**
 * Logs people in at an OpenID Connect provider. ID tokens are checked for signature, issuer, audience, time and nonce.
 * Every method throws `DirectoryUnavailableError` if the provider does not answer or refuses this client, and
 * `DirectoryRefusalError` if it does not admit the person.
 */
export class OidcProvider {
  private readonly server: string;
  private discovered: { at: number; configuration: Promise<Configuration> } | null = null;

  constructor(private readonly settings: OidcSettings) {
    this.server = `login provider ${new URL(settings.issuer).host}`;
  }

  /** Begins a login in a browser. Returns the address to open and the state to check the redirect against. */
  async begin(): Promise<{ url: string; login: BrowserLogin }> {
    const login = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    const configuration = await this.configuration();
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.settings.redirectUrl ?? '',
      scope: this.settings.scopes,
      response_type: 'code',
      state: login.state,
      nonce: login.nonce,
      code_challenge: await calculatePKCECodeChallenge(login.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, login };
  }

  /** @param query the query of the redirect from the provider */
  async complete(query: URLSearchParams, login: BrowserLogin): Promise<DirectoryUser> {
    const configuration = await this.configuration();
    const returned = new URL(this.settings.redirectUrl ?? '');
    for (const [name, value] of query) returned.searchParams.append(name, value);
    return this.guarded(async () => {
      const tokens = await authorizationCodeGrant(configuration, returned, {
        expectedState: login.state,
        expectedNonce: login.nonce,
        pkceCodeVerifier: login.codeVerifier,
        idTokenExpected: true,
      });
      return this.userOf(configuration, tokens);
    });
  }

  /** Logs in by the resource owner password grant (RFC 6749, 4.3). Returns null if the password is wrong. */
  async authenticate(username: string, password: string): Promise<DirectoryUser | null> {
    const configuration = await this.configuration();
    return this.guarded(async () => {
      try {
        const parameters = { username, password, scope: this.settings.scopes };
        return await this.userOf(configuration, await genericGrantRequest(configuration, 'password', parameters));
      } catch (error) {
        if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return null;
        throw error;
      }
    });
  }

  private configuration(): Promise<Configuration> {
    if (this.discovered && Date.now() - this.discovered.at < DISCOVERY_TTL_MS) return this.discovered.configuration;
    const configuration = this.discover();
    const discovered = { at: Date.now(), configuration };
    this.discovered = discovered;
    configuration.catch(() => {
      if (this.discovered === discovered) this.discovered = null;
    });
    return configuration;
  }

  private async discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, allowHttp, timeoutMs } = this.settings;
    try {
      return await discovery(new URL(issuer), clientId, undefined, clientAuthentication(clientSecret), {
        timeout: timeoutMs / 1000,
        execute: [enableNonRepudiationChecks, ...(allowHttp ? [allowInsecureRequests] : [])],
      });
    } catch (error) {
      throw new DirectoryUnavailableError(this.server, reasonOf(error), { cause: error });
    }
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.translated(error);
    }
  }

  private translated(error: unknown): unknown {
    if (error instanceof DirectoryRefusalError) return error;
    if (error instanceof AuthorizationResponseError) {
      return new DirectoryRefusalError(`The ${this.server} did not admit you (${error.error}).`, { cause: error });
    }
    if (error instanceof ResponseBodyError && error.status < 500) {
      if (!isAboutClient(error.error)) {
        return new DirectoryRefusalError(`The ${this.server} refused the login (${error.error}).`, { cause: error });
      }
      const reason = `refuses this platform as a client (${error.error}): check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`;
      return new DirectoryUnavailableError(this.server, reason, { cause: error });
    }
    if (error instanceof ClientError && error.code !== undefined && !UNAVAILABLE_CODES.has(error.code)) {
      const message = `The response of the ${this.server} cannot be trusted: ${error.message}.`;
      return new DirectoryRefusalError(message, { cause: error });
    }
    return new DirectoryUnavailableError(this.server, reasonOf(error), { cause: error });
  }

  private async userOf(configuration: Configuration, tokens: Tokens): Promise<DirectoryUser> {
    const claims = await this.claimsOf(configuration, tokens);
    const { subjectClaim, usernameClaim, emailClaim, displayNameClaim } = this.settings;
    const externalId = usableText(claims[subjectClaim]);
    const username = usableText(claims[usernameClaim]);
    if (externalId === null || username === null) {
      const missing = externalId === null ? subjectClaim : usernameClaim;
      throw new DirectoryRefusalError(`The ${this.server} returns no usable claim ${missing}: check OIDC_SCOPES.`);
    }
    return {
      externalId,
      username,
      displayName: usableText(claims[displayNameClaim]),
      // An address that its owner has not confirmed may be somebody else's.
      email: claims['email_verified'] === false ? null : usableText(claims[emailClaim]),
      groups: this.groupsOf(claims),
    };
  }

  /** Returns the claims of the ID token, completed from the userinfo endpoint if the token lacks any that are needed. */
  private async claimsOf(configuration: Configuration, tokens: Tokens): Promise<Claims> {
    const claims = tokens.claims();
    if (!claims) throw new DirectoryRefusalError(`The ${this.server} returns no ID token: check OIDC_SCOPES.`);
    const { usernameClaim, emailClaim, groupsClaim } = this.settings;
    const complete = [usernameClaim, emailClaim, groupsClaim].every((name) => claims[name] !== undefined);
    if (complete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  }

  private groupsOf(claims: Claims): DirectoryGroup[] {
    const { groupsClaim } = this.settings;
    const distributed = claims['_claim_names'];
    const isOmitted =
      claims['hasgroups'] === true ||
      (typeof distributed === 'object' && distributed !== null && Object.hasOwn(distributed, groupsClaim));
    const value = claims[groupsClaim];
    const listed: unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    if (isOmitted || listed.length > MAX_GROUPS) {
      const remedy = 'Configure it to list only the groups assigned to this application.';
      throw new DirectoryRefusalError(`The ${this.server} lists too many groups for a token. ${remedy}`);
    }
    const names = new Set(listed.map(usableText).filter((name) => name !== null));
    return [...names].map((name) => ({ objectId: name, name, qualifiedName: name, mail: null, type: null }));
  }
}

/** Sends the secret in the body if the provider accepts that, else by HTTP Basic, the default of the standard. */
function clientAuthentication(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const [inBody, asBasic] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const authenticate = methods.includes('client_secret_post') ? inBody : asBasic;
    authenticate(server, client, body, headers);
  };
}

function isAboutClient(code: string): boolean {
  return ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'].includes(code);
}

function reasonOf(error: unknown): string {
  if (error instanceof WWWAuthenticateChallengeError) {
    return 'refuses this platform as a client: check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET';
  }
  if (error instanceof ResponseBodyError) return `fails (HTTP ${error.status})`;
  if (error instanceof ClientError && error.code !== undefined) {
    return error.code === 'OAUTH_TIMEOUT' ? 'does not answer in time' : `cannot be used: ${error.message}`;
  }
  return `cannot be reached (${systemCodeOf(error) ?? 'no connection'})`;
}

/** Returns the operating system's code, such as ECONNREFUSED, from the error or any of its causes. */
function systemCodeOf(error: unknown): string | null {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined || cause === null ? null : systemCodeOf(cause);
}
