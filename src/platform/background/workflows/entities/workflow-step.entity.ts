import { ForeignKey, Entity, Index } from 'typeorm';
import { Col } from '../../../kernel/persistence/columns';
import { WorkflowJobInstance } from './workflow-job-instance.entity';

/** Problems of single parts of a workflow's subject by their ids, such as the nodes of a cluster. */
export type PartProblems = Readonly<Record<number, string>>;

/** An attempt of a step. The operations for workflow errors read these rows. */
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
  /** `done`, `waiting`, `failed`, `superseded`, `given-up`, or `interrupted` if the worker died or stopped during it. */
  @Col.text({ nullable: true }) outcome: string | null;
  /** The reason why it failed or waits. */
  @Col.text({ nullable: true }) error: string | null;
  /** Problems of single parts of the subject; null if the error concerns all of it. */
  @Col.json({ nullable: true }) part_errors: PartProblems | null;
}
