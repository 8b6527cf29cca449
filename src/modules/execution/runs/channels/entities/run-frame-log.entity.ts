import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** How far the frames of a run have come. A row of its own: whoever asks waits for nobody who answers. */
@Entity('run_frame_logs')
@ForeignKey('Run', ['tenant_id', 'run_id'], ['tenant_id', 'run_id'], { name: 'fk_run_frame_logs_run' })
export class RunFrameLog {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @Col.uuid() tenant_id: string;
  /** Number of the last frame. */
  @Col.bigint({ default: 0 }) last: number;
  /** Number of the last frame that is no longer kept. */
  @Col.bigint({ default: 0 }) dropped: number;
  /** Of the frames behind it, with what each piece costs besides. */
  @Col.bigint({ default: 0 }) kept_bytes: number;
}
