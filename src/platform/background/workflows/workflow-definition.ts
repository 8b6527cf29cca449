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

/** What a workflow is about. */
export interface WorkflowSubject<K extends SubjectKind = SubjectKind> {
  kind: K;
  tenantId: string;
  id: number;
}

/** One kind of workflow, as needed to start it; its steps are a {@link Workflow}, which only the worker has. */
export interface WorkflowDefinition<K extends SubjectKind = SubjectKind> {
  readonly typeId: number;
  readonly subject: K;
  /** The job that drives it. */
  readonly jobName: string;
  /** It fails if it has not ended by then; milliseconds. */
  readonly deadlineMs: number;
}

interface WorkflowOptions<K extends SubjectKind> {
  /** Name in the lookup table. */
  type: keyof typeof WORKFLOW_TYPE_IDS;
  subject: K;
}

const defined: WorkflowDefinition[] = [];

/**
 * Defines a workflow and the job that drives it; a worker that knows the definition does not boot without its
 * {@link Workflow}.
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

/** Every workflow known to this process. */
export function definedWorkflows(): readonly WorkflowDefinition[] {
  return defined;
}

/** What a step knows about its execution. */
export interface WorkflowContext<K extends SubjectKind = SubjectKind> {
  instanceId: number;
  subject: WorkflowSubject<K>;
  /** Who asked; null for the platform itself. */
  actorUserId: number | null;
  requestedAt: Date;
  correlationId: string;
  /** Aborted when the lease is lost or the process stops; long calls must respect it. */
  signal: AbortSignal;
}

/** What keeps a step from being done, or went wrong in it, for people. */
export interface StepProblem {
  message: string;
  /** What of it is about single parts of the subject; null if it is about all of it. */
  parts: PartProblems | null;
}

/**
 * - `done`: `problem` is said to have gone wrong although the workflow goes on
 * - `superseded`: another operation has replaced this one, so it ends without a trace on its subject
 * - `wait`: the step runs again after this long; if the deadline has passed by then, `problem` is said to be why
 */
export type StepOutcome =
  | { kind: 'done'; problem: StepProblem | null }
  | { kind: 'superseded' }
  | { kind: 'wait'; ms: number; problem: StepProblem | null };

export const Step = {
  done: { kind: 'done', problem: null } as StepOutcome,
  /** Done as far as it could be: what could not is on record with the step. */
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

/** A small idempotent piece of a workflow: it rereads the state, acts, and commits what it learned. */
export interface WorkflowStep<K extends SubjectKind = SubjectKind> {
  name: string;
  run(context: WorkflowContext<K>): Promise<StepOutcome>;
}

/** What a worker does for a {@link WorkflowDefinition}; its class says which by `ImplementsWorkflow`. */
export interface Workflow<K extends SubjectKind = SubjectKind> {
  steps: readonly WorkflowStep<K>[];
  /** Tries of one step before its failure is final. */
  attempts: number;
  backoffMs: number;
  /** Cleans up after a final failure and marks the subject; idempotent, retried until it succeeds or its time is up. */
  compensate(context: WorkflowContext<K>, failure: WorkflowFailure): Promise<void>;
  /** How long the clean-up may be tried, milliseconds. */
  compensationMs: number;
  /**
   * Marks the subject if the clean-up could not be done, and says what is left behind; idempotent. Calls nothing
   * outside the platform: it is what ends the workflow.
   * @param problem why the clean-up could not be done
   */
  giveUp(context: WorkflowContext<K>, failure: WorkflowFailure, problem: string): Promise<void>;
}

/** An error that no retry will cure. */
export class PermanentError extends Error {
  /** What of it is about single parts of the subject; null if it is about all of it. */
  readonly parts: PartProblems | null;

  constructor(message: string, { cause, parts = null }: { cause?: unknown; parts?: PartProblems | null } = {}) {
    super(message, { cause });
    this.name = 'PermanentError';
    this.parts = parts;
  }
}

/** What an error says, with what it says of single parts. */
export function problemOf(error: unknown): StepProblem {
  const hasParts = typeof error === 'object' && error !== null && 'parts' in error;
  return { message: messageOf(error), parts: hasParts ? (error.parts as PartProblems | null) : null };
}

/** How long an error asks to wait before the next attempt, milliseconds; null if it does not say. */
export function retryAfterOf(error: unknown): number | null {
  const ms = typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : null;
  return typeof ms === 'number' ? ms : null;
}

/** Whether another attempt may succeed; true for an error that does not say. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof PermanentError) return false;
  if (typeof error === 'object' && error !== null && 'retryable' in error) return error.retryable === true;
  return true;
}
