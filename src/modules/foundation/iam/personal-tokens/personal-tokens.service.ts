import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Principal, TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, forbidden, notFound, unauthenticated } from '../../../../platform/kernel/errors/domain-error';
import { idText, type Message, openEnded, validity } from '../../../../platform/kernel/dto/response-fields';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { AccessTokens, tokenHash, tokenNonce } from '../sessions/access-tokens';
import { expiryOf, epochSeconds, parseDuration } from '../sessions/duration';
import { SessionChanges } from '../sessions/session-changes';
import { SessionsRepository } from '../sessions/sessions.repository';
import type { CreateToken, TokenCreated, TokenRead } from './dto/token.dto';
import { PersonalTokensRepository } from './personal-tokens.repository';

/** Active tokens per user. */
export const MAX_TOKENS = 100;

/** Manages personal tokens: long-lived sessions for programs, each bound to one tenant. */
@Injectable()
export class PersonalTokensService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: PersonalTokensRepository,
    private readonly sessions: SessionsRepository,
    private readonly tokens: AccessTokens,
    private readonly changes: SessionChanges,
  ) {}

  /**
   * The transaction returns the token's claims, which are signed again afterwards. So the response that is stored for
   * an `Idempotency-Key` holds no token, and a repeated request still gets the same token.
   */
  async create(principal: Principal, scope: TenantScope, body: CreateToken): Promise<TokenCreated> {
    if (principal.sessionKind === 'token') {
      // Otherwise a token could outlive its own revocation.
      throw forbidden('TOKEN.FROM_TOKEN', 'A personal token cannot create another one. Log in to create it.');
    }
    const duration = parseDuration(body.timeout);
    const { claims, ...record } = await this.transactions.run(async (tx) => {
      if (!(await this.sessions.lockOpen(tx, principal))) throw unauthenticated('The session was ended. Log in again.');
      if ((await this.repository.countActive(tx, principal.userId, MAX_TOKENS)) >= MAX_TOKENS) {
        throw conflict(
          'TOKEN.TOO_MANY',
          `You already have ${MAX_TOKENS} active personal tokens, the maximum. Revoke one that you no longer need.`,
        );
      }
      const startedAt = await this.sessions.now(tx);
      const expiresAt = expiryOf(startedAt, duration);
      const { userId } = principal;
      const sessionId = randomUUID();
      const claims = {
        userId,
        sessionId,
        keyId: this.tokens.signingKeyId,
        issuedAt: epochSeconds(startedAt),
        nonce: tokenNonce(),
      };
      const description = body.description ?? null;
      const opened = await this.sessions.open(tx, {
        sessionId,
        tokenHash: tokenHash(this.tokens.sign(claims, expiresAt)),
        kind: 'token',
        description,
        userId,
        tenantId: scope.tenantId,
        expiresAt,
        ip: null,
        network: null,
        userAgent: null,
      });
      return { claims, ...created(scope, opened, description, expiresAt) };
    });
    const expiresAt = record.expires_at === 'infinity' ? null : new Date(record.expires_at);
    return { ...record, token: this.tokens.sign(claims, expiresAt) };
  }

  async list(principal: Principal, page: PageRequest): Promise<Page<TokenRead>> {
    const tokens = await this.repository.list(principal.userId, page);
    return {
      ...tokens,
      data: tokens.data.map((row) => ({
        token_id: row.token_id,
        description: row.description,
        tenant_id: row.tenant_id,
        expires_at: openEnded(row.expires_at) ?? 'infinity',
        last_used_at: row.last_used_at,
        ...validity(row),
      })),
    };
  }

  /** Throws 404 for another user's token and for one that has already ended. */
  async revoke(principal: Principal, tokenId: number): Promise<Message> {
    const { message } = await this.changes.run<Message & { sessionId: string }>(
      ({ sessionId }) => sessionId,
      async (tx) => {
        const sessionId = await this.repository.findActive(tx, principal.userId, tokenId);
        if (sessionId === null) throw notFound('TOKEN.NOT_FOUND', `You have no active token with id ${tokenId}.`);
        await this.sessions.end(tx, sessionId);
        return { sessionId, message: `The token ${tokenId} is revoked.` };
      },
    );
    return { message };
  }
}

function created(
  scope: TenantScope,
  { token_id, created_at }: { token_id: number; created_at: Date },
  description: string | null,
  expiresAt: Date | null,
): Omit<TokenCreated, 'token'> {
  return {
    token_id: idText(token_id),
    description,
    tenant_id: scope.tenantId,
    expires_at: expiresAt ?? 'infinity',
    created_by_user_id: idText(scope.userId),
    modified_by_user_id: idText(scope.userId),
    last_update_date: created_at,
    from_date: created_at,
    to_date: null,
  };
}
