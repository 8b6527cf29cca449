import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Col, ValidityColumns } from '../../persistence/columns';
import { WorkflowJob } from './workflow-job.entity';

/** One execution of a workflow job, with its lease, its place in the steps and its deadlines. */
@Entity('workflow_job_instances')
@Index('ix_workflow_job_instances_due', ['dueAt'], { where: 'ended_at IS NULL' })
@Index('ix_workflow_job_instances_job', ['workflowJobId'])
export class WorkflowJobInstance extends ValidityColumns {
  @Col.identity('workflow_job_instance_id') workflowJobInstanceId: string;
  @Col.bigint('workflow_job_id') workflowJobId: string;
  @ManyToOne(() => WorkflowJob)
  @JoinColumn({ name: 'workflow_job_id', foreignKeyConstraintName: 'fk_workflow_job_instances_job' })
  workflowJob: WorkflowJob;
  /** Null for executions that no worker drives: the API and the agents' reports do. */
  @Col.text('job_name', { nullable: true }) jobName: string | null;
  @Col.text('state', { default: 'INIT' }) state: string;
  @Col.int('step_index', { default: 0 }) stepIndex: number;
  @Col.int('attempt', { default: 0 }) attempt: number;
  /** Set once a step has failed for good; from then on the compensation runs. */
  @Col.json('failure', { nullable: true }) failure: unknown;
  @Col.text('lease_owner', { nullable: true }) leaseOwner: string | null;
  @Col.time('lease_until', { nullable: true }) leaseUntil: Date | null;
  @Col.bool('wake_requested', { default: false }) wakeRequested: boolean;
  /** When the reconciler must look if nothing happened before. */
  @Col.time('due_at', { nullable: true }) dueAt: Date | null;
  @Col.time('deadline_at', { nullable: true }) deadlineAt: Date | null;
  @Col.time('ended_at', { nullable: true }) endedAt: Date | null;
  @Col.text('correlation_id') correlationId: string;
  /** Process that last held the lease: host, pid, user. */
  @Col.json('executor', { nullable: true }) executor: unknown;
}
