import { Entity, PrimaryColumn } from 'typeorm';

/**
 * A second in which a process that serves agents answered a poll. Only these count towards a node's silence; those no
 * longer needed for that are removed.
 */
@Entity('answered_seconds')
export class AnsweredSecond {
  @PrimaryColumn({ type: 'timestamptz', primaryKeyConstraintName: 'pk_answered_seconds' }) second: Date;
}
