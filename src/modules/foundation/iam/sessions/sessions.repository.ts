import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Role } from '../../../../platform/kernel/auth/roles';
import { unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import { firstRow, insertRow, rows, type Tx, updateRows } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { Retention } from '../../../../platform/background/workflows/retention';
import { Session } from '../entities/session.entity';
import type { User } from '../entities/user.entity';
import { heldRoles } from '../roles/roles.joins';

/** A session, with the state of its user and tenant that authentication checks. */
export interface SessionRow
  extends Pick<Session, 'session_id' | 'user_id' | 'token_hash' | 'tenant_id'>, Pick<User, 'username'> {
  kind: 'login' | 'token';
  /** Roles in the selected tenant and platform-wide roles. */
  roles: Role[];
  revoked: boolean;
  expired: boolean;
  user_disabled: boolean;
  tenant_closed: boolean;
  /** True if `last_used_at` is more than a minute old. */
  last_used_stale: boolean;
}

/** Payload of the `session` notification for all sessions of a user. For one session the payload is its id. */
export function sessionsOf(userId: number): string {
  return `user:${userId}`;
}

/** Payload of the `session` notification for the sessions of all users. */
export const EVERY_SESSION = '';

export interface NewSession {
  sessionId: string;
  /** Hash of the only token accepted for the session. */
  tokenHash: string;
  kind: 'login' | 'token';
  description?: string | null;
  userId: number;
  tenantId: string | null;
  /** Null if the session never expires. */
  expiresAt: Date | null;
  ip: string | null;
  /** From {@link clientNetwork}; null for a personal token, which does not mark its network as familiar. */
  network: string | null;
  userAgent: string | null;
}

export type OpenedSession = Pick<Session, 'token_id' | 'created_at'>;

/** A network is familiar to an account for this long after a login. */
const FAMILIAR_NETWORK_DAYS = 30;

const SESSIONS = `
  SELECT s.session_id, s.user_id, u.username, s.kind, s.token_hash, s.tenant_id,
    COALESCE((SELECT array_agg(DISTINCT h.role) FROM (${heldRoles('u.user_id')}) h
              WHERE h.tenant_id IS NULL OR ${ofTenant('h', 's.tenant_id')}), '{}') AS roles,
    s.revoked_at IS NOT NULL AS revoked,
    s.expires_at <= platform_now() AS expired,
    u.to_date <> 'infinity' AS user_disabled,
    COALESCE(t.to_date <> 'infinity', false) AS tenant_closed,
    COALESCE(s.last_used_at < platform_now() - interval '1 minute', true) AS last_used_stale
  FROM sessions s
  JOIN users u ON u.user_id = s.user_id
  LEFT JOIN tenants t ON ${ofTenant('t', 's.tenant_id')}`;

/** Retention of ended logins and personal tokens. Users can list ended tokens until then. */
export const ENDED_SESSIONS: Retention = {
  name: 'sessions',
  rows: (['expires_at', 'revoked_at'] satisfies (keyof Session)[]).map((endedAt) => ({
    table: 'sessions',
    key: 'session_id',
    ended: `SELECT session_id FROM sessions
            WHERE ${endedAt} < platform_now() - $1 * interval '1 day' ORDER BY ${endedAt}`,
  })),
};

/** Reads and writes sessions. Changes of open sessions must run in {@link SessionChanges}, which notifies all pods. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Uses the statement of {@link findAll}, so that authentication and reauthentication check the same. */
  async find(sessionId: string): Promise<SessionRow | null> {
    const [session] = await this.findAll([sessionId]);
    return session ?? null;
  }

  /** Returns the sessions that exist, in any order. */
  findAll(sessionIds: readonly string[]): Promise<SessionRow[]> {
    return rows<SessionRow>(this.dataSource.manager, `${SESSIONS} WHERE s.session_id = ANY($1)`, [sessionIds]);
  }

  /** True if the account with this user name has logged in from the network within {@link FAMILIAR_NETWORK_DAYS}. */
  async hasLoggedInFrom(username: string, network: string): Promise<boolean> {
    const login = await firstRow(
      this.dataSource.manager,
      `SELECT 1 FROM sessions WHERE user_id = (SELECT user_id FROM users WHERE username = $1) AND network = $2
         AND kind = 'login' AND created_at > platform_now() - interval '${FAMILIAR_NETWORK_DAYS} days' LIMIT 1`,
      [username.toLowerCase(), network],
    );
    return login !== null;
  }

  async recordUse(sessionId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE sessions SET last_used_at = platform_now()
       WHERE session_id = $1 AND (last_used_at IS NULL OR last_used_at < platform_now() - interval '1 minute')`,
      [sessionId],
    );
  }

  /**
   * Throws `unauthenticated` if the account was disabled or its password changed since the login was checked. The row
   * lock prevents both until `tx` ends: they end all sessions of the account and would miss the one being opened.
   */
  async assertUnchanged(tx: Tx, user: { user_id: number; password_hash: string | null }): Promise<void> {
    const unchanged = await firstRow(
      tx,
      `SELECT 1 FROM users WHERE user_id = $1 AND to_date = 'infinity' AND password_hash IS NOT DISTINCT FROM $2 FOR SHARE`,
      [user.user_id, user.password_hash],
    );
    if (!unchanged) throw unauthenticated('The account was changed during the login. Log in again.');
  }

  /** Returns the database's time. Session starts use it because expiry is decided by the same clock. */
  async now(tx: Tx): Promise<Date> {
    const row = await firstRow<{ now: Date }>(tx, 'SELECT platform_now() AS now');
    if (!row) throw new Error('The database returned no row for platform_now()');
    return row.now;
  }

  async open(tx: Tx, session: NewSession): Promise<OpenedSession> {
    return insertRow(tx, Session, {
      session_id: session.sessionId,
      token_hash: session.tokenHash,
      user_id: session.userId,
      tenant_id: session.tenantId,
      kind: session.kind,
      description: session.description,
      expires_at: session.expiresAt ?? Infinity,
      ip: session.ip,
      network: session.network,
      user_agent: session.userAgent,
    });
  }

  async end(tx: Tx, sessionId: string): Promise<void> {
    await tx.query('UPDATE sessions SET revoked_at = platform_now() WHERE session_id = $1 AND revoked_at IS NULL', [
      sessionId,
    ]);
  }

  /** Ends every session and personal token of the user except `keptSessionId`. */
  async endAllForUser(tx: Tx, userId: number, keptSessionId: string | null = null): Promise<void> {
    await tx.query(
      `UPDATE sessions SET revoked_at = platform_now()
       WHERE user_id = $1 AND session_id IS DISTINCT FROM $2 AND revoked_at IS NULL AND expires_at > platform_now()`,
      [userId, keptSessionId],
    );
  }

  /** Ends every login of the user, but no personal token. */
  async endLoginsOf(tx: Tx, userId: number): Promise<void> {
    await tx.query(
      `UPDATE sessions SET revoked_at = platform_now()
       WHERE user_id = $1 AND kind = 'login' AND revoked_at IS NULL AND expires_at > platform_now()`,
      [userId],
    );
  }

  async endAllForUsers(tx: Tx, userIds: readonly number[]): Promise<void> {
    if (userIds.length === 0) return;
    await tx.query(
      `UPDATE sessions SET revoked_at = platform_now()
       WHERE user_id = ANY($1) AND revoked_at IS NULL AND expires_at > platform_now()`,
      [userIds],
    );
  }

  /**
   * Returns false if the session has ended. It locks the user's row until `tx` ends, so that neither a password change
   * nor a count of the user's tokens can miss a session that `tx` opens.
   */
  async lockOpen(tx: Tx, session: { userId: number; sessionId: string }): Promise<boolean> {
    await tx.query('SELECT 1 FROM users WHERE user_id = $1 FOR NO KEY UPDATE', [session.userId]);
    const open = await firstRow(tx, 'SELECT 1 FROM sessions WHERE session_id = $1 AND revoked_at IS NULL', [
      session.sessionId,
    ]);
    return open !== null;
  }

  /** Clears the selected tenant of a login session if it is this one. A personal token stays bound. */
  async deselectTenant(tx: Tx, sessionId: string, tenantId: string): Promise<void> {
    await tx.query(
      `UPDATE sessions t SET tenant_id = NULL WHERE session_id = $1 AND ${ofTenant('t', '$2')} AND kind = 'login'`,
      [sessionId, tenantId],
    );
  }

  /** True if the session is a personal token, which is bound for good, and its tenant is not this one. */
  async isBoundToOtherTenant(tx: Tx, sessionId: string, tenantId: string): Promise<boolean> {
    const sql = `SELECT 1 FROM sessions t WHERE session_id = $1 AND kind = 'token' AND (${ofTenant('t', '$2')}) IS NOT TRUE`;
    return (await firstRow(tx, sql, [sessionId, tenantId])) !== null;
  }

  /** Selects the tenant of a login session. A personal token stays bound to its own. */
  async selectTenant(tx: Tx, sessionId: string, tenantId: string): Promise<void> {
    await updateRows(tx, Session, { tenant_id: tenantId }, { session_id: sessionId, kind: 'login' });
  }
}
