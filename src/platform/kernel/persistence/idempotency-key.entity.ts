import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Col } from './columns';

/** The response to a request with an `Idempotency-Key`, written in the transaction of its effect. */
@Entity('idempotency_keys')
// The sweep of old rows needs this index.
@Index('ix_idempotency_keys_created_at', ['created_at'])
export class IdempotencyKey {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_idempotency_keys' }) user_id: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' }) key: string;
  @Col.text() operation: string;
  @Col.text() request_hash: string;
  /** JSON as text, because jsonb would change the order of the fields. */
  @Col.text({ nullable: true }) answer: string | null;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
