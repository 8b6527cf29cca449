import { type Page, pageOf, type PageRequest } from '../../kernel/dto/page';
import type { Tx } from '../../kernel/persistence/sql';
import { failedSteps } from './workflow.repository';

export interface WorkflowErrorEntry {
  workflow_error_id: number;
  workflow_job_instance_id: number;
  error: string;
  from_date: Date;
  to_date: 'infinity';
}

/**
 * Returns a page of the failed attempts of the workflow instances' steps, newest first.
 * @param partId part of the subject, such as a node, whose errors are requested: an attempt that has an error of this part
 *   shows it instead of the whole error
 */
export async function workflowErrors(
  tx: Tx,
  instanceIds: readonly number[],
  page: PageRequest,
  partId: number | null = null,
): Promise<Page<WorkflowErrorEntry>> {
  const { data, total } = await failedSteps(tx, instanceIds, page);
  const entries = data.map((step) => {
    const error = (partId === null ? null : step.part_errors?.[partId]) ?? step.error;
    return {
      workflow_error_id: step.workflow_step_id,
      workflow_job_instance_id: step.workflow_job_instance_id,
      error: step.name === 'end' ? error : `${step.name}: ${error}`,
      from_date: step.ended_at,
      to_date: 'infinity' as const,
    };
  });
  return pageOf(entries, total, page);
}
