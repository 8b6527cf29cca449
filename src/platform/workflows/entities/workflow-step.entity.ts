import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Col } from '../../persistence/columns';
import { WorkflowJobInstance } from './workflow-job-instance.entity';

/** One attempt of one step: what the workflow-error operations read. */
@Entity('workflow_steps')
@Index('ix_workflow_steps_instance', ['workflowJobInstanceId'])
export class WorkflowStep {
  @Col.identity('workflow_step_id') workflowStepId: string;
  @Col.bigint('workflow_job_instance_id') workflowJobInstanceId: string;
  @ManyToOne(() => WorkflowJobInstance)
  @JoinColumn({ name: 'workflow_job_instance_id', foreignKeyConstraintName: 'fk_workflow_steps_instance' })
  instance: WorkflowJobInstance;
  @Col.text('name') name: string;
  @Col.int('attempt') attempt: number;
  @Col.time('started_at', { default: () => 'now()' }) startedAt: Date;
  @Col.time('ended_at', { nullable: true }) endedAt: Date | null;
  /** done, waiting, failed, superseded, or interrupted when the worker died in it. */
  @Col.text('outcome', { nullable: true }) outcome: string | null;
  @Col.text('error', { nullable: true }) error: string | null;
}
