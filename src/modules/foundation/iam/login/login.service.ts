import { Injectable } from '@nestjs/common';
import type { DirectoryUser } from '../../../../../libs/directories/directory';
import { Config } from '../../../../config/config';
import { setAuditActor } from '../../../../platform/http/audit/audited-request';
import { basicCredentials, type NameAndPassword } from '../../../../platform/http/auth/presented-token';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { invalid, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import type { Message } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ExternalAccounts } from '../external-directory/external-accounts';
import { LoginDirectory } from '../external-directory/login-directory';
import { parseDuration } from '../sessions/duration';
import { SessionChanges } from '../sessions/session-changes';
import { SessionsRepository, sessionsOf } from '../sessions/sessions.repository';
import type { User } from '../entities/user.entity';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import { passwordMatches } from '../users-and-groups/passwords';
import type { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { LoginLimiter } from './login-limiter';
import { type SessionOwner, type LoginOrigin, LoginSessions, type OpenedSession } from './login-sessions';
import { SsoLoginService } from './sso-login.service';

const WRONG_CREDENTIALS = 'User name or password is wrong, or the account is disabled.';

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
    setAuditActor({ username: credentials?.username ?? null });
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

  /** Ends all logins of the user. Personal tokens stay, because programs use them. */
  async logoutEverywhere({ userId, username }: Principal): Promise<Message> {
    return this.changes.run(sessionsOf(userId), async (tx) => {
      await this.sessions.endLoginsOf(tx, userId);
      return { message: `User ${username} is logged out everywhere.` };
    });
  }

  /** Local accounts can use their password here too, so that somebody can log in while the provider is down. */
  private async loginOrBeginSso(
    credentials: NameAndPassword | null,
    timeout: string,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    const opened =
      credentials &&
      (await this.openSession(
        credentials,
        () => this.verifyLocally(credentials, origin),
        parseDuration(timeout),
        origin,
      ));
    return opened ?? this.sso.begin(timeout, origin);
  }

  private async loginByPassword(
    credentials: NameAndPassword,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<LoginResult> {
    const opened = await this.openSession(credentials, () => this.verify(credentials, origin), durationMs, origin);
    if (!opened) throw unauthenticated(WRONG_CREDENTIALS);
    return opened;
  }

  /** Checks the password here or in the external directory. Returns its owner, or null if it is wrong. */
  private async verify(credentials: NameAndPassword, origin: LoginOrigin): Promise<User | DirectoryUser | null> {
    const { username, password } = credentials;
    const { account, verified } = await this.checkLocally(credentials, origin);
    const isExternal = this.config.auth.directory !== 'local' && account?.directory !== 'local';
    const person = isExternal ? await this.loginDirectory.checkPassword(origin.network, username, password) : null;
    return verified ?? person;
  }

  private async verifyLocally(credentials: NameAndPassword, origin: LoginOrigin): Promise<User | null> {
    const { verified } = await this.checkLocally(credentials, origin);
    return verified;
  }

  /**
   * Returns the account with the user name, and again as `verified` if it is an enabled local account with this
   * password. It always hashes a password, so that response times do not reveal whether an account exists or where it
   * comes from.
   */
  private async checkLocally(
    { username, password }: NameAndPassword,
    { network }: LoginOrigin,
  ): Promise<{ account: User | null; verified: User | null }> {
    let account: User | null = null;
    const readHash = async () => {
      const user = (account = await this.directory.userByName(username));
      return user?.directory === 'local' ? user.password_hash : null;
    };
    const matches = await passwordMatches(readHash, password, network);
    return { account, verified: matches ? ifEnabled(account) : null };
  }

  private openSession<P extends User | DirectoryUser>(
    { username }: NameAndPassword,
    verify: () => Promise<P | null>,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<OpenedSession | null> {
    const open = (identity: P) => this.logins.open((tx) => this.admit(tx, identity), durationMs, origin);
    return this.limiter.attempt({ username, network: origin.network }, verify, open);
  }

  private async admit(tx: Tx, identity: User | DirectoryUser): Promise<SessionOwner | null> {
    if (!('user_id' in identity)) return this.accounts.admit(tx, identity);
    await this.sessions.assertUnchanged(tx, identity);
    return identity;
  }
}

function ifEnabled(user: User | null): User | null {
  return user && !(user.to_date instanceof Date) ? user : null;
}

/** Reads the credentials from the body or from HTTP Basic. Returns null if user name or password is missing. */
function credentialsOf(request: LoginRequest, authorization: string | null): NameAndPassword | null {
  const { username, password } = request;
  if (username !== undefined && password !== undefined) return { username, password };
  const credentials = basicCredentials(authorization);
  return credentials?.username && credentials.password ? credentials : null;
}
