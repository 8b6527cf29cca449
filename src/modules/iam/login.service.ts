import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { auditActor } from '../../platform/audit/audited-request';
import type { Principal } from '../../platform/auth/principal';
import { invalid, unauthenticated } from '../../platform/errors/domain-error';
import type { Message } from '../../platform/http/answers';
import { Transactions } from '../../platform/persistence/transactions';
import { AccessTokens, tokenHash } from './access-tokens';
import { DirectoryRepository, type UserRow } from './directory.repository';
import type { AuthTypeAnswer, LoginRequest, LoginResult } from './dto/login.dto';
import { expiryOf, parseDuration } from './duration';
import { LoginLimiter } from './login-limiter';
import { passwordMatches } from './passwords';
import { SessionAuthenticator } from './session-authenticator';
import { SessionsRepository } from './sessions.repository';

/** Where a login comes from, for its limits and its session. */
export interface LoginOrigin {
  authorization: string | null;
  ip: string;
  userAgent: string | null;
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
    private readonly tokens: AccessTokens,
    private readonly limiter: LoginLimiter,
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
    const { username, password } = credentialsOf(request, origin.authorization);
    auditActor({ username });
    const user = await this.checkPassword(username, password, origin.ip);
    return this.openSession(user, duration, origin);
  }

  async logout(principal: Principal): Promise<Message> {
    const answer = await this.transactions.run(async (tx) => {
      await this.sessions.end(tx, principal.sessionId);
      return { message: `User ${principal.username} is logged out.` };
    });
    this.authenticator.forget(principal.sessionId);
    return answer;
  }

  private async checkPassword(username: string, password: string, ip: string): Promise<UserRow> {
    await this.limiter.assertAllowed(username, ip);
    const user = await this.directory.userByName(username);
    const matches = await passwordMatches(user?.password_hash ?? null, password);
    if (!user || !matches || user.to_date instanceof Date) {
      await this.limiter.countFailure(username, ip);
      throw unauthenticated('User name or password is wrong, or the account is disabled.');
    }
    // Of many guesses at once only those that end before the limit is reached learn whether they were right.
    await this.limiter.assertAllowed(username, ip);
    await this.limiter.clear(username);
    return user;
  }

  private async openSession(user: UserRow, durationMs: number, origin: LoginOrigin): Promise<LoginResult> {
    const expiresAt = expiryOf(durationMs);
    const sessionId = randomUUID();
    const token = this.tokens.sign({ userId: user.user_id, sessionId }, expiresAt);
    await this.transactions.run(async (tx) => {
      await this.sessions.assertUnchanged(tx, user);
      const tenants = await this.directory.tenantsOfMember(tx, user.user_id);
      const tenantId = tenants.length === 1 ? (tenants[0]?.tenant_id ?? null) : null;
      await this.sessions.open(tx, {
        sessionId,
        tokenHash: tokenHash(token),
        kind: 'login',
        userId: user.user_id,
        tenantId,
        expiresAt,
        ip: origin.ip,
        userAgent: origin.userAgent,
      });
      auditActor({ userId: user.user_id, username: user.username, tenantId, sessionId, sessionKind: 'login' });
    });
    return { token, expires_at: expiresAt ?? 'infinity' };
  }
}

function credentialsOf(request: LoginRequest, authorization: string | null): { username: string; password: string } {
  const { username, password } = request;
  if (username !== undefined && password !== undefined) return { username, password };
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 1 || colon === decoded.length - 1) {
    throw invalid('AUTH.CREDENTIALS_MISSING', 'username and password are required, in the body or as HTTP Basic.');
  }
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
