import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import { Col, oneOf, TenantColumns } from '../../../../../platform/kernel/persistence/columns';
import { KeepsInUse, RecordKind } from '../../../../../platform/http/resources/record-kind';
import { HasLogs } from '../../../../infrastructure/storage';
import { RUN_RESOURCES, type RunResource } from '../job-types';
import type { JobConfSnapshot } from '../run-spec';
import { RUN_STATUSES, type RunStatus } from '../run-state';

/** SQL condition: the run waits for a slot of its cluster. Clusters scale up for such runs. */
export const IS_WAITING = 'ended_at IS NULL AND node_id IS NULL';

/** A job or notebook instance: one run of a configuration, with the settings at its submission. */
@Entity('runs')
@Unique('uq_runs_tenant_id', ['tenant_id', 'run_id'])
@Index('ix_runs_workspace', ['workspace_id', 'kind', 'run_id'])
// The lists across workspaces (RunListsRepository), by what is filtered and sorted.
@Index('ix_runs_list', ['tenant_id', 'from_date', 'run_id'])
@Index('ix_runs_submitted', ['workspace_id', 'from_date', 'run_id'])
@Index('ix_runs_author', ['created_by_user_id', 'from_date', 'run_id'])
@Index('ix_runs_cluster', ['cluster_id', 'from_date', 'run_id'])
@Index('ix_runs_unfinished', ['workspace_id', 'from_date', 'run_id'], { where: 'ended_at IS NULL' })
@Index('ix_runs_started', ['workspace_id', 'assigned_at', 'run_id'], { where: 'assigned_at IS NOT NULL' })
@Index('ix_runs_unusual', ['workspace_id', 'from_date', 'run_id'], {
  where: `job_conf_snapshot->>'job_type' <> 'SPARK_JOB'`,
})
// Indexes on an expression (the time from start to end), and for runs that did not complete, which only the migration can declare.
@Index('ix_runs_duration', { synchronize: false })
@Index('ix_runs_failed', { synchronize: false })
@Index('ix_runs_job_conf', ['job_conf_id', 'run_id'])
@Index('ix_runs_unfinished_cluster', ['cluster_id', 'run_id'], { where: 'ended_at IS NULL' })
@Index('ix_runs_unfinished_job_conf', ['job_conf_id'], { where: 'ended_at IS NULL' })
@Index('ix_runs_waiting', ['cluster_id', 'run_id'], { where: IS_WAITING })
@Index('ix_runs_unfinished_node', ['node_id'], { where: 'ended_at IS NULL' })
@Index('ix_runs_unsummed', ['tenant_id', 'run_id'], { where: 'assigned_at IS NOT NULL AND NOT is_cost_summed' })
@Index('ix_runs_logs', ['ended_at'], { where: 'logs_kept AND ended_at IS NOT NULL' })
// An index on an expression (the name in the snapshot), which only the migration can declare.
@Index('ix_runs_name_part', { synchronize: false })
@Index('ix_runs_application', ['tenant_id', 'application_id'], { where: 'application_id IS NOT NULL' })
@Check('ck_runs_kind', oneOf('kind', RUN_RESOURCES))
@Check('ck_runs_status', oneOf('status', RUN_STATUSES))
@ForeignKey('Workspace', ['tenant_id', 'workspace_id'], ['tenant_id', 'workspace_id'], { name: 'fk_runs_workspace' })
@ForeignKey('RunConfiguration', ['tenant_id', 'job_conf_id'], ['tenant_id', 'job_conf_id'], {
  name: 'fk_runs_job_conf',
})
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], { name: 'fk_runs_cluster' })
@ForeignKey('ClusterNode', ['tenant_id', 'node_id'], ['tenant_id', 'node_id'], { name: 'fk_runs_node' })
@RecordKind({ code: 'JOB', label: 'job' })
@HasLogs('run', 'ended_at')
@KeepsInUse({
  kept: 'Tenant',
  column: 'tenant_id',
  condition: 't.ended_at IS NULL',
  columns: 't.run_id',
  code: 'TENANT.IN_USE',
  named: ({ run_id }) => String(run_id),
  message: (names) => `The tenant has the unfinished jobs ${names}. Stop them first.`,
  details: (runs) => ({ job_ids: runs.map(({ run_id }) => run_id) }),
})
export class Run extends TenantColumns {
  @Col.identity() run_id: number;
  @Col.bigint() workspace_id: number;
  @Col.text({ default: 'job' }) kind: RunResource;
  @Col.bigint() job_conf_id: number;
  @Col.bigint() cluster_id: number;
  /** Null while the run waits for a slot. */
  @Col.bigint({ nullable: true }) node_id: number | null;
  @Col.text() status: RunStatus;
  /** Name, type, language and settings of the configuration when the run was submitted. */
  @Col.json() job_conf_snapshot: JobConfSnapshot;
  @Col.text({ nullable: true }) arguments: string | null;
  @Col.texts({ nullable: true }) conf: string[] | null;
  @Col.text({ nullable: true }) application_id: string | null;
  @Col.int({ nullable: true }) exit_code: number | null;
  @Col.text({ nullable: true }) reason_code: string | null;
  @Col.text({ nullable: true }) reason: string | null;
  /** True if a warm driver took the run, false if a driver was started for it; null until the agent says so, or if it does not. */
  @Col.bool({ nullable: true }) started_warm: boolean | null;
  /** The reason why a driver was started for the run, as the agent reports it. */
  @Col.text({ nullable: true }) cold_reason: string | null;
  /** Memory that its driver requested, MiB, as the agent reports it with the end; null if `peak_memory_mb` is, too. */
  @Col.int({ nullable: true }) requested_memory_mb: number | null;
  /** Highest memory of its processes on its node, MiB; null if they were not measured. Neither is more than the node has. */
  @Col.int({ nullable: true }) peak_memory_mb: number | null;
  /** Sequence number of the last report of the agent that was applied. */
  @Col.bigint({ default: 0 }) report_seq: number;
  @Col.bool({ default: false }) stop_requested: boolean;
  @Col.text() correlation_id: string;
  /** Id of the run as a workflow in responses; it is drawn from the ids of workflows, so that no workflow has the same. */
  @Col.bigint() workflow_job_instance_id: number;
  @Col.time({ nullable: true }) assigned_at: Date | null;
  @Col.time({ nullable: true }) ended_at: Date | null;
  /** True once its share of the ledger is in the sums by day, which `costs` keeps. */
  @Col.bool({ default: false }) is_cost_summed: boolean;
  /** False after its logs were removed. */
  @Col.bool({ default: true }) logs_kept: boolean;
  /** True after its complete logs were compacted; only used with stores that keep logs in chunks. */
  @Col.bool({ default: false }) logs_settled: boolean;
}
