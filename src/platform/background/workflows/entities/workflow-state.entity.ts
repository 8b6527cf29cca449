import { ForeignKey, Entity, Index } from 'typeorm';
import { Col, ValidityColumns } from '../../../kernel/persistence/columns';
import type { WorkflowExecutionState } from '../workflow-state';
import { WorkflowJobInstance } from './workflow-job-instance.entity';

/** A state of an execution, and the interval in which it had this state. */
@Entity('workflow_job_instance_states')
@Index('ix_workflow_job_instance_states_instance', ['workflow_job_instance_id'])
export class WorkflowState extends ValidityColumns {
  @Col.identity() workflow_job_instance_state_id: number;
  @ForeignKey(() => WorkflowJobInstance, { name: 'fk_workflow_job_instance_states_instance' })
  @Col.bigint()
  workflow_job_instance_id: number;
  @Col.text() state: WorkflowExecutionState;
}
