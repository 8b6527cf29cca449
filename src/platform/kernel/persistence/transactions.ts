import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { parseTrusted } from '../../../../libs/json/parse-json';
import { appendSuccess, successInsert } from '../audit/append-audit-event';
import type { AuditDraft } from '../audit/audit-draft';
import { currentContext, type IdempotencyContext } from '../context/request-context';
import { isPgError } from '../errors/database-error';
import { conflict } from '../errors/domain-error';
import { firstRow, Params, prepared } from './sql';

const RETRIES = 3;

interface StoredAnswer {
  request_hash: string;
  operation: string;
  answer: string;
}

/** Opens the one transaction of a mutation. */
@Injectable()
export class Transactions {
  private readonly afterwards = new WeakMap<EntityManager, (() => void)[]>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs `fn` in a transaction and commits what it did, together with the row of the audit log where the request has
   * one: neither exists without the other, and the first transaction of a request carries the row. Under a request with
   * an `Idempotency-Key`, what `fn` returns is the operation's answer: it is stored with the key in the same
   * transaction, and a repeated request gets it again without running `fn`. Deadlocks are retried, which is safe
   * because `fn` touches only the database.
   */
  async run<T>(fn: (tx: EntityManager) => Promise<T>): Promise<T> {
    const { idempotency = null, audit } = currentContext() ?? {};
    const draft = audit && !audit.settled ? audit : null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { tx, answer } = await this.dataSource.transaction(async (tx) => ({
          tx,
          answer: await (idempotency ? this.once(tx, idempotency, draft, fn) : audited(tx, draft, fn)),
        }));
        // A replay did nothing and needs no row of its own.
        if (audit) audit.settled = hasSession(audit);
        for (const work of this.afterwards.get(tx) ?? []) work();
        return answer;
      } catch (error) {
        if (attempt >= RETRIES || !isPgError(error, '40P01', '40001')) throw error;
      }
    }
  }

  /** Begins work of this process once a transaction of {@link run} has committed; none if it does not. */
  afterCommit(tx: EntityManager, work: () => void): void {
    this.afterwards.set(tx, [...(this.afterwards.get(tx) ?? []), work]);
  }

  /**
   * Whether the request's `Idempotency-Key` was used before: for an operation whose effect outside the database would
   * be refused the second time, which then calls {@link repeat} instead.
   */
  async isRepeated(): Promise<boolean> {
    const { idempotency = null } = currentContext() ?? {};
    if (!idempotency) return false;
    const sql = 'SELECT 1 FROM idempotency_keys WHERE user_id = $1 AND key = $2';
    return (await firstRow(this.dataSource.manager, sql, [idempotency.userId, idempotency.key])) !== null;
  }

  /** The answer to the original of a repeated request; refuses a different request with the same key. */
  async repeat<T>(): Promise<T> {
    return this.run<T>(() => {
      throw conflict('REQUEST.IDEMPOTENCY_EXPIRED', 'This Idempotency-Key has just expired. Send the request again.');
    });
  }

  /** Runs reads that must see one state of the database. */
  async read<T>(fn: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction('REPEATABLE READ', fn);
  }

  private async once<T>(
    tx: EntityManager,
    context: IdempotencyContext,
    draft: AuditDraft | null,
    fn: (tx: EntityManager) => Promise<T>,
  ): Promise<T> {
    // The insert waits for a concurrent request with the same key to commit or roll back.
    const inserted: unknown[] = await tx.query(
      prepared(
        `INSERT INTO idempotency_keys (user_id, key, operation, request_hash) VALUES ($1, $2, $3, $4)
         ON CONFLICT (user_id, key) DO NOTHING RETURNING key`,
      ),
      [context.userId, context.key, context.operation, context.requestHash],
    );
    if (inserted.length === 0) return this.replay<T>(tx, context);
    const answer = await fn(tx);
    const params = new Params();
    const { userId, key } = context;
    const keep = `UPDATE idempotency_keys SET answer = ${params.add(JSON.stringify(answer ?? null))}
      WHERE user_id = ${params.add(userId)} AND key = ${params.add(key)}`;
    const isAudited = draft !== null && hasSession(draft);
    // In one statement: each costs a round trip.
    const sql = isAudited ? `WITH kept AS (${keep}) ${successInsert(params, draft, answer)}` : keep;
    await tx.query(prepared(sql), params.values);
    return answer;
  }

  private async replay<T>(tx: EntityManager, context: IdempotencyContext): Promise<T> {
    const stored = await firstRow<StoredAnswer>(
      tx,
      'SELECT request_hash, operation, answer FROM idempotency_keys WHERE user_id = $1 AND key = $2',
      [context.userId, context.key],
    );
    if (!stored || stored.operation !== context.operation || stored.request_hash !== context.requestHash) {
      throw conflict(
        'REQUEST.IDEMPOTENCY_MISMATCH',
        'This Idempotency-Key has already been used for a different request.',
      );
    }
    return parseTrusted<T>(stored.answer);
  }
}

async function audited<T>(
  tx: EntityManager,
  draft: AuditDraft | null,
  fn: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  const answer = await fn(tx);
  if (draft !== null && hasSession(draft)) await appendSuccess(tx, draft, answer);
  return answer;
}

/** A login succeeds with the transaction that opens the session; what it writes before may come to nothing. */
function hasSession(draft: AuditDraft): boolean {
  return draft.sessionId !== null;
}
