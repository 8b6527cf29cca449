import { Check, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col, oneOf } from '../../../../../platform/kernel/persistence/columns';
import { STORED_KERNEL_STATES, type StoredKernelState } from '../kernel-state';

/** The kernel of a notebook instance, as its node last said that it is. */
@Entity('kernels')
@Index('ix_kernels_last_activity', ['last_activity'], { where: 'NOT is_cleared' })
@Check('ck_kernels_state', oneOf('state', STORED_KERNEL_STATES))
@ForeignKey('Run', ['tenant_id', 'run_id'], ['tenant_id', 'run_id'], { name: 'fk_kernels_run' })
@ForeignKey('NotebookRevision', ['tenant_id', 'notebook_revision_id'], ['tenant_id', 'notebook_revision_id'], {
  name: 'fk_kernels_revision',
})
export class Kernel {
  @PrimaryColumn({ type: 'bigint' }) run_id: number;
  @Col.uuid() tenant_id: string;
  @Col.uuid() kernel_id: string;
  /** Counts the kernels that the instance has had, from 1: each restart begins another. */
  @Col.int({ default: 1 }) generation: number;
  @Col.text({ default: 'starting' }) state: StoredKernelState;
  /** Why it is dead. */
  @Col.text({ nullable: true }) reason: string | null;
  @Col.time({ default: () => 'platform_now()' }) last_activity: Date;
  /** How many requests to execute code it has been sent. */
  @Col.bigint({ default: 0 }) requests: number;
  /** Whether nothing is kept for its clients any longer. */
  @Col.bool({ default: false }) is_cleared: boolean;
  /** What the notebook was when its instance began; null for a configuration without one. */
  @Col.bigint({ nullable: true }) notebook_revision_id: number | null;
}
