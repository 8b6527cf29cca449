import type { QueueName } from '../../../config/worker.config';
import { messageOf } from '../../kernel/errors/message-of';
import { registerWorkflowJob } from '../queues/job-catalogue';
import type { SubjectKind } from './entities/workflow-job.entity';
import type { WorkflowFailure } from './entities/workflow-job-instance.entity';
import type { PartProblems } from './entities/workflow-step.entity';

export type { WorkflowFailure } from './entities/workflow-job-instance.entity';
export type { PartProblems } from './entities/workflow-step.entity';

/** Workflow types of the lookup table, by name. */
const WORKFLOW_TYPE_IDS = {
  cosi_start: 2,
  cosi_stop: 3,
  cosi_destroy: 4,
  cosi_kill_all_jobs_by_cluster: 5,
  cosi_resize_up: 7,
  cosi_resize_down: 8,
} as const;

/** The record that a workflow changes. */
export interface WorkflowSubject<K extends SubjectKind = SubjectKind> {
  kind: K;
  tenantId: string;
  id: number;
}

/** A kind of workflow with all that is needed to start it. Its steps are a {@link Workflow}, which only the worker has. */
export interface WorkflowDefinition<K extends SubjectKind = SubjectKind> {
  readonly typeId: number;
  readonly subject: K;
  /** Name of the job that executes it. */
  readonly jobName: string;
  /** Time in which it must end, or it fails; milliseconds. */
  readonly deadlineMs: number;
}

interface WorkflowOptions<K extends SubjectKind> {
  /** Name of the workflow type in the lookup table. */
  type: keyof typeof WORKFLOW_TYPE_IDS;
  subject: K;
}

const defined: WorkflowDefinition[] = [];

/**
 * Defines a workflow and the job that executes it. A worker that knows the definition does not boot without a
 * {@link Workflow} for it.
 */
export function defineWorkflow<K extends SubjectKind>({
  type,
  subject,
  job,
  deadlineMs,
}: WorkflowOptions<K> & { job: { name: string; queue: QueueName }; deadlineMs: number }): WorkflowDefinition<K> {
  const definition = { typeId: WORKFLOW_TYPE_IDS[type], subject, jobName: job.name, deadlineMs };
  registerWorkflowJob(job.name, job.queue);
  defined.push(definition);
  return definition;
}

/** Returns every workflow that this process knows. */
export function definedWorkflows(): readonly WorkflowDefinition[] {
  return defined;
}

/** The execution of a workflow as its steps see it. */
export interface WorkflowContext<K extends SubjectKind = SubjectKind> {
  instanceId: number;
  subject: WorkflowSubject<K>;
  /** User who requested the workflow; null for the platform itself. */
  actorUserId: number | null;
  requestedAt: Date;
  correlationId: string;
  /** Aborts when the lease is lost or the process stops. Long calls must respect it. */
  signal: AbortSignal;
}

/** The reason, for people, why a step waits or has failed. */
export interface StepProblem {
  message: string;
  /** Problems of single parts of the subject; null if the problem concerns all of it. */
  parts: PartProblems | null;
}

/**
 * - `done`: the workflow continues; `problem` is recorded as an error of the step
 * - `superseded`: another operation has replaced this one, so it ends without a change of its subject
 * - `wait`: the step runs again after this time; if the deadline has passed by then, `problem` is the reason of the failure
 */
export type StepOutcome =
  | { kind: 'done'; problem: StepProblem | null }
  | { kind: 'superseded' }
  | { kind: 'wait'; ms: number; problem: StepProblem | null };

export const Step = {
  done: { kind: 'done', problem: null } as StepOutcome,
  /** The step is done except for a problem, which is recorded with it. */
  doneExceptFor: (problem: string | StepProblem): StepOutcome => ({ kind: 'done', problem: asProblem(problem) }),
  superseded: { kind: 'superseded' } as StepOutcome,
  wait: (ms: number, problem: string | StepProblem | null = null): StepOutcome => ({
    kind: 'wait',
    ms,
    problem: problem === null ? null : asProblem(problem),
  }),
};

function asProblem(problem: string | StepProblem): StepProblem {
  return typeof problem === 'string' ? { message: problem, parts: null } : problem;
}

/** A small idempotent part of a workflow: it rereads the state, acts, and commits the result. */
export interface WorkflowStep<K extends SubjectKind = SubjectKind> {
  name: string;
  run(context: WorkflowContext<K>): Promise<StepOutcome>;
}

/** The implementation of a {@link WorkflowDefinition}, which its class names by `ImplementsWorkflow`. */
export interface Workflow<K extends SubjectKind = SubjectKind> {
  steps: readonly WorkflowStep<K>[];
  /** Attempts of one step before its failure is final. */
  attempts: number;
  backoffMs: number;
  /** Cleans up after a final failure and marks the subject. It is idempotent, and retried until it succeeds or times out. */
  compensate(context: WorkflowContext<K>, failure: WorkflowFailure): Promise<void>;
  /** Timeout of the cleanup with all its attempts, milliseconds. */
  compensationMs: number;
  /**
   * Marks the subject if the cleanup failed for good, and records what is left behind. It is idempotent and calls nothing
   * outside the platform, because it ends the workflow.
   * @param problem reason why the cleanup failed
   */
  giveUp(context: WorkflowContext<K>, failure: WorkflowFailure, problem: string): Promise<void>;
}

/** An error that a retry cannot fix. */
export class PermanentError extends Error {
  /** Problems of single parts of the subject; null if the error concerns all of it. */
  readonly parts: PartProblems | null;

  constructor(message: string, { cause, parts = null }: { cause?: unknown; parts?: PartProblems | null } = {}) {
    super(message, { cause });
    this.name = 'PermanentError';
    this.parts = parts;
  }
}

/** Returns the message of an error with its problems of single parts. */
export function problemOf(error: unknown): StepProblem {
  const hasParts = typeof error === 'object' && error !== null && 'parts' in error;
  return { message: messageOf(error), parts: hasParts ? (error.parts as PartProblems | null) : null };
}

/** Returns the time that an error requests before the next attempt, milliseconds; null if it requests none. */
export function retryAfterOf(error: unknown): number | null {
  const ms = typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : null;
  return typeof ms === 'number' ? ms : null;
}

/** True if another attempt may succeed, or if the error does not say. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof PermanentError) return false;
  if (typeof error === 'object' && error !== null && 'retryable' in error) return error.retryable === true;
  return true;
}
