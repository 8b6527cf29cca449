import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { auditActor } from '../../../../platform/http/audit/audited-request';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { AccessTokens, tokenHash } from '../sessions/access-tokens';
import { expiryOf, inSeconds } from '../sessions/duration';
import { SessionsRepository } from '../sessions/sessions.repository';
import { DirectoryRepository } from '../users-and-groups/directory.repository';

/** Where a login comes from, for its limits and its session. */
export interface LoginOrigin {
  authorization: string | null;
  ip: string;
  /** What the address counts as: itself, or the /64 of an IPv6 one. */
  network: string;
  userAgent: string | null;
}

export interface OpenedSession {
  token: string;
  expires_at: Date | 'infinity';
}

/** Whose session it is. */
export interface Admitted {
  user_id: number;
  username: string;
}

/** Opens the session of a login. */
@Injectable()
export class LoginSessions {
  constructor(
    private readonly transactions: Transactions,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly tokens: AccessTokens,
  ) {}

  /**
   * @param admit decides within the transaction of the session whose it is; null refuses, and is the answer then
   */
  async open(
    admit: (tx: Tx) => Promise<Admitted | null>,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<OpenedSession | null> {
    return this.transactions.run(async (tx) => {
      const user = await admit(tx);
      if (!user) return null;
      const { user_id: userId, username } = user;
      const sessionId = randomUUID();
      const begin = await this.sessions.now(tx);
      const expiresAt = expiryOf(begin, durationMs);
      const token = this.tokens.sign({ userId, sessionId, issuedAt: inSeconds(begin) }, expiresAt);
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
      auditActor({ userId, username, tenantId, sessionId, sessionKind: 'login' });
      return { token, expires_at: expiresAt ?? 'infinity' };
    });
  }

  /**
   * The tenant that is selected: that of a user of exactly one. A role that another tenant gives an account changes
   * nothing about it, be it directly or through a group, so that nobody is led into a tenant by its administrators.
   */
  private async tenantFor(tx: Tx, userId: number): Promise<string | null> {
    const [first, second] = await this.directory.tenantsToPropose(tx, userId);
    if (!first || (first.own && second?.own)) return null;
    if (first.own) return first.tenant_id;
    // Whoever may select every tenant does not belong to the one that says so.
    const everywhere = await this.directory.rolesOf(userId, null, tx);
    return everywhere.some(({ role }) => role === 'PLATFORM ADMIN') ? null : first.tenant_id;
  }
}
