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

/** A session with what decides whether it still admits its user, and as whom. */
export interface SessionRow
  extends Pick<Session, 'session_id' | 'user_id' | 'token_hash' | 'tenant_id'>, Pick<User, 'username'> {
  kind: 'login' | 'token';
  /** Roles in the selected tenant and those held everywhere. */
  roles: Role[];
  revoked: boolean;
  expired: boolean;
  user_disabled: boolean;
  tenant_closed: boolean;
  /** Whether its last use is not yet noted for this minute. */
  use_unnoted: boolean;
}

/** Payload of the `session` wake-up for all sessions of a user; that for one session is its id. */
export function sessionsOf(userId: number): string {
  return `user:${userId}`;
}

/** Payload of the `session` wake-up for the sessions of everybody. */
export const EVERY_SESSION = '';

export interface NewSession {
  sessionId: string;
  /** Of the only token that stands for the session. */
  tokenHash: string;
  kind: 'login' | 'token';
  /** What its user calls a personal token. */
  description?: string | null;
  userId: number;
  tenantId: string | null;
  /** Null for one without end. */
  expiresAt: Date | null;
  ip: string | null;
  /** As {@link clientNetwork} says; null for one that says nothing of where its user logs in. */
  network: string | null;
  userAgent: string | null;
}

export type OpenedSession = Pick<Session, 'token_id' | 'created_at'>;

/** For so long an address stays one that the account has logged in from. */
const LATELY_DAYS = 30;

const SESSIONS = `
  SELECT s.session_id, s.user_id, u.username, s.kind, s.token_hash, s.tenant_id,
    COALESCE((SELECT array_agg(DISTINCT h.role) FROM (${heldRoles('u.user_id')}) h
              WHERE h.tenant_id IS NULL OR ${ofTenant('h', 's.tenant_id')}), '{}') AS roles,
    s.revoked_at IS NOT NULL AS revoked,
    s.expires_at <= platform_now() AS expired,
    u.to_date <> 'infinity' AS user_disabled,
    COALESCE(t.to_date <> 'infinity', false) AS tenant_closed,
    COALESCE(s.last_used_at < platform_now() - interval '1 minute', true) AS use_unnoted
  FROM sessions s
  JOIN users u ON u.user_id = s.user_id
  LEFT JOIN tenants t ON ${ofTenant('t', 's.tenant_id')}`;

/** Logins and personal tokens; users see ended ones until then. Each way to end has an index of its own. */
export const ENDED_SESSIONS: Retention = {
  name: 'sessions',
  rows: (['expires_at', 'revoked_at'] satisfies (keyof Session)[]).map((endedAt) => ({
    table: 'sessions',
    key: 'session_id',
    ended: `SELECT session_id FROM sessions
            WHERE ${endedAt} < platform_now() - $1 * interval '1 day' ORDER BY ${endedAt}`,
  })),
};

/** Reads and writes sessions. Changes of open ones need the `session` wake-up, which SessionChanges sends. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** By the statement of {@link findAll}: what is looked at again is looked at in the same way. */
  async find(sessionId: string): Promise<SessionRow | null> {
    const [session] = await this.findAll([sessionId]);
    return session ?? null;
  }

  /** Those of the sessions that there are, in any order. */
  findAll(sessionIds: readonly string[]): Promise<SessionRow[]> {
    return rows<SessionRow>(this.dataSource.manager, `${SESSIONS} WHERE s.session_id = ANY($1)`, [sessionIds]);
  }

  /** Whether the account of this name, if there is one, has logged in from there within {@link LATELY_DAYS}. */
  async hasLoggedInFrom(username: string, network: string): Promise<boolean> {
    const login = await firstRow(
      this.dataSource.manager,
      `SELECT 1 FROM sessions WHERE user_id = (SELECT user_id FROM users WHERE username = $1) AND network = $2
         AND kind = 'login' AND created_at > platform_now() - interval '${LATELY_DAYS} days' LIMIT 1`,
      [username.toLowerCase(), network],
    );
    return login !== null;
  }

  async noteUse(sessionId: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE sessions SET last_used_at = platform_now()
       WHERE session_id = $1 AND (last_used_at IS NULL OR last_used_at < platform_now() - interval '1 minute')`,
      [sessionId],
    );
  }

  /**
   * Throws `unauthenticated` when the account was disabled or its password changed since the login was checked. Neither
   * happens until `tx` ends: both end the sessions of the account, and would miss the one that is opened now.
   */
  async assertUnchanged(tx: Tx, user: { user_id: number; password_hash: string | null }): Promise<void> {
    const unchanged = await firstRow(
      tx,
      `SELECT 1 FROM users WHERE user_id = $1 AND to_date = 'infinity' AND password_hash IS NOT DISTINCT FROM $2 FOR SHARE`,
      [user.user_id, user.password_hash],
    );
    if (!unchanged) throw unauthenticated('The account was changed during the login. Log in again.');
  }

  /** The moment of the transaction by the clock that decides when a session is over; what it opens begins then. */
  async now(tx: Tx): Promise<Date> {
    const row = await firstRow<{ now: Date }>(tx, 'SELECT platform_now() AS now');
    if (!row) throw new Error('The database answered no time');
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

  /** Ends every session and personal token of the user but the given one. */
  async endAllOf(tx: Tx, userId: number, keptSessionId: string | null = null): Promise<void> {
    await tx.query(
      `UPDATE sessions SET revoked_at = platform_now()
       WHERE user_id = $1 AND session_id IS DISTINCT FROM $2 AND revoked_at IS NULL AND expires_at > platform_now()`,
      [userId, keptSessionId],
    );
  }

  /** Ends every session and personal token of the users. */
  async endAllOfThese(tx: Tx, userIds: readonly number[]): Promise<void> {
    if (userIds.length === 0) return;
    await tx.query(
      `UPDATE sessions SET revoked_at = platform_now()
       WHERE user_id = ANY($1) AND revoked_at IS NULL AND expires_at > platform_now()`,
      [userIds],
    );
  }

  /**
   * Whether the session has not been ended. Until `tx` ends nobody can end all sessions of its user, or open another in the
   * name of one: what is opened is not missed by a change of the password, nor by a count of what there is.
   */
  async holdOpen(tx: Tx, session: { userId: number; sessionId: string }): Promise<boolean> {
    await tx.query('SELECT 1 FROM users WHERE user_id = $1 FOR NO KEY UPDATE', [session.userId]);
    const open = await firstRow(tx, 'SELECT 1 FROM sessions WHERE session_id = $1 AND revoked_at IS NULL', [
      session.sessionId,
    ]);
    return open !== null;
  }

  /** Leaves a login session without a tenant if it has this one selected; a personal token stays bound. */
  async deselectTenant(tx: Tx, sessionId: string, tenantId: string): Promise<void> {
    await tx.query(
      `UPDATE sessions t SET tenant_id = NULL WHERE session_id = $1 AND ${ofTenant('t', '$2')} AND kind = 'login'`,
      [sessionId, tenantId],
    );
  }

  /** Whether the session is a personal token of another tenant than this one, which it is for good. */
  async isBoundElsewhere(tx: Tx, sessionId: string, tenantId: string): Promise<boolean> {
    const sql = `SELECT 1 FROM sessions t WHERE session_id = $1 AND kind = 'token' AND (${ofTenant('t', '$2')}) IS NOT TRUE`;
    return (await firstRow(tx, sql, [sessionId, tenantId])) !== null;
  }

  /** Binds a login session to a tenant; a personal token stays bound to its own. */
  async selectTenant(tx: Tx, sessionId: string, tenantId: string): Promise<void> {
    await updateRows(tx, Session, { tenant_id: tenantId }, { session_id: sessionId, kind: 'login' });
  }
}
