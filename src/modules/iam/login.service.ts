import { Injectable } from '@nestjs/common';
import type { DirectoryUser } from '../../../libs/directories/directory';
import { Config } from '../../config/config';
import { auditActor } from '../../platform/audit/audited-request';
import type { Principal } from '../../platform/auth/principal';
import { invalid, unauthenticated } from '../../platform/errors/domain-error';
import type { Message } from '../../platform/http/answers';
import type { Tx } from '../../platform/persistence/sql';
import { Transactions } from '../../platform/persistence/transactions';
import { DirectoryRepository, type UserRow } from './directory.repository';
import type { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { parseDuration } from './duration';
import { ExternalAccounts } from './external-accounts';
import { LoginDirectory } from './login-directory';
import { LoginLimiter } from './login-limiter';
import { type Admitted, type LoginOrigin, LoginSessions } from './login-sessions';
import { passwordMatches } from './passwords';
import { SessionAuthenticator } from './session-authenticator';
import { SessionsRepository } from './sessions.repository';
import { SsoLoginService } from './sso-login.service';

const WRONG = 'User name or password is wrong, or the account is disabled.';

interface Credentials {
  username: string;
  password: string;
}

/** Opens and ends sessions. */
@Injectable()
export class LoginService {
  constructor(
    private readonly config: Config,
    private readonly transactions: Transactions,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly authenticator: SessionAuthenticator,
    private readonly limiter: LoginLimiter,
    private readonly loginDirectory: LoginDirectory,
    private readonly accounts: ExternalAccounts,
    private readonly logins: LoginSessions,
    private readonly sso: SsoLoginService,
  ) {}

  authType(): AuthTypeAnswer {
    return { auth_type: this.config.auth.announcedType };
  }

  async login(request: LoginRequest, origin: LoginOrigin): Promise<LoginResult> {
    const announced = this.config.auth.announcedType;
    if (request.auth_type !== undefined && request.auth_type !== announced) {
      throw invalid('AUTH.TYPE_MISMATCH', `The login type here is ${announced}, not ${request.auth_type}.`);
    }
    const duration = parseDuration(request.timeout);
    const credentials = credentialsOf(request, origin.authorization);
    auditActor({ username: credentials?.username ?? null });
    if (announced === 'AZURE_SSO') return this.loginOrBeginSso(credentials, request.timeout, origin);
    if (!credentials) {
      throw invalid('AUTH.CREDENTIALS_MISSING', 'username and password are required, in the body or as HTTP Basic.');
    }
    return this.loginByPassword(credentials, duration, origin);
  }

  async logout(principal: Principal): Promise<Message> {
    const answer = await this.transactions.run(async (tx) => {
      await this.sessions.end(tx, principal.sessionId);
      return { message: `User ${principal.username} is logged out.` };
    });
    this.authenticator.forget(principal.sessionId);
    return answer;
  }

  /** Local accounts get in by their password here, too: somebody has to when the provider is down. */
  private async loginOrBeginSso(
    credentials: Credentials | null,
    timeout: string,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    if (credentials) {
      await this.limiter.assertAllowed(credentials.username, origin.ip);
      const user = await this.localUser(credentials);
      if (user) return this.openSession(credentials, user, parseDuration(timeout), origin);
      await this.limiter.countFailure(credentials.username, origin.ip);
    }
    return this.sso.begin(timeout);
  }

  private async loginByPassword(
    credentials: Credentials,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    const { username, password } = credentials;
    await this.limiter.assertAllowed(username, origin.ip);
    const known = await this.directory.userByName(username);
    const local = await this.localUser(credentials, known);
    const elsewhere = this.config.auth.directory !== 'local' && known?.directory !== 'local';
    const person = elsewhere ? await this.loginDirectory.checkPassword(username, password) : null;
    return this.openSession(credentials, local ?? person, durationMs, origin);
  }

  /**
   * The enabled account of the built-in directory whose password this is. Always costs a check of a password: neither
   * an unknown user nor one of another directory can be told from a wrong password by the time.
   */
  private async localUser({ username, password }: Credentials, known?: UserRow | null): Promise<UserRow | null> {
    const user = known === undefined ? await this.directory.userByName(username) : known;
    const matches = await passwordMatches(user?.directory === 'local' ? user.password_hash : null, password);
    return user && matches && !(user.to_date instanceof Date) ? user : null;
  }

  /** @param proven whose password was given; null when it was nobody's, which counts as a failed login */
  private async openSession(
    { username }: Credentials,
    proven: UserRow | DirectoryUser | null,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    // Of many guesses at once only those that end before the limit is reached learn whether they were right.
    if (proven) await this.limiter.assertAllowed(username, origin.ip);
    const opened = proven && (await this.logins.open((tx) => this.admit(tx, proven), durationMs, origin));
    if (!opened) {
      await this.limiter.countFailure(username, origin.ip);
      throw unauthenticated(WRONG);
    }
    await this.limiter.clear(username);
    return opened;
  }

  private async admit(tx: Tx, proven: UserRow | DirectoryUser): Promise<Admitted | null> {
    if (!('user_id' in proven)) return this.accounts.admit(tx, proven);
    await this.sessions.assertUnchanged(tx, proven);
    return proven;
  }
}

/** Of the body, or of HTTP Basic; null when either is missing. */
function credentialsOf(request: LoginRequest, authorization: string | null): Credentials | null {
  const { username, password } = request;
  if (username !== undefined && password !== undefined) return { username, password };
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 1 || colon === decoded.length - 1) return null;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
