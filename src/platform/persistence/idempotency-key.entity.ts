import { Entity, PrimaryColumn } from 'typeorm';
import { Col } from './columns';

/** Answer of a request that carried an `Idempotency-Key`, written with its effect. */
@Entity('idempotency_keys')
export class IdempotencyKey {
  @PrimaryColumn({ name: 'user_id', type: 'bigint', primaryKeyConstraintName: 'pk_idempotency_keys' }) userId: string;
  @PrimaryColumn({ name: 'key', type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' }) key: string;
  @Col.text('operation') operation: string;
  @Col.text('request_hash') requestHash: string;
  /** JSON as text: jsonb would give the fields in another order than the first answer had. */
  @Col.text('answer', { nullable: true }) answer: string | null;
  @Col.time('created_at', { default: () => 'now()' }) createdAt: Date;
}
