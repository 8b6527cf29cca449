import { Entity, Index } from 'typeorm';
import { Col } from '../persistence/columns';

/** A BullMQ job that a committed transaction wants; the relay sends it and marks it sent. */
@Entity('outbox_messages')
@Index('ix_outbox_messages_unsent', ['outboxMessageId'], { where: 'sent_at IS NULL' })
@Index('ix_outbox_messages_sent_at', ['sentAt'])
export class OutboxMessage {
  @Col.identity('outbox_message_id') outboxMessageId: string;
  @Col.text('job_name') jobName: string;
  @Col.json('payload') payload: unknown;
  @Col.text('correlation_id') correlationId: string;
  @Col.int('delay_ms', { default: 0 }) delayMs: number;
  @Col.time('created_at', { default: () => 'now()' }) createdAt: Date;
  @Col.time('sent_at', { nullable: true }) sentAt: Date | null;
}
