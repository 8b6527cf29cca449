import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import { RunRequestQueue } from './run-request-queue.entity';

/** A request to the process of a run. It is kept until the run's node has stored it. */
@Entity('run_requests')
export class RunRequest {
  @ForeignKey(() => RunRequestQueue, { name: 'fk_run_requests_queue' })
  @PrimaryColumn({ type: 'bigint' })
  run_id: number;
  /** Counts from 1 within the run. */
  @PrimaryColumn({ type: 'bigint' }) number: number;
  @Col.bytes() payload: Buffer;
}
