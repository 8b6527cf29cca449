import { correlationId } from '../context/request-context';
import { enqueue } from '../outbox/outbox';
import { insertRow, returning, rows, type Tx } from '../persistence/sql';
import type { JobName } from '../queues/job-catalogue';
import { WorkflowJob } from './entities/workflow-job.entity';
import { WorkflowJobInstance } from './entities/workflow-job-instance.entity';

/** Workflow types of the lookup table, by name. */
export const WORKFLOW_TYPE_IDS = {
  spark_start: 0,
  spark_kill: 1,
  cosi_start: 2,
  cosi_stop: 3,
  cosi_destroy: 4,
  cosi_kill_all_jobs_by_cluster: 5,
} as const;

export type WorkflowType = keyof typeof WORKFLOW_TYPE_IDS;
export type WorkflowExecutionState =
  'INIT' | 'LOCK' | 'SENT' | 'RECEIVED' | 'EXECUTING' | 'DONE' | 'ERROR' | 'TERMINATED';

export interface WorkflowRef {
  workflow_job_id: number;
  workflow_job_instance_id: number;
}

interface NewWorkflow {
  type: WorkflowType;
  tenantId: string;
  userId: number | null;
  clusterId: number | null;
  runId?: number | null;
  /** The job that drives it; null when the API and the agents' reports do. */
  jobName: Extract<JobName, 'cluster.start' | 'cluster.stop' | 'cluster.destroy'> | null;
  /** It fails when it has not ended by then; milliseconds. */
  deadlineMs: number | null;
}

const FIRST_LOOK_SECONDS = 10;

/** Writes an intent: job, instance, first state and the outbox row that sends it, all in the caller's transaction. */
export async function startWorkflow(tx: Tx, intent: NewWorkflow): Promise<WorkflowRef> {
  const job = await insertRow(tx, WorkflowJob, {
    workflow_type_id: WORKFLOW_TYPE_IDS[intent.type],
    tenant_id: intent.tenantId,
    cluster_id: intent.clusterId,
    run_id: intent.runId ?? null,
    created_by_user_id: intent.userId,
  });
  const now = Date.now();
  const instance = await insertRow(tx, WorkflowJobInstance, {
    workflow_job_id: job.workflow_job_id,
    job_name: intent.jobName,
    state: intent.jobName ? 'INIT' : 'EXECUTING',
    correlation_id: correlationId(),
    due_at: intent.jobName ? new Date(now + FIRST_LOOK_SECONDS * 1000) : null,
    deadline_at: intent.deadlineMs === null ? null : new Date(now + intent.deadlineMs),
  });
  const ref = { workflow_job_id: job.workflow_job_id, workflow_job_instance_id: instance.workflow_job_instance_id };
  await appendWorkflowState(tx, ref.workflow_job_instance_id, intent.jobName ? 'INIT' : 'EXECUTING');
  if (intent.jobName) await enqueue(tx, intent.jobName, { workflow_job_instance_id: ref.workflow_job_instance_id });
  return ref;
}

/** Closes the current state row of an instance and opens the next. */
export async function appendWorkflowState(tx: Tx, instanceId: number, state: WorkflowExecutionState): Promise<void> {
  await tx.query(
    `UPDATE workflow_job_instance_states SET to_date = platform_now() WHERE workflow_job_instance_id = $1 AND to_date = 'infinity'`,
    [instanceId],
  );
  await tx.query('INSERT INTO workflow_job_instance_states (workflow_job_instance_id, state) VALUES ($1, $2)', [
    instanceId,
    state,
  ]);
}

/** Ends an instance that no worker drives, or one that another intent has replaced. Does nothing when it has ended. */
export async function endWorkflow(
  tx: Tx,
  instanceId: number,
  state: Extract<WorkflowExecutionState, 'DONE' | 'ERROR' | 'TERMINATED'>,
  error: string | null = null,
): Promise<void> {
  const ended = await returning(
    tx,
    `UPDATE workflow_job_instances SET state = $2, ended_at = platform_now(), to_date = platform_now(), due_at = NULL, lease_owner = NULL,
       lease_until = NULL WHERE workflow_job_instance_id = $1 AND ended_at IS NULL RETURNING workflow_job_instance_id`,
    [instanceId, state],
  );
  if (ended.length === 0) return;
  await appendWorkflowState(tx, instanceId, state);
  if (error !== null) {
    await tx.query(
      `INSERT INTO workflow_steps (workflow_job_instance_id, name, attempt, ended_at, outcome, error)
       VALUES ($1, 'end', 1, platform_now(), 'failed', $2)`,
      [instanceId, error],
    );
  }
}

/**
 * Continues a waiting instance now. An instance that a worker holds this moment is marked, so that it looks again
 * before it goes to sleep.
 */
export async function wakeWorkflow(tx: Tx, instanceId: number): Promise<void> {
  const [woken] = await returning<{ job_name: JobName | null; correlation_id: string; held: boolean }>(
    tx,
    `UPDATE workflow_job_instances SET wake_requested = true WHERE workflow_job_instance_id = $1 AND ended_at IS NULL
     RETURNING job_name, correlation_id, (lease_owner IS NOT NULL AND lease_until > platform_now()) AS held`,
    [instanceId],
  );
  if (!woken?.job_name || woken.held) return;
  await enqueue(
    tx,
    woken.job_name as 'cluster.start',
    { workflow_job_instance_id: instanceId },
    0,
    woken.correlation_id,
  );
}

interface DueInstance {
  workflow_job_instance_id: number;
  job_name: JobName;
  correlation_id: string;
}

/**
 * Sends again what a crash, a wiped Redis or a lost answer left behind: instances whose moment has passed and that no
 * worker holds. Answers how many.
 */
export async function requeueDueWorkflows(tx: Tx, nextLookMs: number): Promise<number> {
  const due = await rows<DueInstance>(
    tx,
    `SELECT workflow_job_instance_id, job_name, correlation_id FROM workflow_job_instances
     WHERE ended_at IS NULL AND job_name IS NOT NULL AND due_at < platform_now() AND (lease_until IS NULL OR lease_until < platform_now())
     ORDER BY due_at LIMIT 100 FOR UPDATE SKIP LOCKED`,
  );
  for (const instance of due) {
    const payload = { workflow_job_instance_id: instance.workflow_job_instance_id };
    await enqueue(tx, instance.job_name as 'cluster.start', payload, 0, instance.correlation_id);
    await tx.query(
      `UPDATE workflow_job_instances SET due_at = platform_now() + $2 * interval '1 millisecond' WHERE workflow_job_instance_id = $1`,
      [instance.workflow_job_instance_id, nextLookMs],
    );
  }
  return due.length;
}
