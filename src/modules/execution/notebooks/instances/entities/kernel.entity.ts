import { Check, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Col, oneOf } from '../../../../../platform/kernel/persistence/columns';
import { STORED_KERNEL_STATES, type StoredKernelState } from '../kernel-state';

/** The kernel of a notebook instance in the state that its node reported last. */
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
  /** Number of the kernel within the instance, from 1. Each restart starts another kernel. */
  @Col.int({ default: 1 }) generation: number;
  @Col.text({ default: 'starting' }) state: StoredKernelState;
  /** The cause if the kernel is dead. */
  @Col.text({ nullable: true }) reason: string | null;
  @Col.time({ default: () => 'platform_now()' }) last_activity: Date;
  /** Number of execute requests sent to the instance. */
  @Col.bigint({ default: 0 }) requests: number;
  /** True after the requests and the positions of its clients were deleted. */
  @Col.bool({ default: false }) is_cleared: boolean;
  /** Revision of the notebook at the start of the instance; null if the configuration has no notebook. */
  @Col.bigint({ nullable: true }) notebook_revision_id: number | null;
}
