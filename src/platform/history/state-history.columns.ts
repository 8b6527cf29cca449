import { Col } from '../persistence/columns';

/** Columns that every state history has. */
export abstract class StateHistoryColumns {
  /** Counts the subject's entries from 1 without holes. */
  @Col.int('sequence') sequence: number;
  @Col.text('from_status', { nullable: true }) fromStatus: string | null;
  @Col.text('status') status: string;
  @Col.text('reason', { nullable: true }) reason: string | null;
  @Col.bigint('actor_user_id', { nullable: true }) actorUserId: string | null;
  @Col.time('start_time') startTime: Date;
  @Col.time('end_time', { default: 'infinity' }) endTime: Date;
}
