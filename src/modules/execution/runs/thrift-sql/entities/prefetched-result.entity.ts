import { Check, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A prefetched answer of an SQL server, until the server has acknowledged its claim. Its bytes are in the frames of the run. */
@Entity('thrift_answers_ahead')
@Check('ck_thrift_answers_ahead_frames', '(key IS NULL) = (first IS NULL) AND (key IS NULL) = (last IS NULL)')
// Deleted together with the frames.
@ForeignKey('RunFrameLog', ['run_id'], ['run_id'], { name: 'fk_thrift_answers_ahead_log', onDelete: 'CASCADE' })
export class PrefetchedResult {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @PrimaryColumn({ type: 'text' }) call_id: string;
  /** Key of the fetch that it answers. Null marks a call whose rows were already claimed, so that its answer must not be returned. */
  @Col.text({ nullable: true }) key: string | null;
  /** Range of its frames. */
  @Col.bigint({ nullable: true }) first: number | null;
  @Col.bigint({ nullable: true }) last: number | null;
  /** True after a client received it. */
  @Col.bool({ default: false }) claimed: boolean;
}
