import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { RunFrameLog } from './run-frame-log.entity';

/** Frames that the process of a run has said, as many as its node has sent at once. */
@Entity('run_frames')
export class RunFrames {
  @ForeignKey(() => RunFrameLog, { name: 'fk_run_frames_log' })
  @PrimaryColumn({ type: 'bigint' })
  run_id: number;
  /** Number of the last of them. */
  @PrimaryColumn({ type: 'bigint' }) last: number;
  @Col.bigint() first: number;
  /** Length of the records. */
  @Col.int() bytes: number;
  /** As `channel-records.ts` has them on the wire. */
  @Col.bytes() records: Buffer;
}
