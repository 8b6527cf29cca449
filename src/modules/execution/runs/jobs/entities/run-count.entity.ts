import { Entity, Index } from 'typeorm';
import { Col } from '../../../../../platform/kernel/persistence/columns';
import type { RunStatus } from '../run-state';

/**
 * How many runs of a workspace and a cluster are in a status: the sum of its rows. Each change of a run adds rows, so
 * that none waits for another; now and then they are folded into one.
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
  /** Added to their number; negative for what left the status. */
  @Col.bigint() runs: number;
  /** Whether changes are folded into it. */
  @Col.bool({ default: false }) is_total: boolean;
}
