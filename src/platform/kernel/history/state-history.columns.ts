import { Col, type Moment } from '../persistence/columns';

/** Columns that every state history has. */
export abstract class StateHistoryColumns {
  /** Counts the subject's entries from 1 without holes. */
  @Col.int() sequence: number;
  @Col.text({ nullable: true }) from_status: string | null;
  @Col.text() status: string;
  @Col.text({ nullable: true }) reason: string | null;
  @Col.bigint({ nullable: true }) actor_user_id: number | null;
  @Col.time() start_time: Date;
  @Col.time({ default: 'infinity' }) end_time: Moment;
  /** The transaction that committed the entry, by which streams of events find what they have not sent; null in entries of earlier releases. */
  // TypeORM compares defaults without their casts, which the schema has to text and to bigint.
  @Col.bigint({ nullable: true, default: () => '((pg_current_xact_id()))' }) xact_id: number | null;
}
