import { Check, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** An answer of a server of SQL that has come ahead of being asked for, until the server knows who has it; it is among the frames of the run. */
@Entity('thrift_answers_ahead')
@Check('ck_thrift_answers_ahead_frames', '(key IS NULL) = (first IS NULL) AND (key IS NULL) = (last IS NULL)')
// It goes with the frames.
@ForeignKey('RunFrameLog', ['run_id'], ['run_id'], { name: 'fk_thrift_answers_ahead_log', onDelete: 'CASCADE' })
export class ThriftAnswerAhead {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @PrimaryColumn({ type: 'text' }) call_id: string;
  /** Of what it answers. Null marks the answer to a call whose rows somebody else has claimed: it must not be given. */
  @Col.text({ nullable: true }) key: string | null;
  /** Numbers of its frames. */
  @Col.bigint({ nullable: true }) first: number | null;
  @Col.bigint({ nullable: true }) last: number | null;
  /** Whether somebody has got it. */
  @Col.bool({ default: false }) claimed: boolean;
}
