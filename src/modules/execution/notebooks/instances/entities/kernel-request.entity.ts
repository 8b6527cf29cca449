import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** An execute request that was sent to a kernel. The same `msg_id` is executed only once. */
@Entity('kernel_requests')
@Index('ix_kernel_requests_open', ['run_id', 'sequence'], { where: 'answered_at IS NULL' })
@Index('ix_kernel_requests_sequence', ['run_id', 'sequence'])
@ForeignKey('Kernel', ['run_id'], ['run_id'], { name: 'fk_kernel_requests_kernel' })
export class KernelRequest {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @PrimaryColumn({ type: 'text' }) msg_id: string;
  @Col.bigint() sequence: number;
  @Col.int() generation: number;
  @Col.time({ default: () => 'platform_now()' }) asked_at: Date;
  @Col.time({ nullable: true }) answered_at: Date | null;
  /** Content of the `execute_reply`; null until it arrives, or if it was too long. */
  @Col.json({ nullable: true }) reply: Record<string, unknown> | null;
}
