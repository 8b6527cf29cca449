import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { auditActor } from '../../../platform/audit/audited-request';
import { Transactions } from '../../../platform/persistence/transactions';
import type { Tx } from '../../../platform/persistence/sql';
import { AccessTokens, tokenHash } from '../sessions/access-tokens';
import { expiryOf } from '../sessions/duration';
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
   * A user of exactly one tenant has it selected.
   * @param admit decides within the transaction of the session whose it is; null refuses, and is the answer then
   */
  async open(
    admit: (tx: Tx) => Promise<Admitted | null>,
    durationMs: number,
    origin: LoginOrigin,
  ): Promise<OpenedSession | null> {
    const expiresAt = expiryOf(durationMs);
    const token = await this.transactions.run(async (tx) => {
      const user = await admit(tx);
      if (!user) return null;
      const { user_id: userId, username } = user;
      const sessionId = randomUUID();
      const signed = this.tokens.sign({ userId, sessionId }, expiresAt);
      const tenants = await this.directory.tenantsOfMember(tx, userId);
      const tenantId = tenants.length === 1 ? (tenants[0]?.tenant_id ?? null) : null;
      await this.sessions.open(tx, {
        sessionId,
        tokenHash: tokenHash(signed),
        kind: 'login',
        userId,
        tenantId,
        expiresAt,
        ip: origin.ip,
        network: origin.network,
        userAgent: origin.userAgent,
      });
      auditActor({ userId, username, tenantId, sessionId, sessionKind: 'login' });
      return signed;
    });
    return token === null ? null : { token, expires_at: expiresAt ?? 'infinity' };
  }
}
