import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Config } from '../../../../config/config';
import type { Authenticator, TokenClaims } from '../../../../platform/http/auth/authentication';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { TOKEN_EXPIRED } from '../../../../platform/http/auth/token.guard';
import { type DomainError, orRefusal, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { type SessionRow, SessionsRepository } from './sessions.repository';

/**
 * `tokenHash` belongs to the token that was checked. Another token of the same session is not served from the cache.
 */
interface CachedPrincipal {
  userId: number;
  tokenHash: string;
  principal: Promise<Principal>;
}

const MAX_CACHED_SESSIONS = 10_000;
const USER_PREFIX = 'user:';

/**
 * Authenticates the caller of a request by the session of its token. Sessions are cached for at most a second. A
 * `session` notification drops cached sessions at once: its payload is a session id, `user:<id>` for all sessions of a
 * user, or empty for all sessions.
 */
@Injectable()
export class SessionAuthenticator implements Authenticator, OnModuleInit, OnApplicationShutdown {
  /** Holds promises, so that a session that is invalidated during its read is not cached. */
  private readonly principals: LRUCache<string, CachedPrincipal> | null;
  private stopListening: () => void = () => undefined;

  constructor(
    config: Config,
    private readonly sessions: SessionsRepository,
    private readonly listener: PgListener,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const ttl = config.auth.sessionCacheMs;
    this.principals = ttl === 0 ? null : new LRUCache({ max: MAX_CACHED_SESSIONS, ttl });
  }

  onModuleInit(): void {
    this.stopListening = this.listener.on('session', (payload) => this.invalidate(payload));
  }

  onApplicationShutdown(): void {
    this.stopListening();
  }

  async authenticate(claims: TokenClaims): Promise<Principal> {
    const principal = await this.callerOf(claims);
    assertUsername(principal, claims.username);
    return principal;
  }

  private callerOf(claims: TokenClaims): Promise<Principal> {
    const { sessionId, userId, tokenHash } = claims;
    const cached = this.principals?.get(sessionId);
    if (cached?.tokenHash === tokenHash) return cached.principal;
    const principal = this.read(claims);
    const entry = { userId, tokenHash, principal };
    this.principals?.set(sessionId, entry);
    principal.catch(() => {
      if (this.principals?.peek(sessionId) === entry) this.principals.delete(sessionId);
    });
    return principal;
  }

  /** Bypasses the cache: connections that stay open must end as soon as their session does. */
  async reauthenticate(claims: readonly TokenClaims[]): Promise<(Principal | DomainError)[]> {
    const ids = new Set(claims.map(({ sessionId }) => sessionId));
    const sessions = new Map((await this.sessions.findAll([...ids])).map((row) => [row.session_id, row]));
    return claims.map(({ sessionId, userId, tokenHash, exp }) =>
      orRefusal(() => {
        if (exp !== undefined && exp * 1000 <= Date.now()) throw unauthenticated(TOKEN_EXPIRED);
        const session = sessions.get(sessionId) ?? null;
        assertAdmitted(session, userId, tokenHash);
        return principalOf(session);
      }),
    );
  }

  /** Drops cached sessions. `payload` is that of a `session` notification. */
  invalidate(payload: string): void {
    if (!this.principals) return;
    if (payload === '') this.principals.clear();
    else if (!payload.startsWith(USER_PREFIX)) this.principals.delete(payload);
    else {
      const userId = Number(payload.slice(USER_PREFIX.length));
      for (const [sessionId, entry] of [...this.principals.entries()]) {
        if (entry.userId === userId) this.principals.delete(sessionId);
      }
    }
  }

  private async read({ sessionId, userId, tokenHash }: TokenClaims): Promise<Principal> {
    const session = await this.sessions.find(sessionId);
    assertAdmitted(session, userId, tokenHash);
    if (session.last_used_stale) {
      this.sessions.recordUse(sessionId).catch((error: unknown) => {
        this.logger.warn({ err: error }, 'last_used_at of a session could not be updated');
      });
    }
    return principalOf(session);
  }
}

function assertAdmitted(session: SessionRow | null, userId: number, tokenHash: string): asserts session is SessionRow {
  if (session?.user_id !== userId) throw unauthenticated('The session of the token does not exist. Log in again.');
  // A valid signature is not enough: a stolen signing key can forge tokens, but not the one issued for this session.
  if (session.token_hash !== null && session.token_hash !== tokenHash) throw unauthenticated('The token is not valid.');
  if (session.revoked) throw unauthenticated('The session was ended. Log in again.');
  if (session.expired) throw unauthenticated('The session has expired. Log in again.');
  if (session.user_disabled) throw unauthenticated('The account is disabled.');
  if (session.tenant_closed) throw unauthenticated('The tenant of the session was deleted. Log in again.');
}

/** @param sentUsername the user name sent with the token; undefined for a bearer token */
function assertUsername({ username }: Principal, sentUsername: string | undefined): void {
  if (sentUsername !== undefined && sentUsername.toLowerCase() !== username.toLowerCase())
    throw unauthenticated('The token belongs to another user than the one named in HTTP Basic.');
}

/** A user who holds no role in the selected tenant and no platform-wide role is treated as having none selected. */
function principalOf(session: SessionRow): Principal {
  return {
    userId: session.user_id,
    username: session.username,
    sessionId: session.session_id,
    sessionKind: session.kind,
    tenantId: session.roles.length > 0 ? session.tenant_id : null,
    roles: new Set(session.roles),
  };
}
