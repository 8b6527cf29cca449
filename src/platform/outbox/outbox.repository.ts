import { rows, type Tx } from '../persistence/sql';
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

/** Locks the oldest unsent messages that nobody else is sending. */
export async function lockUnsent(tx: Tx, limit: number): Promise<UnsentMessage[]> {
  return rows<UnsentMessage>(
    tx,
    `SELECT outbox_message_id, job_name, payload, correlation_id, delay_ms FROM outbox_messages
     WHERE sent_at IS NULL ORDER BY outbox_message_id LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [limit],
  );
}

export async function markMessagesSent(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.query('UPDATE outbox_messages SET sent_at = platform_now() WHERE outbox_message_id = ANY($1)', [ids]);
}
