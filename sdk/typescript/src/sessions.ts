import { ConfigurationError } from './errors.ts';
import { listMyTenants, login, selectTenant } from './generated/operations.ts';
import type { Session, Transport } from './transport.ts';

/** A token is renewed this long before it expires, so that none expires on its way to the platform. */
const RENEWAL_MARGIN_MS = 60_000;
/** Default lifetime of a token. Its `expires_at` is a time of the server's clock, which may differ from this one. */
const TOKEN_MS = 48 * 3_600_000;

/** Returns the token. The error of fetch would show one that a header cannot hold. @throws ConfigurationError */
export function checkedToken(token: string, source?: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigurationError(
      `The token${source === undefined ? '' : ` of ${source}`} is invalid: it contains a space, a line break or another character ` +
        'that tokens never have. Copy it again, or run `msp login`.',
    );
  }
  return token;
}

/** A personal token, or one that is renewed elsewhere. */
export class TokenSession implements Session {
  readonly #token: string;

  constructor(token: string) {
    this.#token = checkedToken(token);
  }

  authorize(headers: Headers): void {
    headers.set('Authorization', `Bearer ${this.#token}`);
  }

  token(): Promise<string> {
    return Promise.resolve(this.#token);
  }
}

/** The session of a browser, in a cookie that scripts cannot read. */
export class CookieSession implements Session {
  readonly credentials = 'same-origin';
}

export interface Login {
  username: string;
  password: string;
  /** Id or name; needed if the user belongs to several tenants. */
  tenant?: string | undefined;
}

/** Logs in with a password, and again before the token expires or when the session has ended early. */
export class PasswordSession implements Session {
  readonly #login: Login;
  #current: { token: Promise<string>; renewAt: number } | undefined;

  constructor(given: Login) {
    this.#login = given;
  }

  async authorize(headers: Headers, transport: Transport): Promise<void> {
    headers.set('Authorization', `Bearer ${await this.token(transport)}`);
  }

  /** The session may have ended because the password was changed elsewhere. */
  renew(): boolean {
    this.#current = undefined;
    return true;
  }

  /** Requests that need a token at the same time share one login. */
  async token(transport: Transport): Promise<string> {
    if (!this.#current || performance.now() >= this.#current.renewAt) {
      const begun = { token: this.#logIn(transport), renewAt: performance.now() + TOKEN_MS - RENEWAL_MARGIN_MS };
      begun.token.catch(() => {
        if (this.#current === begun) this.#current = undefined;
      });
      this.#current = begun;
    }
    return this.#current.token;
  }

  async #logIn(transport: Transport): Promise<string> {
    const { username, password, tenant } = this.#login;
    const { token } = await transport.call(login, { body: { username, password }, session: {} });
    if (!token) throw new ConfigurationError(`${transport.url} does not accept passwords. Use a personal token.`);
    const session = new TokenSession(token);
    if (tenant !== undefined) {
      const tenant_id = await tenantId(transport, session, tenant);
      await transport.call(selectTenant, { path: { tenant_id }, session });
    }
    return token;
  }
}

async function tenantId(transport: Transport, session: Session, tenant: string): Promise<string> {
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(tenant)) return tenant;
  for await (const { tenant_id, name } of transport.pages(listMyTenants, { session })) {
    if (name === tenant) return tenant_id;
  }
  throw new ConfigurationError(`You do not belong to a tenant named ${tenant}.`);
}
