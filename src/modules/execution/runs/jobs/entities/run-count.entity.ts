import { Entity, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import type { RunStatus } from '../run-state';

/**
 * The number of runs in a status, by workspace and cluster, is the sum of these rows. Each transition of a run adds rows, so that
 * transitions do not wait for each other; the rows are folded into one from time to time.
 */
@Entity('run_counts')
@Index('ix_run_counts_workspace', ['workspace_id'])
@Index('ix_run_counts_cluster', ['cluster_id'])
@Index('ix_run_counts_changes', ['run_count_id'], { where: 'NOT is_total' })
@Index('uq_run_counts_total', ['workspace_id', 'cluster_id', 'status'], { unique: true, where: 'is_total' })
export class RunCount {
  @Col.identity() run_count_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint() workspace_id: number;
  @Col.bigint() cluster_id: number;
  @Col.text() status: RunStatus;
  /** Change of the number; negative for runs that left the status. */
  @Col.bigint() runs: number;
  /** True for the row into which changes are folded. */
  @Col.bool({ default: false }) is_total: boolean;
}
