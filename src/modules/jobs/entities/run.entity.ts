import { Check, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { Col, TenantColumns } from '../../../platform/persistence/columns';
import { RUN_STATUSES } from '../run-state';

/** A job instance: one run of a configuration, with the settings it was submitted with. */
@Entity('runs')
@Unique('uq_runs_tenant_id', ['tenantId', 'runId'])
@Index('ix_runs_workspace', ['workspaceId', 'runId'])
@Index('ix_runs_job_conf', ['jobConfId', 'runId'])
@Index('ix_runs_unfinished_cluster', ['clusterId', 'runId'], { where: 'ended_at IS NULL' })
@Index('ix_runs_unfinished_node', ['nodeId'], { where: 'ended_at IS NULL' })
@Index('ix_runs_logs', ['endedAt'], { where: 'logs_kept AND ended_at IS NOT NULL' })
// Of the name in the snapshot: an expression, which only the migration can say.
@Index('ix_runs_name_part', { synchronize: false })
@Index('ix_runs_application', ['tenantId', 'applicationId'], { where: 'application_id IS NOT NULL' })
@Check('ck_runs_status', `status IN (${RUN_STATUSES.map((s) => `'${s}'`).join(', ')})`)
export class Run extends TenantColumns {
  @Col.identity('run_id') runId: string;
  @Col.bigint('workspace_id') workspaceId: string;
  @ManyToOne('Workspace')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_runs_workspace' },
    { name: 'workspace_id', referencedColumnName: 'workspaceId', foreignKeyConstraintName: 'fk_runs_workspace' },
  ])
  workspace: unknown;
  @Col.bigint('job_conf_id') jobConfId: string;
  @ManyToOne('JobConf')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_runs_job_conf' },
    { name: 'job_conf_id', referencedColumnName: 'jobConfId', foreignKeyConstraintName: 'fk_runs_job_conf' },
  ])
  jobConf: unknown;
  @Col.bigint('cluster_id') clusterId: string;
  @ManyToOne('Cluster')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_runs_cluster' },
    { name: 'cluster_id', referencedColumnName: 'clusterId', foreignKeyConstraintName: 'fk_runs_cluster' },
  ])
  cluster: unknown;
  /** Null while the run waits for a slot. */
  @Col.bigint('node_id', { nullable: true }) nodeId: string | null;
  @ManyToOne('ClusterNode', { nullable: true })
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_runs_node' },
    { name: 'node_id', referencedColumnName: 'nodeId', foreignKeyConstraintName: 'fk_runs_node' },
  ])
  node: unknown;
  @Col.text('status') status: string;
  /** Configuration as it was when the run was submitted: name, type, language, settings. */
  @Col.json('job_conf_snapshot') jobConfSnapshot: unknown;
  @Col.text('arguments', { nullable: true }) arguments: string | null;
  @Col.texts('conf', { nullable: true }) conf: string[] | null;
  @Col.text('application_id', { nullable: true }) applicationId: string | null;
  @Col.int('exit_code', { nullable: true }) exitCode: number | null;
  @Col.text('reason_code', { nullable: true }) reasonCode: string | null;
  @Col.text('reason', { nullable: true }) reason: string | null;
  /** Sequence number of the last report of the agent that was taken in. */
  @Col.bigint('report_seq', { default: 0 }) reportSeq: string;
  @Col.bool('stop_requested', { default: false }) stopRequested: boolean;
  @Col.text('correlation_id') correlationId: string;
  @Col.bigint('workflow_job_instance_id') workflowJobInstanceId: string;
  @Col.bigint('stop_workflow_job_instance_id', { nullable: true }) stopWorkflowJobInstanceId: string | null;
  @Col.time('assigned_at', { nullable: true }) assignedAt: Date | null;
  @Col.time('ended_at', { nullable: true }) endedAt: Date | null;
  /** False once its logs were removed. */
  @Col.bool('logs_kept', { default: true }) logsKept: boolean;
  /** Its logs, which are complete, are in as few pieces as the store takes; only of stores that keep pieces. */
  @Col.bool('logs_settled', { default: false }) logsSettled: boolean;
}
