import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** A request to execute code that a kernel was sent: the same `msg_id` is executed once. */
@Entity('kernel_requests')
@Index('ix_kernel_requests_open', ['run_id', 'sequence'], { where: 'answered_at IS NULL' })
@Index('ix_kernel_requests_sequence', ['run_id', 'sequence'])
@ForeignKey('Kernel', ['run_id'], ['run_id'], { name: 'fk_kernel_requests_kernel' })
export class KernelRequest {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @PrimaryColumn({ type: 'text' }) msg_id: string;
  /** Counts the requests of the instance. */
  @Col.bigint() sequence: number;
  @Col.int() generation: number;
  @Col.time({ default: () => 'platform_now()' }) asked_at: Date;
  @Col.time({ nullable: true }) answered_at: Date | null;
  /** Content of the `execute_reply`; null until there is one, and for one that was too long to keep. */
  @Col.json({ nullable: true }) reply: Record<string, unknown> | null;
}
