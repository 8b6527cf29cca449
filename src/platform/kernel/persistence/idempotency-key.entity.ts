import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Col } from './columns';

/** Answer of a request that carried an `Idempotency-Key`, written with its effect. */
@Entity('idempotency_keys')
// For the sweep of the old ones.
@Index('ix_idempotency_keys_created_at', ['created_at'])
export class IdempotencyKey {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_idempotency_keys' }) user_id: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' }) key: string;
  @Col.text() operation: string;
  @Col.text() request_hash: string;
  /** JSON as text: jsonb would change the order of the fields. */
  @Col.text({ nullable: true }) answer: string | null;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
