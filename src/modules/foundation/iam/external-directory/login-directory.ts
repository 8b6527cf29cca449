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

/** Bounds logins that use the server or provider. Each holds a connection, up to the connection's time limit. */
const LOGIN_LIMITS = {
  code: 'AUTH.BUSY',
  maxConcurrent: 16,
  maxQueued: 64,
  maxQueuedPerParty: 32,
  queueTimeoutMs: 5_000,
};

/** Separate from logins, because an administrator's lookup may take a minute. */
const LOOKUP_LIMITS = {
  code: 'AUTH.BUSY',
  maxConcurrent: 4,
  maxQueued: 16,
  maxQueuedPerParty: 8,
  queueTimeoutMs: 10_000,
};

/**
 * The configured LDAP server or OpenID Connect provider. Every method throws 503 `AUTH.DIRECTORY_UNAVAILABLE` with the
 * server's name if the server fails, and 503 `AUTH.BUSY` if too many requests use it. `party` is the requester, as in
 * {@link FairBulkhead.run}.
 */
@Injectable()
export class LoginDirectory {
  private readonly ldap: LdapDirectory | null;
  private readonly oidc: OidcProvider | null;
  private readonly logins = new FairBulkhead(LOGIN_LIMITS);
  private readonly lookups = new FairBulkhead(LOOKUP_LIMITS);

  constructor({ auth }: Config) {
    this.ldap = auth.ldap && new LdapDirectory(auth.ldap);
    this.oidc = auth.oidc && new OidcProvider(auth.oidc);
  }

  /** Returns the user, or null if the password is wrong or there is no such user. */
  checkPassword(party: string, username: string, password: string): Promise<DirectoryUser | null> {
    const directory = this.ldap ?? this.provider();
    return this.logins.run(party, () =>
      translated('unauthenticated', () => directory.authenticate(username, password)),
    );
  }

  /** Returns the URL of the provider's login page, and the values that its callback is verified against. */
  beginBrowserLogin(party: string): Promise<{ url: string; login: BrowserLogin }> {
    return this.logins.run(party, () => translated('unauthenticated', () => this.provider().begin()));
  }

  /** Returns the user whom the provider authenticated. Throws 401 if it refuses or its response is invalid. */
  completeBrowserLogin(party: string, query: URLSearchParams, login: BrowserLogin): Promise<DirectoryUser> {
    return this.logins.run(party, () => translated('unauthenticated', () => this.provider().complete(query, login)));
  }

  /** LDAP only: an OpenID Connect provider describes users only when they log in. */
  findUser(party: string, username: string): Promise<DirectoryUser | null> {
    return this.lookups.run(party, () => translated('conflict', () => this.server().findUser(username)));
  }

  /** LDAP only, see {@link findUser}. */
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
