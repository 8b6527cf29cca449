import { correlationId } from '../../kernel/context/request-context';
import { enqueueWorkflow } from '../outbox/outbox';
import type { Tx } from '../../kernel/persistence/sql';
import type { SubjectKind } from './entities/workflow-job.entity';
import type { WorkflowDefinition, WorkflowSubject } from './workflow-definition';
import { insertWorkflow, releaseLeasesOf, requestWake, postponeDue, type WorkflowRef } from './workflow.repository';

export { hasDueInstances, hasLeases, hasWorkflowEnded, type WorkflowRef } from './workflow.repository';

/**
 * Starts a workflow: inserts its job, instance, first state and outbox row in the caller's transaction.
 * @param userId user who requested it; null for the platform itself
 */
export async function startWorkflow<K extends SubjectKind>(
  tx: Tx,
  definition: WorkflowDefinition<K>,
  subject: WorkflowSubject<NoInfer<K>>,
  userId: number | null,
): Promise<WorkflowRef> {
  const ref = await insertWorkflow(tx, definition, subject, { userId, correlationId: correlationId() });
  await enqueueWorkflow(tx, definition.jobName, ref.workflow_job_instance_id);
  return ref;
}

/**
 * Continues a waiting instance now. An instance that a worker holds is marked, so that its step runs again before it waits.
 */
export async function wakeWorkflow(tx: Tx, instanceId: number): Promise<void> {
  const woken = await requestWake(tx, instanceId);
  if (!woken?.job_name || woken.held) return;
  await enqueueWorkflow(tx, woken.job_name, instanceId, { correlation: woken.correlation_id });
}

/**
 * Enqueues overdue instances that no worker holds, which a crash, a wiped Redis or a lost response left behind. Returns
 * their number.
 */
export async function requeueDueWorkflows(tx: Tx, nextCheckMs: number): Promise<number> {
  return requeue(tx, await postponeDue(tx, nextCheckMs));
}

/** Releases and enqueues some of the instances that a dead worker holds. Returns their number. */
export async function requeueLeasesOf(tx: Tx, workerId: number, limit: number): Promise<number> {
  return requeue(tx, await releaseLeasesOf(tx, workerId, limit));
}

async function requeue(tx: Tx, instances: Awaited<ReturnType<typeof postponeDue>>): Promise<number> {
  for (const { workflow_job_instance_id: id, job_name, correlation_id: correlation } of instances)
    await enqueueWorkflow(tx, job_name, id, { correlation });
  return instances.length;
}
