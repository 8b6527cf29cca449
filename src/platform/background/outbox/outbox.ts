import { correlationId } from '../../kernel/context/request-context';
import type { Tx } from '../../kernel/persistence/sql';
import type { JobName, PayloadOf, WorkflowPayload } from '../queues/job-catalogue';
import { notifyAfterCommit } from '../../kernel/notifications/after-commit';
import { insertMessage } from './outbox.repository';

/** Enqueues a job of the catalogue when the transaction commits, and then notifies the relay. */
export async function enqueue<N extends JobName>(tx: Tx, jobName: N, payload: PayloadOf<N>): Promise<void> {
  await insertMessage(tx, { job_name: jobName, payload, correlation_id: correlationId(), delay_ms: 0 });
  await notifyAfterCommit(tx, 'outbox');
}

/**
 * Enqueues the job that continues a workflow when the transaction commits.
 * @param correlation id of the request that started the workflow, if it is not the current one
 */
export async function enqueueWorkflow(
  tx: Tx,
  jobName: string,
  instanceId: number,
  { delayMs = 0, correlation = correlationId() }: { delayMs?: number; correlation?: string } = {},
): Promise<void> {
  const payload: WorkflowPayload = { workflow_job_instance_id: instanceId };
  await insertMessage(tx, { job_name: jobName, payload, correlation_id: correlation, delay_ms: delayMs });
  await notifyAfterCommit(tx, 'outbox');
}
