import { Injectable } from '@nestjs/common';
import type { DirectoryUser } from '../../../../../libs/directories/directory';
import { Config } from '../../../../config/config';
import { auditActor } from '../../../../platform/http/audit/audited-request';
import { basicCredentials, type NameAndPassword } from '../../../../platform/http/auth/presented-token';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { invalid, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import type { Message } from '../../../../platform/kernel/dto/answers';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ExternalAccounts } from '../external-directory/external-accounts';
import { LoginDirectory } from '../external-directory/login-directory';
import { parseDuration } from '../sessions/duration';
import { SessionChanges } from '../sessions/session-changes';
import { SessionsRepository } from '../sessions/sessions.repository';
import type { User } from '../entities/user.entity';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import { passwordMatches } from '../users-and-groups/passwords';
import type { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { LoginLimiter } from './login-limiter';
import { type Admitted, type LoginOrigin, LoginSessions, type OpenedSession } from './login-sessions';
import { SsoLoginService } from './sso-login.service';

const WRONG = 'User name or password is wrong, or the account is disabled.';

/** Opens and ends sessions. */
@Injectable()
export class LoginService {
  constructor(
    private readonly config: Config,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly changes: SessionChanges,
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
    return this.changes.run(principal.sessionId, async (tx) => {
      await this.sessions.end(tx, principal.sessionId);
      return { message: `User ${principal.username} is logged out.` };
    });
  }

  /** Local accounts get in by their password here, too: somebody has to when the provider is down. */
  private async loginOrBeginSso(
    credentials: NameAndPassword | null,
    timeout: string,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    const opened =
      credentials &&
      (await this.openSession(credentials, () => this.proveHere(credentials, origin), parseDuration(timeout), origin));
    return opened ?? this.sso.begin(timeout, origin);
  }

  private async loginByPassword(
    credentials: NameAndPassword,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    const opened = await this.openSession(credentials, () => this.prove(credentials, origin), durationMs, origin);
    if (!opened) throw unauthenticated(WRONG);
    return opened;
  }

  /** Whose password was given, here or in the outside directory; null when it was nobody's. */
  private async prove(credentials: NameAndPassword, origin: LoginOrigin): Promise<User | DirectoryUser | null> {
    const { username, password } = credentials;
    const { known, proven } = await this.checkHere(credentials, origin);
    const elsewhere = this.config.auth.directory !== 'local' && known?.directory !== 'local';
    const person = elsewhere ? await this.loginDirectory.checkPassword(origin.network, username, password) : null;
    return proven ?? person;
  }

  private async proveHere(credentials: NameAndPassword, origin: LoginOrigin): Promise<User | null> {
    const { proven } = await this.checkHere(credentials, origin);
    return proven;
  }

  /**
   * The account of the name, and whether it is an enabled one of the built-in directory whose password this is. Always
   * costs a check of a password: neither an unknown user nor one of another directory can be told from a wrong password
   * by the time.
   */
  private async checkHere(
    { username, password }: NameAndPassword,
    { network }: LoginOrigin,
  ): Promise<{ known: User | null; proven: User | null }> {
    let known: User | null = null;
    const readHash = async () => {
      const user = (known = await this.directory.userByName(username));
      return user?.directory === 'local' ? user.password_hash : null;
    };
    const matches = await passwordMatches(readHash, password, network);
    return { known, proven: matches ? enabled(known) : null };
  }

  private openSession<P extends User | DirectoryUser>(
    { username }: NameAndPassword,
    prove: () => Promise<P | null>,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<OpenedSession | null> {
    const open = (proven: P) => this.logins.open((tx) => this.admit(tx, proven), durationMs, origin);
    return this.limiter.attempt({ username, network: origin.network }, prove, open);
  }

  private async admit(tx: Tx, proven: User | DirectoryUser): Promise<Admitted | null> {
    if (!('user_id' in proven)) return this.accounts.admit(tx, proven);
    await this.sessions.assertUnchanged(tx, proven);
    return proven;
  }
}

function enabled(user: User | null): User | null {
  return user && !(user.to_date instanceof Date) ? user : null;
}

/** Of the body, or of HTTP Basic; null when either is missing. */
function credentialsOf(request: LoginRequest, authorization: string | null): NameAndPassword | null {
  const { username, password } = request;
  if (username !== undefined && password !== undefined) return { username, password };
  const credentials = basicCredentials(authorization);
  return credentials?.username && credentials.password ? credentials : null;
}
