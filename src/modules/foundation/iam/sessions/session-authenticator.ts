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

/** `tokenHash` is that of the token the session was read for: another token of the same session is looked at anew. */
interface CachedPrincipal {
  userId: number;
  tokenHash: string;
  principal: Promise<Principal>;
}

const CACHED_SESSIONS = 10_000;
const USER_PREFIX = 'user:';

/**
 * Finds the caller behind a token. What was read of a session is used for at most a second, and dropped at
 * once by the `session` wake-up: its payload is a session id, `user:<id>` for all of a user, or empty for all.
 */
@Injectable()
export class SessionAuthenticator implements Authenticator, OnModuleInit, OnApplicationShutdown {
  /** Reads in flight are entries, too: what is dropped meanwhile is not kept when it arrives. */
  private readonly principals: LRUCache<string, CachedPrincipal> | null;
  private stopListening: () => void = () => undefined;

  constructor(
    config: Config,
    private readonly sessions: SessionsRepository,
    private readonly listener: PgListener,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const ttl = config.auth.sessionCacheMs;
    this.principals = ttl === 0 ? null : new LRUCache({ max: CACHED_SESSIONS, ttl });
  }

  onModuleInit(): void {
    this.stopListening = this.listener.on('session', (payload) => this.forget(payload));
  }

  onApplicationShutdown(): void {
    this.stopListening();
  }

  async authenticate(claims: TokenClaims): Promise<Principal> {
    const principal = await this.callerOf(claims);
    assertNamed(principal, claims.username);
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

  /** Past what is kept: whatever stays open has to end as soon as its session does. */
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

  /** Drops what is known of the sessions that the payload of a `session` wake-up names. */
  forget(payload: string): void {
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
    if (session.use_unnoted) {
      this.sessions.noteUse(sessionId).catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The last use of a session could not be noted');
      });
    }
    return principalOf(session);
  }
}

function assertAdmitted(session: SessionRow | null, userId: number, tokenHash: string): asserts session is SessionRow {
  if (session?.user_id !== userId) throw unauthenticated('The session of the token does not exist. Log in again.');
  // A good signature is not enough: with a stolen key tokens can be made, but not the one that was given out.
  if (session.token_hash !== null && session.token_hash !== tokenHash) throw unauthenticated('The token is not valid.');
  if (session.revoked) throw unauthenticated('The session was ended. Log in again.');
  if (session.expired) throw unauthenticated('The session has expired. Log in again.');
  if (session.user_disabled) throw unauthenticated('The account is disabled.');
  if (session.tenant_closed) throw unauthenticated('The tenant of the session is closed. Log in again.');
}

/** @param named the user name sent with the token; undefined if the token came alone */
function assertNamed({ username }: Principal, named: string | undefined): void {
  if (named !== undefined && named.toLowerCase() !== username.toLowerCase())
    throw unauthenticated('The token is not one of this user.');
}

/** Whoever has lost the last role in the selected tenant, and holds none everywhere, stands as if none were selected. */
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
