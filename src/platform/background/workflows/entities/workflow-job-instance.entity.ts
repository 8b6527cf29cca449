import { ForeignKey, Entity, Index } from 'typeorm';
import { Col, ValidityColumns } from '../../../kernel/persistence/columns';
import type { WorkflowExecutionState } from '../workflow-state';
import { WorkflowJob } from './workflow-job.entity';

/** The step that failed for good, and its error. */
export interface WorkflowFailure {
  step: string;
  message: string;
}

/** A final failure, and the problem of the latest attempt to compensate. */
export interface RecordedFailure extends WorkflowFailure {
  problem?: string;
}

/** An execution of a workflow job, with its lease, its current step and its deadlines. */
@Entity('workflow_job_instances')
@Index('ix_workflow_job_instances_due', ['due_at'], { where: 'ended_at IS NULL' })
@Index('ix_workflow_job_instances_leased', ['lease_owner'], { where: 'lease_owner IS NOT NULL' })
@Index('ix_workflow_job_instances_job', ['workflow_job_id'])
export class WorkflowJobInstance extends ValidityColumns {
  @Col.identity() workflow_job_instance_id: number;
  @ForeignKey(() => WorkflowJob, { name: 'fk_workflow_job_instances_job' })
  @Col.bigint()
  workflow_job_id: number;
  /** Null for executions that no worker runs, because the API and the reports of agents do. */
  @Col.text({ nullable: true }) job_name: string | null;
  @Col.text({ default: 'INIT' }) state: WorkflowExecutionState;
  @Col.int({ default: 0 }) step_index: number;
  @Col.int({ default: 0 }) attempt: number;
  /** Set once a step has failed for good; from then on the compensation runs. */
  @Col.json({ nullable: true }) failure: RecordedFailure | null;
  @Col.text({ nullable: true }) lease_owner: string | null;
  @Col.time({ nullable: true }) lease_until: Date | null;
  @Col.bool({ default: false }) wake_requested: boolean;
  /** Time at which the reconciler enqueues the instance if no worker has continued it. */
  @Col.time({ nullable: true }) due_at: Date | null;
  /** Deadline of the steps; after a failure, of the compensation. */
  @Col.time({ nullable: true }) deadline_at: Date | null;
  @Col.time({ nullable: true }) ended_at: Date | null;
  @Col.text() correlation_id: string;
  /** Host, pid and user of the process that last held the lease. */
  @Col.json({ nullable: true }) executor: Record<string, string> | null;
}
