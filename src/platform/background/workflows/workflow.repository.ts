import type { Page, PageRequest } from '../../kernel/dto/page';
import { finds, firstRow, returning, rows, type Db, type Tx } from '../../kernel/persistence/sql';
import { SUBJECT_COLUMNS, type WorkflowJob } from './entities/workflow-job.entity';
import type { RecordedFailure, WorkflowFailure, WorkflowJobInstance } from './entities/workflow-job-instance.entity';
import type { WorkflowStep } from './entities/workflow-step.entity';
import type { StepProblem, WorkflowDefinition, WorkflowSubject } from './workflow-definition';
import type { WorkflowExecutionState } from './workflow-state';

export type WorkflowRef = Pick<WorkflowJobInstance, 'workflow_job_id' | 'workflow_job_instance_id'>;

/** Data with which a worker continues an instance that it has claimed. */
export type ClaimedInstance = Pick<
  WorkflowJobInstance,
  'workflow_job_instance_id' | 'step_index' | 'attempt' | 'failure' | 'correlation_id'
> &
  Pick<WorkflowJob, 'tenant_id' | 'cluster_id' | 'created_by_user_id' | 'created_at'>;

/** A claim of an instance. Its writes have no effect once another claim has followed. */
export interface Claim {
  instanceId: number;
  /**
   * Identifies this claim: a worker that claims an instance again is a new owner. It begins with the id of the worker and a
   * colon.
   */
  owner: string;
}

/** Another worker has the lease, or the instance has ended: the claim of this worker is void. */
export class LeaseLostError extends Error {}

/** The end of an attempt of a step; see {@link WorkflowStep.outcome}. */
export interface StepEnd {
  stepId: number;
  outcome: string;
  problem?: StepProblem | null;
}

export type FinalState = Extract<WorkflowExecutionState, 'DONE' | 'ERROR' | 'TERMINATED'>;

/** The reconciler enqueues a new instance again if no worker has claimed it after this time. */
const CLAIM_TIMEOUT_MS = 10_000;
/** It enqueues a waiting instance again this long after its job was due. */
const DUE_GRACE_MS = 2_000;

const ENDED =
  'ended_at = platform_now(), to_date = platform_now(), due_at = NULL, lease_owner = NULL, lease_until = NULL';

const inMs = (parameter: string) => `platform_now() + ${parameter} * interval '1 millisecond'`;

/** The request that started a workflow. */
export interface WorkflowOrigin {
  /** Null for the platform itself. */
  userId: number | null;
  correlationId: string;
}

/** Inserts a workflow, and its instance in the first state. */
export async function insertWorkflow(
  tx: Tx,
  { typeId, jobName, deadlineMs }: WorkflowDefinition,
  subject: WorkflowSubject,
  { userId, correlationId }: WorkflowOrigin,
): Promise<WorkflowRef> {
  const instance = await firstRow<WorkflowRef>(
    tx,
    `WITH job AS (
       INSERT INTO workflow_jobs (workflow_type_id, tenant_id, ${SUBJECT_COLUMNS[subject.kind]}, created_by_user_id)
       VALUES ($1, $2, $3, $4) RETURNING workflow_job_id),
     instance AS (
       INSERT INTO workflow_job_instances (workflow_job_id, job_name, correlation_id, due_at, deadline_at)
       SELECT workflow_job_id, $5, $6, ${inMs('$7')}, ${inMs('$8')} FROM job
       RETURNING workflow_job_id, workflow_job_instance_id, state),
     first_state AS (
       INSERT INTO workflow_job_instance_states (workflow_job_instance_id, state)
       SELECT workflow_job_instance_id, state FROM instance)
     SELECT workflow_job_id, workflow_job_instance_id FROM instance`,
    [typeId, subject.tenantId, subject.id, userId, jobName, correlationId, CLAIM_TIMEOUT_MS, deadlineMs],
  );
  if (!instance) throw new Error('INSERT INTO workflow_job_instances returned no row');
  return instance;
}

/** Closes the current state rows of instances and appends the next ones. */
export async function appendWorkflowState(
  tx: Tx,
  instanceIds: readonly number[],
  state: WorkflowExecutionState,
): Promise<void> {
  if (instanceIds.length === 0) return;
  await tx.query(
    `WITH closed AS (
       UPDATE workflow_job_instance_states SET to_date = platform_now()
       WHERE workflow_job_instance_id = ANY($1) AND to_date = 'infinity')
     INSERT INTO workflow_job_instance_states (workflow_job_instance_id, state) SELECT unnest($1::bigint[]), $2`,
    [instanceIds, state],
  );
}

/** Records that the jobs of these instances are in the queue. */
export async function markSent(tx: Tx, instanceIds: readonly number[]): Promise<void> {
  const sent = await returning<Pick<WorkflowJobInstance, 'workflow_job_instance_id'>>(
    tx,
    `UPDATE workflow_job_instances SET state = 'SENT' WHERE state = 'INIT' AND workflow_job_instance_id = ANY($1)
     RETURNING workflow_job_instance_id`,
    [instanceIds],
  );
  await appendWorkflowState(tx, idsOf(sent), 'SENT');
}

const idsOf = (instances: readonly Pick<WorkflowJobInstance, 'workflow_job_instance_id'>[]) =>
  instances.map(({ workflow_job_instance_id: id }) => id);

/** Marks an instance, so that a worker that holds it runs its step again before it waits. Returns null if it has ended. */
export async function requestWake(
  tx: Tx,
  instanceId: number,
): Promise<(Pick<WorkflowJobInstance, 'job_name' | 'correlation_id'> & { held: boolean }) | null> {
  const [woken] = await returning<Pick<WorkflowJobInstance, 'job_name' | 'correlation_id'> & { held: boolean }>(
    tx,
    `UPDATE workflow_job_instances SET wake_requested = true WHERE workflow_job_instance_id = $1 AND ended_at IS NULL
     RETURNING job_name, correlation_id, (lease_owner IS NOT NULL AND lease_until > platform_now()) AS held`,
    [instanceId],
  );
  return woken ?? null;
}

const IS_DUE = `ended_at IS NULL AND job_name IS NOT NULL AND due_at < platform_now()
  AND (lease_until IS NULL OR lease_until < platform_now())`;

/** A condition that is true if {@link postponeDue} would find an instance. */
export const hasDueInstances = (): string =>
  finds(`SELECT workflow_job_instance_id FROM workflow_job_instances WHERE ${IS_DUE} ORDER BY due_at`);

/** Locks and returns some of the overdue instances that no worker holds, and postpones their next check. */
export async function postponeDue(
  tx: Tx,
  nextCheckMs: number,
): Promise<(Pick<WorkflowJobInstance, 'workflow_job_instance_id' | 'correlation_id'> & { job_name: string })[]> {
  return returning(
    tx,
    `UPDATE workflow_job_instances i SET due_at = ${inMs('$1')} FROM (
       SELECT workflow_job_instance_id FROM workflow_job_instances
       WHERE ${IS_DUE} ORDER BY due_at LIMIT 100 FOR UPDATE SKIP LOCKED) due
     WHERE i.workflow_job_instance_id = due.workflow_job_instance_id
     RETURNING i.workflow_job_instance_id, i.job_name, i.correlation_id`,
    [nextCheckMs],
  );
}

const HELD_BY_WORKER = `lease_owner IS NOT NULL AND split_part(lease_owner, ':', 1) = $1`;

/** Releases and returns some of the instances that a worker holds. Its claims are then void, and the instances are due soon. */
export async function releaseLeasesOf(
  tx: Tx,
  workerId: number,
  limit: number,
): Promise<(Pick<WorkflowJobInstance, 'workflow_job_instance_id' | 'correlation_id'> & { job_name: string })[]> {
  return returning(
    tx,
    `UPDATE workflow_job_instances i SET lease_owner = NULL, lease_until = NULL, due_at = ${inMs('$3')} FROM (
       SELECT workflow_job_instance_id FROM workflow_job_instances WHERE ${HELD_BY_WORKER}
       LIMIT $2 FOR UPDATE SKIP LOCKED) held
     WHERE i.workflow_job_instance_id = held.workflow_job_instance_id
     RETURNING i.workflow_job_instance_id, i.job_name, i.correlation_id`,
    [String(workerId), limit, DUE_GRACE_MS],
  );
}

/** True if the worker holds any instance. */
export async function hasLeases(db: Db, workerId: number): Promise<boolean> {
  const sql = `SELECT 1 FROM workflow_job_instances WHERE ${HELD_BY_WORKER} LIMIT 1`;
  return (await firstRow(db, sql, [String(workerId)])) !== null;
}

/** True if the instance has ended. */
export async function hasWorkflowEnded(tx: Tx, instanceId: number): Promise<boolean> {
  const sql = 'SELECT 1 FROM workflow_job_instances WHERE workflow_job_instance_id = $1 AND ended_at IS NULL';
  return (await firstRow(tx, sql, [instanceId])) === null;
}

/** Claims an instance of the job whose lease is free. Returns null if another worker holds it or it has ended. */
export async function claimInstance(
  tx: Tx,
  { instanceId, owner }: Claim,
  by: { jobName: string; leaseMs: number; executor: Readonly<Record<string, string>> },
): Promise<ClaimedInstance | null> {
  const [row] = await returning<ClaimedInstance & { previous: WorkflowExecutionState }>(
    tx,
    `UPDATE workflow_job_instances i SET lease_owner = $2, lease_until = ${inMs('$3')}, due_at = ${inMs('$3')},
       state = 'EXECUTING', wake_requested = false, executor = $4
     FROM workflow_jobs j, (SELECT state, workflow_job_instance_id FROM workflow_job_instances
                            WHERE workflow_job_instance_id = $1 FOR UPDATE) p
     WHERE i.workflow_job_instance_id = p.workflow_job_instance_id AND j.workflow_job_id = i.workflow_job_id
       AND i.job_name = $5 AND i.ended_at IS NULL AND (i.lease_owner IS NULL OR i.lease_until < platform_now())
     RETURNING i.workflow_job_instance_id, i.step_index, i.attempt, i.failure, i.correlation_id,
       j.tenant_id, ${Object.values(SUBJECT_COLUMNS)
         .map((column) => `j.${column}`)
         .join(', ')}, j.created_by_user_id, j.created_at, p.state AS previous`,
    [instanceId, owner, by.leaseMs, JSON.stringify(by.executor), by.jobName],
  );
  if (!row) return null;
  if (row.previous !== 'EXECUTING') {
    await appendWorkflowState(tx, [instanceId], 'RECEIVED');
    await appendWorkflowState(tx, [instanceId], 'EXECUTING');
  } else {
    await tx.query(
      `UPDATE workflow_steps SET outcome = 'interrupted', ended_at = platform_now()
       WHERE workflow_job_instance_id = $1 AND ended_at IS NULL`,
      [instanceId],
    );
  }
  return row;
}

/** Extends the lease. This and all following functions throw {@link LeaseLostError} if the claim is void. */
export async function extendLease(db: Db, claim: Claim, leaseMs: number): Promise<void> {
  await updateFenced(db, claim, `lease_until = ${inMs('$3')}, due_at = ${inMs('$3')}`, [leaseMs]);
}

/** Records the start of an attempt. Returns its id, and whether the deadline of the instance has passed. */
export async function openStep(
  db: Db,
  { instanceId, owner }: Claim,
  step: Pick<WorkflowStep, 'name' | 'attempt'>,
): Promise<Pick<WorkflowStep, 'workflow_step_id'> & { is_late: boolean }> {
  const [row] = await returning<Pick<WorkflowStep, 'workflow_step_id'> & { is_late: boolean }>(
    db,
    `WITH held AS (SELECT workflow_job_instance_id, deadline_at FROM workflow_job_instances
       WHERE workflow_job_instance_id = $1 AND lease_owner = $2 AND ended_at IS NULL FOR UPDATE)
     INSERT INTO workflow_steps (workflow_job_instance_id, name, attempt)
     SELECT workflow_job_instance_id, $3, $4 FROM held
     RETURNING workflow_step_id, (SELECT coalesce(deadline_at < platform_now(), false) FROM held) AS is_late`,
    [instanceId, owner, step.name, step.attempt],
  );
  if (!row) throw new LeaseLostError();
  return row;
}

/** Returns the name of the current or last step of the instance; null before its first. */
export async function currentStep(tx: Tx, instanceId: number): Promise<string | null> {
  const latest = await firstRow<Pick<WorkflowStep, 'name'>>(
    tx,
    `SELECT name FROM workflow_steps WHERE workflow_job_instance_id = $1 ORDER BY workflow_step_id DESC LIMIT 1`,
    [instanceId],
  );
  return latest?.name ?? null;
}

/** Returns the problem of the step's previous attempt; null if it had none. */
export async function problemBefore(
  db: Db,
  { instanceId, step, stepId }: { instanceId: number; step: string; stepId: number },
): Promise<StepProblem | null> {
  const before = await firstRow<Pick<WorkflowStep, 'error' | 'part_errors'>>(
    db,
    `SELECT error, part_errors FROM workflow_steps WHERE workflow_job_instance_id = $1 AND name = $2 AND workflow_step_id < $3
     ORDER BY workflow_step_id DESC LIMIT 1`,
    [instanceId, step, stepId],
  );
  return before?.error == null ? null : { message: before.error, parts: before.part_errors };
}

export async function advanceTo(tx: Tx, claim: Claim, stepIndex: number, end: StepEnd): Promise<void> {
  await updateFenced(tx, claim, 'step_index = $3, attempt = 0', [stepIndex]);
  await closeStep(tx, end);
}

/** Records that a step has failed for good. From now on the compensation runs, with this timeout. */
export async function recordFailure(
  tx: Tx,
  claim: Claim,
  failure: WorkflowFailure,
  compensationMs: number,
  end: StepEnd,
): Promise<void> {
  const params = [JSON.stringify(failure), compensationMs];
  await updateFenced(tx, claim, `failure = $3, deadline_at = ${inMs('$4')}, attempt = 0`, params);
  await closeStep(tx, end);
}

/** Records the problem of the latest attempt to compensate. */
export async function recordProblem(db: Db, claim: Claim, failure: RecordedFailure): Promise<void> {
  await updateFenced(db, claim, 'failure = $3', [JSON.stringify(failure)]);
}

/**
 * Consumes a wake-up that came while the step ran. Returns false if there was none, and none can come before the
 * transaction ends.
 */
export async function consumeWakeUp(tx: Tx, claim: Claim): Promise<boolean> {
  const row = await firstRow<Pick<WorkflowJobInstance, 'wake_requested'>>(
    tx,
    'SELECT wake_requested FROM workflow_job_instances WHERE workflow_job_instance_id = $1 AND lease_owner = $2 FOR UPDATE',
    [claim.instanceId, claim.owner],
  );
  if (row?.wake_requested) await updateFenced(tx, claim, 'wake_requested = false', []);
  return row?.wake_requested ?? false;
}

/**
 * Releases the lease. Returns the milliseconds after which the instance continues: those that the step waits, but not longer
 * than until the deadline. The reconciler continues it if its job is lost.
 */
export async function release(
  tx: Tx,
  claim: Claim,
  { stepIndex, attempt, ms }: { stepIndex: number; attempt: number; ms: number },
): Promise<number> {
  const wait = `greatest(0, least($5::float8, coalesce(extract(epoch FROM deadline_at - platform_now()) * 1000 + 1, $5)))`;
  const set = `step_index = $3, attempt = $4, lease_owner = NULL, lease_until = NULL, due_at = ${inMs(`(${wait} + $6)`)}`;
  const [released] = await updateFenced<{ ms: number }>(
    tx,
    claim,
    set,
    [stepIndex, attempt, ms, DUE_GRACE_MS],
    `ceil(${wait})::int AS ms`,
  );
  return released.ms;
}

/** Releases the lease at the current step. The instance is due soon. */
export async function abandon(db: Db, claim: Claim): Promise<void> {
  await updateFenced(db, claim, `lease_owner = NULL, lease_until = NULL, due_at = ${inMs('$3')}`, [DUE_GRACE_MS]);
}

export async function endClaimed(tx: Tx, claim: Claim, state: FinalState): Promise<void> {
  await updateFenced(tx, claim, `state = $3, ${ENDED}`, [state]);
  await appendWorkflowState(tx, [claim.instanceId], state);
}

export async function closeStep(tx: Tx, { stepId, outcome, problem = null }: StepEnd): Promise<void> {
  const parts = problem?.parts ?? null;
  await tx.query(
    `UPDATE workflow_steps SET ended_at = platform_now(), outcome = $2, error = $3, part_errors = $4
     WHERE workflow_step_id = $1`,
    [stepId, outcome, problem?.message ?? null, parts === null ? null : JSON.stringify(parts)],
  );
}

/** Returns failed attempts of the instances' steps, newest first, and their number. */
export async function failedSteps(
  tx: Tx,
  instanceIds: readonly number[],
  page: PageRequest,
): Promise<Pick<Page<FailedStep>, 'data'> & { total: number }> {
  const where = 'workflow_job_instance_id = ANY($1) AND error IS NOT NULL';
  const counted = await firstRow<{ total: number }>(tx, `SELECT count(*) AS total FROM workflow_steps WHERE ${where}`, [
    instanceIds,
  ]);
  const data = await rows<FailedStep>(
    tx,
    `SELECT workflow_step_id, workflow_job_instance_id, name, error, part_errors, ended_at FROM workflow_steps WHERE ${where}
     ORDER BY workflow_step_id DESC LIMIT $2 OFFSET $3`,
    [instanceIds, page.limit, (page.pageNumber - 1) * page.limit],
  );
  return { data, total: counted?.total ?? 0 };
}

type FailedStep = Pick<WorkflowStep, 'workflow_step_id' | 'workflow_job_instance_id' | 'name' | 'part_errors'> & {
  error: string;
  ended_at: Date;
};

/** Updates the instance if the claim holds. `$1` and `$2` are its parameters, so `params` begin at `$3`. */
async function updateFenced<T = unknown>(
  db: Db,
  { instanceId, owner }: Claim,
  set: string,
  params: readonly unknown[],
  returned = 'workflow_job_instance_id',
): Promise<[T]> {
  const [changed] = await returning<T>(
    db,
    `UPDATE workflow_job_instances SET ${set} WHERE workflow_job_instance_id = $1 AND lease_owner = $2 AND ended_at IS NULL
     RETURNING ${returned}`,
    [instanceId, owner, ...params],
  );
  if (changed === undefined) throw new LeaseLostError();
  return [changed];
}
