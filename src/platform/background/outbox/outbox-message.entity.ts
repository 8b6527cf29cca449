import { Entity, Index } from 'typeorm';
import { Col } from '../../kernel/persistence/columns';

/** A BullMQ job that a committed transaction requested. The relay enqueues it and marks it as sent. */
@Entity('outbox_messages')
@Index('ix_outbox_messages_unsent', ['outbox_message_id'], { where: 'sent_at IS NULL' })
@Index('ix_outbox_messages_sent_at', ['sent_at'])
export class OutboxMessage {
  @Col.identity() outbox_message_id: number;
  @Col.text() job_name: string;
  @Col.json() payload: object;
  @Col.text() correlation_id: string;
  @Col.int({ default: 0 }) delay_ms: number;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
  @Col.time({ nullable: true }) sent_at: Date | null;
}
