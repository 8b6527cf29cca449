import { Entity, Index } from 'typeorm';
import { Col } from '../../persistence/columns';

/** One intent that a worker carries out: which kind, for whom, about what. */
@Entity('workflow_jobs')
@Index('ix_workflow_jobs_cluster', ['cluster_id'])
@Index('ix_workflow_jobs_run', ['run_id'])
export class WorkflowJob {
  @Col.identity() workflow_job_id: number;
  @Col.int() workflow_type_id: number;
  @Col.uuid() tenant_id: string;
  @Col.bigint({ nullable: true }) cluster_id: number | null;
  @Col.bigint({ nullable: true }) run_id: number | null;
  @Col.bigint({ nullable: true }) created_by_user_id: number | null;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
}
