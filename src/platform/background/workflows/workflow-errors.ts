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
 * A page of what went wrong in the given workflow instances, newest first: the failed attempts of their steps.
 * @param partId the part of their subject that is asked about: an attempt that went wrong with it is told by what it says
 *   of this part
 */
export async function workflowErrors(
  tx: Tx,
  instanceIds: readonly number[],
  page: PageRequest,
  partId: number | null = null,
): Promise<Page<WorkflowErrorEntry>> {
  const { data, total } = await failedSteps(tx, instanceIds, page);
  const entries = data.map((step) => {
    const said = (partId === null ? null : step.part_errors?.[partId]) ?? step.error;
    return {
      workflow_error_id: step.workflow_step_id,
      workflow_job_instance_id: step.workflow_job_instance_id,
      error: step.name === 'end' ? said : `${step.name}: ${said}`,
      from_date: step.ended_at,
      to_date: 'infinity' as const,
    };
  });
  return pageOf(entries, total, page);
}
