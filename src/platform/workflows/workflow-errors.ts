import { type Page, pageOf, type PageRequest } from '../http/page';
import { firstRow, rows, type Tx } from '../persistence/sql';

export interface WorkflowErrorEntry {
  workflow_error_id: number;
  workflow_job_instance_id: number;
  error: string;
  from_date: Date;
  to_date: 'infinity';
}

/** A page of what went wrong in the given workflow instances, newest first: the failed attempts of their steps. */
export async function workflowErrors(
  tx: Tx,
  instanceIds: readonly number[],
  page: PageRequest,
): Promise<Page<WorkflowErrorEntry>> {
  const where = 'workflow_job_instance_id = ANY($1) AND error IS NOT NULL';
  const counted = await firstRow<{ total: number }>(tx, `SELECT count(*) AS total FROM workflow_steps WHERE ${where}`, [
    instanceIds,
  ]);
  const found = await rows<{
    workflow_step_id: number;
    workflow_job_instance_id: number;
    name: string;
    error: string;
    ended_at: Date;
  }>(
    tx,
    `SELECT workflow_step_id, workflow_job_instance_id, name, error, ended_at FROM workflow_steps WHERE ${where}
     ORDER BY workflow_step_id DESC LIMIT $2 OFFSET $3`,
    [instanceIds, page.limit, (page.pageNumber - 1) * page.limit],
  );
  const entries = found.map((step) => ({
    workflow_error_id: step.workflow_step_id,
    workflow_job_instance_id: step.workflow_job_instance_id,
    error: step.name === 'end' ? step.error : `${step.name}: ${step.error}`,
    from_date: step.ended_at,
    to_date: 'infinity' as const,
  }));
  return pageOf(entries, counted?.total ?? 0, page);
}
