import { firstRow, rows, type Db, type Tx } from '../../kernel/persistence/sql';
import type { OutboxMessage } from './outbox-message.entity';

export type UnsentMessage = Pick<OutboxMessage, 'outbox_message_id' | 'job_name' | 'correlation_id' | 'delay_ms'> & {
  payload: Record<string, unknown>;
};

export async function insertMessage(
  tx: Tx,
  message: Pick<OutboxMessage, 'job_name' | 'payload' | 'correlation_id' | 'delay_ms'>,
): Promise<void> {
  await tx.query('INSERT INTO outbox_messages (job_name, payload, correlation_id, delay_ms) VALUES ($1, $2, $3, $4)', [
    message.job_name,
    JSON.stringify(message.payload),
    message.correlation_id,
    message.delay_ms,
  ]);
}

/** Locks and returns the oldest unsent messages of these jobs with ids above `after`, except those that another relay has locked. */
export async function lockUnsent(
  tx: Tx,
  jobs: readonly string[],
  after: number,
  limit: number,
): Promise<UnsentMessage[]> {
  return rows<UnsentMessage>(
    tx,
    `SELECT outbox_message_id, job_name, payload, correlation_id, delay_ms FROM outbox_messages
     WHERE sent_at IS NULL AND outbox_message_id > $2 AND job_name = ANY($1)
     ORDER BY outbox_message_id LIMIT $3 FOR UPDATE SKIP LOCKED`,
    [jobs, after, limit],
  );
}

/** Returns number, one job and last id of the unsent messages of other jobs that precede the first message of `jobs`. */
export async function unsentUnknownJobs(
  db: Db,
  jobs: readonly string[],
): Promise<{ messages: number; job: string | null; last: number | null }> {
  const row = await firstRow<{ messages: number; job: string | null; last: number | null }>(
    db,
    `SELECT count(*) AS messages, min(job_name) AS job, max(outbox_message_id) AS last FROM outbox_messages
     WHERE sent_at IS NULL AND outbox_message_id < coalesce(
       (SELECT min(outbox_message_id) FROM outbox_messages WHERE sent_at IS NULL AND job_name = ANY($1)), $2)`,
    [jobs, Number.MAX_SAFE_INTEGER],
  );
  return row ?? { messages: 0, job: null, last: null };
}

export async function markMessagesSent(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.query('UPDATE outbox_messages SET sent_at = platform_now() WHERE outbox_message_id = ANY($1)', [ids]);
}
