import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Col, ValidityColumns } from '../../persistence/columns';
import { WorkflowJobInstance } from './workflow-job-instance.entity';

/** Each state an execution was in, and from when to when. */
@Entity('workflow_job_instance_states')
@Index('ix_workflow_job_instance_states_instance', ['workflowJobInstanceId'])
export class WorkflowState extends ValidityColumns {
  @Col.identity('workflow_job_instance_state_id') workflowJobInstanceStateId: string;
  @Col.bigint('workflow_job_instance_id') workflowJobInstanceId: string;
  @ManyToOne(() => WorkflowJobInstance)
  @JoinColumn({
    name: 'workflow_job_instance_id',
    foreignKeyConstraintName: 'fk_workflow_job_instance_states_instance',
  })
  instance: WorkflowJobInstance;
  @Col.text('state') state: string;
}
