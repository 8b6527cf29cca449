import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { parseTrusted } from '../../../../libs/json/parse-json';
import { appendSuccess, successInsert } from '../audit/append-audit-event';
import type { AuditDraft } from '../audit/audit-draft';
import { currentContext, type IdempotencyContext } from '../context/request-context';
import { isPgError } from '../errors/database-error';
import { conflict } from '../errors/domain-error';
import { firstRow, Params, prepared, inTransaction, type Tx } from './sql';

const MAX_ATTEMPTS = 3;

interface StoredResponse {
  request_hash: string;
  operation: string;
  answer: string;
}

/** Opens the one transaction of a mutation. */
@Injectable()
export class Transactions {
  private readonly afterwards = new WeakMap<Tx, (() => void)[]>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs `fn` in a transaction and commits its changes. If the request has a row in the audit log, its first transaction also
   * writes this row, so that neither exists without the other. If the request has an `Idempotency-Key`, the result of `fn`
   * is the operation's response: it is stored with the key in the same transaction, and a repeated request gets it without
   * running `fn`. Deadlocks are retried, which is safe because `fn` changes only the database.
   */
  async run<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const { idempotency = null, audit } = currentContext() ?? {};
    const draft = audit && !audit.isRecorded ? audit : null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { tx, response } = await inTransaction(this.dataSource, async (tx) => ({
          tx,
          response: await (idempotency ? this.once(tx, idempotency, draft, fn) : audited(tx, draft, fn)),
        }));
        // A replay changed nothing, so it needs no row of its own.
        if (audit) audit.isRecorded = hasSession(audit);
        for (const work of this.afterwards.get(tx) ?? []) work();
        return response;
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || !isPgError(error, '40P01', '40001')) throw error;
      }
    }
  }

  /** Starts work in this process once a transaction of {@link run} has committed; does nothing if it rolls back. */
  afterCommit(tx: Tx, work: () => void): void {
    this.afterwards.set(tx, [...(this.afterwards.get(tx) ?? []), work]);
  }

  /**
   * True if the request's `Idempotency-Key` was used before. An operation whose effect outside the database would be refused
   * a second time then calls {@link repeat} instead.
   */
  async isRepeated(): Promise<boolean> {
    const { idempotency = null } = currentContext() ?? {};
    if (!idempotency) return false;
    const sql = 'SELECT 1 FROM idempotency_keys WHERE user_id = $1 AND key = $2';
    return (await firstRow(this.dataSource.manager, sql, [idempotency.userId, idempotency.key])) !== null;
  }

  /** Returns the response to the original request. Throws a conflict if the same key was used for a different request. */
  async repeat<T>(): Promise<T> {
    return this.run<T>(() => {
      throw conflict('REQUEST.IDEMPOTENCY_EXPIRED', 'This Idempotency-Key has just expired. Send the request again.');
    });
  }

  /** Runs reads that must see the same snapshot of the database. */
  async read<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, fn, 'REPEATABLE READ');
  }

  private async once<T>(
    tx: Tx,
    context: IdempotencyContext,
    draft: AuditDraft | null,
    fn: (tx: Tx) => Promise<T>,
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
    const response = await fn(tx);
    const params = new Params();
    const { userId, key } = context;
    const keep = `UPDATE idempotency_keys SET answer = ${params.add(JSON.stringify(response ?? null))}
      WHERE user_id = ${params.add(userId)} AND key = ${params.add(key)}`;
    const isAudited = draft !== null && hasSession(draft);
    // One statement saves a round trip.
    const sql = isAudited ? `WITH kept AS (${keep}) ${successInsert(tx, params, draft, response)}` : keep;
    await tx.query(prepared(sql), params.values);
    return response;
  }

  private async replay<T>(tx: Tx, context: IdempotencyContext): Promise<T> {
    const stored = await firstRow<StoredResponse>(
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

async function audited<T>(tx: Tx, draft: AuditDraft | null, fn: (tx: Tx) => Promise<T>): Promise<T> {
  const response = await fn(tx);
  if (draft !== null && hasSession(draft)) await appendSuccess(tx, draft, response);
  return response;
}

/** False for a login before the transaction that opens its session: until then the login has not succeeded. */
function hasSession(draft: AuditDraft): boolean {
  return draft.sessionId !== null;
}
