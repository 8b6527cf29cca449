import { Entity, PrimaryColumn } from 'typeorm';

/**
 * A second in which a process that serves agents answered as it does a poll. Only these count as silence of a node; older
 * ones than are needed for that are removed.
 */
@Entity('answered_seconds')
export class AnsweredSecond {
  @PrimaryColumn({ type: 'timestamptz', primaryKeyConstraintName: 'pk_answered_seconds' }) second: Date;
}
