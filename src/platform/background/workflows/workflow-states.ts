import { rows, type Tx } from '../../kernel/persistence/sql';
import type { WorkflowState } from './entities/workflow-state.entity';

/** The states that an execution has been in, oldest first; the last is the present one. */
export async function workflowStates(tx: Tx, instanceId: number): Promise<string[]> {
  const states = await rows<Pick<WorkflowState, 'state'>>(
    tx,
    `SELECT state FROM workflow_job_instance_states WHERE workflow_job_instance_id = $1
     ORDER BY workflow_job_instance_state_id`,
    [instanceId],
  );
  return states.map(({ state }) => state);
}
