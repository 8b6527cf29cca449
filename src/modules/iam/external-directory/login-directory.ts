import { Injectable } from '@nestjs/common';
import {
  type DirectoryGroupWithMembers,
  DirectoryRefusalError,
  DirectoryUnavailableError,
  type DirectoryUser,
} from '../../../../libs/directories/directory';
import { LdapDirectory } from '../../../../libs/directories/ldap-directory';
import { type BrowserLogin, OidcProvider } from '../../../../libs/directories/oidc-provider';
import { Config } from '../../../config/config';
import { DomainError, type ErrorKind } from '../../../platform/errors/domain-error';

const RETRY_AFTER_SECONDS = 10;

/**
 * The configured LDAP server or OpenID Connect provider. Every method throws 503 `AUTH.DIRECTORY_UNAVAILABLE`, which
 * names the server, when it does not answer as it should.
 */
@Injectable()
export class LoginDirectory {
  private readonly ldap: LdapDirectory | null;
  private readonly oidc: OidcProvider | null;

  constructor({ auth }: Config) {
    this.ldap = auth.ldap && new LdapDirectory(auth.ldap);
    this.oidc = auth.oidc && new OidcProvider(auth.oidc);
  }

  /** The person whom the password belongs to; null when it is wrong, or nobody has the name. */
  checkPassword(username: string, password: string): Promise<DirectoryUser | null> {
    const directory = this.ldap ?? this.provider();
    return translated('unauthenticated', () => directory.authenticate(username, password));
  }

  /** The provider's page to log in at, and what the login's return has to be checked against. */
  beginBrowserLogin(): Promise<{ url: string; login: BrowserLogin }> {
    return translated('unauthenticated', () => this.provider().begin());
  }

  /** The person whom the provider names; throws 401 when its answer does not admit anybody. */
  completeBrowserLogin(query: URLSearchParams, login: BrowserLogin): Promise<DirectoryUser> {
    return translated('unauthenticated', () => this.provider().complete(query, login));
  }

  /** Of LDAP only: a provider tells of nobody who is not logging in. */
  findUser(username: string): Promise<DirectoryUser | null> {
    return translated('conflict', () => this.server().findUser(username));
  }

  /** Of LDAP only. */
  findGroup(name: string): Promise<DirectoryGroupWithMembers | null> {
    return translated('conflict', () => this.server().findGroup(name));
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
