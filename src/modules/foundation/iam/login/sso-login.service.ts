import { Injectable } from '@nestjs/common';
import type { DirectoryUser } from '../../../../../libs/directories/directory';
import { Config } from '../../../../config/config';
import { DomainError, invalid, notFound, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { ExternalAccounts } from '../external-directory/external-accounts';
import { LoginDirectory } from '../external-directory/login-directory';
import { parseDuration } from '../sessions/duration';
import type { LoginResult } from './dto/login.dto';
import { LoginLimiter } from './login-limiter';
import { type LoginOrigin, LoginSessions } from './login-sessions';
import { type PendingSsoLogin, SsoLoginsRepository } from './sso-logins.repository';

const UNKNOWN_STATE = 'This login is unknown, has expired or was already completed. Log in again.';

/** Logs users in at the provider's page, in a browser. */
@Injectable()
export class SsoLoginService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly pending: SsoLoginsRepository,
    private readonly directory: LoginDirectory,
    private readonly accounts: ExternalAccounts,
    private readonly logins: LoginSessions,
    private readonly limiter: LoginLimiter,
  ) {}

  /** @param timeout duration of the session, for example `48h` */
  begin(timeout: string, { network }: LoginOrigin): Promise<LoginResult> {
    return this.limiter.start(network, async () => {
      const { url, login } = await this.directory.beginBrowserLogin(network);
      await this.transactions.run((tx) => this.pending.add(tx, { login, timeout }));
      return { loginURL: url };
    });
  }

  /**
   * Completes a pending login. It is deleted by the transaction that opens the session, or when the provider refuses
   * it. It stays if the provider is unavailable, so that the browser can repeat the request.
   * @param query of the provider's redirect
   */
  async complete(query: URLSearchParams, origin: LoginOrigin): Promise<LoginResult> {
    if (this.config.auth.announcedType !== 'AZURE_SSO') {
      throw notFound(
        'AUTH.NOT_SSO',
        'This server does not use single sign-on. Log in with user name and password: POST /login.',
      );
    }
    const state = query.get('state') ?? '';
    if (state === '' || (!query.get('code') && !query.get('error'))) {
      throw invalid(
        'AUTH.SSO_INCOMPLETE',
        'The query parameters state and code are required. The login provider adds them to its redirect.',
      );
    }
    const pending = await this.transactions.run((tx) => this.pending.claim(tx, state));
    if (!pending) throw unauthenticated(UNKNOWN_STATE);
    const person = await this.authenticate(origin.network, query, pending);
    const opened = await this.logins.open(
      async (tx) => {
        if (!(await this.pending.delete(tx, state))) throw unauthenticated(UNKNOWN_STATE);
        return this.accounts.admit(tx, person);
      },
      parseDuration(pending.timeout),
      origin,
    );
    if (!opened) throw unauthenticated('The account is disabled.');
    await this.limiter.complete(origin.network);
    return opened;
  }

  private async authenticate(
    network: string,
    query: URLSearchParams,
    { login }: PendingSsoLogin,
  ): Promise<DirectoryUser> {
    try {
      return await this.directory.completeBrowserLogin(network, query, login);
    } catch (error) {
      const refused = error instanceof DomainError && error.kind === 'unauthenticated';
      await this.transactions.run(async (tx) => {
        if (refused) await this.pending.delete(tx, login.state);
        else await this.pending.release(tx, login.state);
      });
      throw error;
    }
  }
}
