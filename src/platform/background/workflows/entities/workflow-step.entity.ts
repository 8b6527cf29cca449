import { ForeignKey, Entity, Index } from 'typeorm';
import { Col } from '../../../kernel/persistence/columns';
import { WorkflowJobInstance } from './workflow-job-instance.entity';

/** What went wrong with single parts of a workflow's subject, by their ids: of a cluster, its nodes. */
export type PartProblems = Readonly<Record<number, string>>;

/** One attempt of one step: what the workflow-error operations read. */
@Entity('workflow_steps')
@Index('ix_workflow_steps_instance', ['workflow_job_instance_id'])
export class WorkflowStep {
  @Col.identity() workflow_step_id: number;
  @ForeignKey(() => WorkflowJobInstance, { name: 'fk_workflow_steps_instance' })
  @Col.bigint()
  workflow_job_instance_id: number;
  @Col.text() name: string;
  @Col.int() attempt: number;
  @Col.time({ default: () => 'platform_now()' }) started_at: Date;
  @Col.time({ nullable: true }) ended_at: Date | null;
  /** done, waiting, failed, superseded, or interrupted when the worker died in it. */
  @Col.text({ nullable: true }) outcome: string | null;
  /** Why it failed, or has to wait. */
  @Col.text({ nullable: true }) error: string | null;
  /** What of that is about single parts of the subject, by their ids; null if it is about all of it. */
  @Col.json({ nullable: true }) part_errors: PartProblems | null;
}
