import { Entity, Index } from 'typeorm';
import { Col } from '../../persistence/columns';

/** One intent that a worker carries out: which kind, for whom, about what. */
@Entity('workflow_jobs')
@Index('ix_workflow_jobs_cluster', ['clusterId'])
@Index('ix_workflow_jobs_run', ['runId'])
export class WorkflowJob {
  @Col.identity('workflow_job_id') workflowJobId: string;
  @Col.int('workflow_type_id') workflowTypeId: number;
  @Col.uuid('tenant_id') tenantId: string;
  @Col.bigint('cluster_id', { nullable: true }) clusterId: string | null;
  @Col.bigint('run_id', { nullable: true }) runId: string | null;
  @Col.bigint('created_by_user_id', { nullable: true }) createdByUserId: string | null;
  @Col.time('created_at', { default: () => 'now()' }) createdAt: Date;
}
