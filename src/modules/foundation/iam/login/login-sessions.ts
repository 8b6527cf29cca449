import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { setAuditActor } from '../../../../platform/http/audit/audited-request';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { AccessTokens, tokenHash } from '../sessions/access-tokens';
import { expiryOf, epochSeconds } from '../sessions/duration';
import { SessionsRepository } from '../sessions/sessions.repository';
import { DirectoryRepository } from '../users-and-groups/directory.repository';

export interface LoginOrigin {
  authorization: string | null;
  ip: string;
  /** From {@link clientNetwork}: the IPv4 address itself, or the /64 of an IPv6 address. */
  network: string;
  userAgent: string | null;
}

export interface OpenedSession {
  token: string;
  expires_at: Date | 'infinity';
}

export interface SessionOwner {
  user_id: number;
  username: string;
}

@Injectable()
export class LoginSessions {
  constructor(
    private readonly transactions: Transactions,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly tokens: AccessTokens,
  ) {}

  /**
   * @param admit returns the session's owner and runs in the transaction that opens it; if it returns null, so does
   * `open`
   */
  async open(
    admit: (tx: Tx) => Promise<SessionOwner | null>,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<OpenedSession | null> {
    return this.transactions.run(async (tx) => {
      const user = await admit(tx);
      if (!user) return null;
      const { user_id: userId, username } = user;
      const sessionId = randomUUID();
      const startedAt = await this.sessions.now(tx);
      const expiresAt = expiryOf(startedAt, durationMs);
      const token = this.tokens.sign({ userId, sessionId, issuedAt: epochSeconds(startedAt) }, expiresAt);
      const tenantId = await this.tenantFor(tx, userId);
      await this.sessions.open(tx, {
        sessionId,
        tokenHash: tokenHash(token),
        kind: 'login',
        userId,
        tenantId,
        expiresAt,
        ip: origin.ip,
        network: origin.network,
        userAgent: origin.userAgent,
      });
      setAuditActor({ userId, username, tenantId, sessionId, sessionKind: 'login' });
      return { token, expires_at: expiresAt ?? 'infinity' };
    });
  }

  /**
   * Returns the tenant to preselect: the only tenant of the user, if there is exactly one. Roles that other tenants
   * grant, directly or through a group, do not change the selection, so that no tenant's administrators can lure a user
   * into it.
   */
  private async tenantFor(tx: Tx, userId: number): Promise<string | null> {
    const [first, second] = await this.directory.tenantsToPropose(tx, userId);
    if (!first || (first.own && second?.own)) return null;
    if (first.own) return first.tenant_id;
    // A PLATFORM ADMIN may select every tenant, so one tenant's grant must not preselect it.
    const platformRoles = await this.directory.rolesOf(userId, null, tx);
    return platformRoles.some(({ role }) => role === 'PLATFORM ADMIN') ? null : first.tenant_id;
  }
}
