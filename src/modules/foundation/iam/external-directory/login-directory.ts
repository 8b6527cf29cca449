import { Injectable } from '@nestjs/common';
import {
  type DirectoryGroupWithMembers,
  DirectoryRefusalError,
  DirectoryUnavailableError,
  type DirectoryUser,
} from '../../../../../libs/directories/directory';
import { LdapDirectory } from '../../../../../libs/directories/ldap-directory';
import { type BrowserLogin, OidcProvider } from '../../../../../libs/directories/oidc-provider';
import { Config } from '../../../../config/config';
import { DomainError, type ErrorKind } from '../../../../platform/kernel/errors/domain-error';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

const RETRY_AFTER_SECONDS = 10;

/** Logins that talk to the server or provider at once, each over a connection for up to its time limit. */
const LOGINS = { code: 'AUTH.BUSY', atOnce: 16, waiting: 64, waitingOfOne: 32, patienceMs: 5_000 };

/** Administrators' requests, of which one may take a minute: they leave the logins their room. */
const LOOKUPS = { code: 'AUTH.BUSY', atOnce: 4, waiting: 16, waitingOfOne: 8, patienceMs: 10_000 };

/**
 * The configured LDAP server or OpenID Connect provider. Every method throws 503 `AUTH.DIRECTORY_UNAVAILABLE`, which
 * names the server, when it does not answer as it should, and 503 `AUTH.BUSY` when too many ask it at once. The first
 * argument says who asks, as in {@link FairBulkhead.run}.
 */
@Injectable()
export class LoginDirectory {
  private readonly ldap: LdapDirectory | null;
  private readonly oidc: OidcProvider | null;
  private readonly logins = new FairBulkhead(LOGINS);
  private readonly lookups = new FairBulkhead(LOOKUPS);

  constructor({ auth }: Config) {
    this.ldap = auth.ldap && new LdapDirectory(auth.ldap);
    this.oidc = auth.oidc && new OidcProvider(auth.oidc);
  }

  /** The person whom the password belongs to; null when it is wrong, or nobody has the name. */
  checkPassword(party: string, username: string, password: string): Promise<DirectoryUser | null> {
    const directory = this.ldap ?? this.provider();
    return this.logins.run(party, () =>
      translated('unauthenticated', () => directory.authenticate(username, password)),
    );
  }

  /** The provider's page to log in at, and what the login's return has to be checked against. */
  beginBrowserLogin(party: string): Promise<{ url: string; login: BrowserLogin }> {
    return this.logins.run(party, () => translated('unauthenticated', () => this.provider().begin()));
  }

  /** The person whom the provider names; throws 401 when its answer does not admit anybody. */
  completeBrowserLogin(party: string, query: URLSearchParams, login: BrowserLogin): Promise<DirectoryUser> {
    return this.logins.run(party, () => translated('unauthenticated', () => this.provider().complete(query, login)));
  }

  /** Of LDAP only: a provider tells of nobody who is not logging in. */
  findUser(party: string, username: string): Promise<DirectoryUser | null> {
    return this.lookups.run(party, () => translated('conflict', () => this.server().findUser(username)));
  }

  /** Of LDAP only. */
  findGroup(party: string, name: string): Promise<DirectoryGroupWithMembers | null> {
    return this.lookups.run(party, () => translated('conflict', () => this.server().findGroup(name)));
  }

  private server(): LdapDirectory {
    if (!this.ldap) throw new Error('No LDAP server is configured');
    return this.ldap;
  }

  private provider(): OidcProvider {
    if (!this.oidc) throw new Error('No login provider is configured');
    return this.oidc;
  }
}

async function translated<T>(refusal: ErrorKind, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DirectoryRefusalError) {
      throw new DomainError(refusal, 'AUTH.DIRECTORY_REFUSED', error.message, {}, { cause: error });
    }
    if (!(error instanceof DirectoryUnavailableError)) throw error;
    throw new DomainError(
      'unavailable',
      'AUTH.DIRECTORY_UNAVAILABLE',
      `The ${error.message}. Try again later; local accounts can log in meanwhile.`,
      { server: error.server, retry_after_seconds: RETRY_AFTER_SECONDS },
      { cause: error },
    );
  }
}
