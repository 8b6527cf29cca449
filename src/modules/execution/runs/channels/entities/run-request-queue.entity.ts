import { Check, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

@Entity('run_request_queues')
@Check('ck_run_request_queues_acknowledged', 'acknowledged BETWEEN 0 AND last')
@ForeignKey('Run', ['tenant_id', 'run_id'], ['tenant_id', 'run_id'], { name: 'fk_run_request_queues_run' })
export class RunRequestQueue {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint({ default: 0 }) last: number;
  /** The node has stored all requests up to this number; they are deleted here. */
  @Col.bigint({ default: 0 }) acknowledged: number;
  @Col.bigint({ default: 0 }) waiting_bytes: number;
}
