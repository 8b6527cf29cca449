import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import type { ValidityColumns } from '../../../../platform/kernel/persistence/columns';
import { pagedRows } from '../../../../platform/kernel/persistence/paged-rows';
import { Conditions, firstRow, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { Session } from '../entities/session.entity';

/** `to_date` is when the token expired, was revoked or its tenant was deleted; `Infinity` while it is active. */
type TokenRow = Pick<Session, 'token_id' | 'description' | 'tenant_id' | 'expires_at' | 'last_used_at'> &
  Pick<ValidityColumns, 'from_date' | 'to_date'>;

/** Reads sessions of kind `token`, that is, personal tokens. */
@Injectable()
export class PersonalTokensRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns a page of the user's tokens, including ended ones, newest first. */
  list(userId: number, page: PageRequest): Promise<Page<TokenRow>> {
    const select = {
      table: 'sessions',
      key: 'session_id',
      columns: `t.token_id, t.description, t.tenant_id, t.expires_at, t.last_used_at, t.created_at AS from_date,
        CASE WHEN e.ended_at <= platform_now() THEN e.ended_at ELSE 'infinity' END AS to_date`,
      joins: `LEFT JOIN tenants o ON ${ofTenant('o', 't.tenant_id')}
        CROSS JOIN LATERAL (SELECT LEAST(t.revoked_at, t.expires_at, o.to_date) AS ended_at) e`,
      conditions: new Conditions().add(`t.user_id = ? AND t.kind = 'token'`, userId),
      order: 't.token_id DESC',
    };
    return pagedRows<TokenRow>(this.dataSource.manager, select, page);
  }

  async countActive(tx: Tx, userId: number, limit: number): Promise<number> {
    const row = await firstRow<{ count: number }>(
      tx,
      `SELECT count(*)::int AS count FROM (SELECT 1 FROM sessions
       WHERE user_id = $1 AND kind = 'token' AND revoked_at IS NULL AND expires_at > platform_now() LIMIT $2) t`,
      [userId, limit],
    );
    return row?.count ?? 0;
  }

  /** Returns and locks the session of an active token of the user. */
  async findActive(tx: Tx, userId: number, tokenId: number): Promise<string | null> {
    const row = await firstRow<Pick<Session, 'session_id'>>(
      tx,
      `SELECT session_id FROM sessions
       WHERE user_id = $1 AND token_id = $2 AND kind = 'token' AND revoked_at IS NULL AND expires_at > platform_now() FOR UPDATE`,
      [userId, tokenId],
    );
    return row?.session_id ?? null;
  }
}
