import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { RunFrameLog } from './run-frame-log.entity';

/** One batch of frames from the process of a run, as its node sent it. */
@Entity('run_frames')
export class RunFrames {
  @ForeignKey(() => RunFrameLog, { name: 'fk_run_frames_log' })
  @PrimaryColumn({ type: 'bigint' })
  run_id: number;
  /** Number of the last frame of the batch. */
  @PrimaryColumn({ type: 'bigint' }) last: number;
  @Col.bigint() first: number;
  @Col.int() bytes: number;
  /** The frames in the wire format of `channel-records.ts`. */
  @Col.bytes() records: Buffer;
}
