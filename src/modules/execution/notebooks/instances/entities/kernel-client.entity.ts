import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';

/** The position of a session in the frames of an instance. Its next socket resumes there. */
@Entity('kernel_clients')
@Index('ix_kernel_clients_seen', ['run_id', 'seen_at'])
@ForeignKey('Kernel', ['run_id'], ['run_id'], { name: 'fk_kernel_clients_kernel' })
export class KernelClientPosition {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @PrimaryColumn({ type: 'text' }) session_id: string;
  /** Number of the last frame that was delivered. */
  @Col.bigint() delivered: number;
  /** Last time a socket of the session was known to be open; null after it was closed. */
  @Col.time({ nullable: true }) seen_at: Date | null;
  @Col.time({ default: () => 'platform_now()' }) began_at: Date;
}
