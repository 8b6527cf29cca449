import type { Retention } from './retention';

/** Outbox rows that are sent or useless, and responses kept for repeated requests. */
export const SPENT_ROWS: Retention = {
  name: 'spent-rows',
  retentionDays: 7,
  rows: [
    {
      table: 'outbox_messages',
      key: 'outbox_message_id',
      ended: `SELECT outbox_message_id FROM outbox_messages
              WHERE sent_at < platform_now() - $1 * interval '1 day' ORDER BY sent_at`,
    },
    // These messages have jobs that no worker knows. Others do not stay unsent for long, and reconcilers enqueue their work again.
    {
      table: 'outbox_messages',
      key: 'outbox_message_id',
      ended: `SELECT outbox_message_id FROM outbox_messages
              WHERE sent_at IS NULL AND created_at < platform_now() - $1 * interval '1 day' ORDER BY outbox_message_id`,
    },
    {
      table: 'idempotency_keys',
      key: '(user_id, key)',
      ended: `SELECT user_id, key FROM idempotency_keys WHERE created_at < platform_now() - $1 * interval '1 day'`,
    },
  ],
};
