import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/**
 * The frames that a run has sent and that are kept. A row apart from the run's request queue, so that storing frames does not
 * lock out senders of requests.
 */
@Entity('run_frame_logs')
@ForeignKey('Run', ['tenant_id', 'run_id'], ['tenant_id', 'run_id'], { name: 'fk_run_frame_logs_run' })
export class RunFrameLog {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint({ default: 0 }) last: number;
  /** Number of the last frame that is no longer kept. */
  @Col.bigint({ default: 0 }) dropped: number;
  /** Bytes of the frames after `dropped`, with the overhead of each batch. */
  @Col.bigint({ default: 0 }) kept_bytes: number;
}
