import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ServerProcess } from './server-process';

export interface OidcPerson {
  password: string;
  claims: Record<string, unknown> & { sub: string };
}

/** The faults of the provider's next responses. */
export interface Fault {
  /** Replaces claims of ID tokens. */
  claims?: Record<string, unknown>;
  /** True if a key that is not the provider's signs ID tokens. */
  foreignKey?: boolean;
  /** True if the provider returns no tokens at all. */
  away?: boolean;
}

const CLIENT_ID = 'platform';

/** Nothing listens at this address: tests only read the redirect. */
const REDIRECT_URL = 'http://127.0.0.1:8080/api/v1/login/sso/callback';

/** A real OpenID Connect provider on a free port of this machine. */
export class OidcServer {
  private constructor(
    readonly issuer: string,
    private readonly clientSecret: string,
    private readonly process: ServerProcess,
  ) {}

  static async start(people: Record<string, OidcPerson>, claimsInIdToken = false): Promise<OidcServer> {
    const clientSecret = randomBytes(24).toString('hex');
    const settings = { clientId: CLIENT_ID, clientSecret, redirectUrl: REDIRECT_URL, people, claimsInIdToken };
    const script = join(__dirname, '..', 'servers', 'oidc-provider.mjs');
    const args = ['--no-warnings', script, JSON.stringify(settings)];
    const { process, firstMatch: told } = await ServerProcess.start(globalThis.process.execPath, args, /^(http:\S+)$/);
    return new OidcServer(told, clientSecret, process);
  }

  /** Variables with which an API uses this provider. */
  environment(authType: 'AAD' | 'AZURE_SSO'): Record<string, string> {
    return {
      AUTH_TYPE: authType,
      OIDC_ISSUER: this.issuer,
      OIDC_ALLOW_HTTP: 'true',
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: this.clientSecret,
      OIDC_REDIRECT_URL: REDIRECT_URL,
      OIDC_TIMEOUT_MS: '60000',
    };
  }

  setPeople(people: Record<string, OidcPerson>): Promise<void> {
    return this.configure('people', people);
  }

  setFault(fault: Fault): Promise<void> {
    return this.configure('fault', fault);
  }

  /** Logs in as a browser does and returns the query string of the redirect back to the API. */
  async browse(loginUrl: string, username: string, password: string): Promise<string> {
    const cookies = new Map<string, string>();
    const body = new URLSearchParams({ username, password });
    let response = await this.visit(loginUrl, cookies);
    for (let step = 0; step < 10; step += 1) {
      const location = response.headers.get('location');
      if (location?.startsWith(REDIRECT_URL)) return new URL(location).search;
      if (location !== null) {
        const next = new URL(location, this.issuer).href;
        response = await this.visit(next, cookies);
        if (response.status === 200) response = await this.visit(next, cookies, body);
      } else throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
    }
    throw new Error('The provider sends the browser round in circles');
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  halt(): Promise<void> {
    return this.process.halt();
  }

  resume(): void {
    this.process.resume();
  }

  private async visit(url: string, cookies: Map<string, string>, form?: URLSearchParams): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: form } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  }

  private async configure(what: string, value: unknown): Promise<void> {
    const response = await fetch(`${this.issuer}/test/${what}`, { method: 'POST', body: JSON.stringify(value) });
    if (!response.ok) throw new Error(`The provider answered ${response.status}`);
  }
}
