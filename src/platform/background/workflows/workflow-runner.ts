import { hostname, userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { messageOf } from '../../kernel/errors/message-of';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { enqueueWorkflow } from '../outbox/outbox';
import { ThisWorker } from '../workers/this-worker';
import { SUBJECT_COLUMNS, type SubjectKind } from './entities/workflow-job.entity';
import type { RecordedFailure } from './entities/workflow-job-instance.entity';
import {
  type WorkflowDefinition,
  isRetryable,
  PermanentError,
  problemOf,
  retryAfterOf,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
  type WorkflowStep,
  type WorkflowSubject,
} from './workflow-definition';
import { type StepMoment, WorkflowObserver } from './workflow-observer';
import {
  abandon,
  advanceTo,
  type Claim,
  type ClaimedInstance,
  claimInstance,
  closeStep,
  endClaimed,
  extendLease,
  type FinalState,
  LeaseLostError,
  openStep,
  problemBefore,
  recordFailure,
  recordProblem,
  release,
  type StepEnd,
  consumeWakeUp,
} from './workflow.repository';
import { inTransaction } from '../../kernel/persistence/sql';

/** An execution that this worker has claimed. Steps see only its {@link WorkflowContext}. */
interface Execution<K extends SubjectKind> extends WorkflowContext<K>, Claim {
  jobName: string;
  /** Log fields: the subject's id by the name of its column. */
  subjectFields: Readonly<Record<string, number>>;
  /** Time at which the lease was last known to hold, by the monotonic clock. */
  heldAt: number;
}

/** An attempt of a step. */
interface StepAttempt<K extends SubjectKind> {
  step: WorkflowStep<K>;
  stepId: number;
  index: number;
  attempt: number;
}

const ABANDON_RETRY_MS = 200;
const COMPENSATION_RETRY_MS = { first: 2_000, max: 60_000 };

/**
 * Runs workflows step by step under a lease. Every commit of the runner names the lease's owner, so a worker that has lost it
 * can change nothing more. After a crash at any point, another worker continues the instance at the same step.
 */
@Injectable()
export class WorkflowRunner {
  private readonly held = new Set<AbortController>();
  private stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    private readonly observer: WorkflowObserver,
    private readonly worker: ThisWorker,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    worker.onFence(() => this.interrupt());
  }

  /** Stops every execution and releases its lease, so that another worker continues it at once. */
  stop(): void {
    this.stopping = true;
    this.interrupt();
  }

  private interrupt(): void {
    for (const controller of this.held) controller.abort();
  }

  /**
   * Continues an instance until it ends or waits. Returns at once if another worker holds it or it has ended. Throws if the
   * database fails.
   */
  async continue<K extends SubjectKind>(
    definition: WorkflowDefinition<K>,
    instanceId: number,
    workflow: Workflow<NoInfer<K>>,
  ): Promise<void> {
    const { jobName } = definition;
    const owner = this.worker.newOwner();
    const by = { jobName, leaseMs: this.config.worker.leaseMs, executor: executor() };
    const instance = await inTransaction(this.dataSource, (tx) => claimInstance(tx, { instanceId, owner }, by));
    if (!instance) return;
    const controller = new AbortController();
    this.held.add(controller);
    if (this.stopping) controller.abort();
    const subject = subjectOf(instance, definition.subject);
    const context: Execution<K> = {
      jobName,
      owner,
      heldAt: performance.now(),
      instanceId,
      subject,
      subjectFields: { [SUBJECT_COLUMNS[subject.kind]]: subject.id },
      actorUserId: instance.created_by_user_id,
      requestedAt: instance.created_at,
      correlationId: instance.correlation_id,
      signal: controller.signal,
    };
    const heartbeat = setInterval(() => void this.extend(context, controller), this.config.worker.leaseMs / 3);
    try {
      await this.drive(instance, workflow, context);
    } catch (error) {
      clearInterval(heartbeat);
      if (!(error instanceof LeaseLostError)) {
        await this.abandon(context);
        throw error;
      }
      this.logger.warn({ workflow_job_instance_id: instanceId }, 'Another worker has taken over this workflow');
    } finally {
      clearInterval(heartbeat);
      this.held.delete(controller);
    }
  }

  /** Releases the lease after a fault of the platform, such as a lost database, so that the instance does not wait for its end. */
  private async abandon(held: Execution<SubjectKind>): Promise<void> {
    while (!this.stopping && performance.now() - held.heldAt < this.config.worker.leaseMs) {
      try {
        await abandon(this.dataSource.manager, held);
        return;
      } catch (error) {
        if (error instanceof LeaseLostError) return;
        await delay(ABANDON_RETRY_MS);
      }
    }
  }

  private async drive<K extends SubjectKind>(
    instance: ClaimedInstance,
    workflow: Workflow<K>,
    context: Execution<K>,
  ): Promise<void> {
    const { jobName } = context;
    let { step_index: index, attempt, failure } = instance;
    while (!failure) {
      const step = workflow.steps[index];
      if (!step) break;
      attempt += 1;
      const { stepId, isLate } = await this.openStep(context, step.name, attempt);
      const stepAttempt: StepAttempt<K> = { step, stepId, index, attempt };
      const result = await this.runStep(stepAttempt, isLate, context);
      if (result.kind === 'error') {
        failure = await this.onError(stepAttempt, workflow, context, result.error);
        if (!failure) return;
        const problem = problemOf(result.error);
        await this.fail(context, failure, workflow.compensationMs, { stepId, outcome: 'failed', problem });
        attempt = 0;
      } else if (result.kind === 'done') {
        index += 1;
        attempt = 0;
        await this.advance(context, index, { stepId, outcome: 'done', problem: result.problem });
        this.reached(context, step.name, 'committed');
        const fields = { workflow: jobName, step: step.name, ...context.subjectFields };
        if (result.problem === null) this.logger.info(fields, 'Workflow step done');
        else
          this.logger.warn({ ...fields, problem: result.problem.message }, 'Workflow step done, except for a problem');
      } else {
        const goesOn = await this.pauseOrEnd(stepAttempt, context, result);
        if (!goesOn) return;
        attempt = 0;
      }
    }
    if (failure) await this.compensate(workflow, context, failure, attempt);
    else await this.end(context, 'DONE', null);
  }

  private async runStep<K extends SubjectKind>(
    { step, stepId }: StepAttempt<K>,
    isLate: boolean,
    context: Execution<K>,
  ): Promise<StepOutcome | { kind: 'error'; error: unknown }> {
    this.reached(context, step.name, 'before');
    try {
      if (isLate) throw await this.deadlineError(context, step.name, stepId);
      context.signal.throwIfAborted();
      const outcome = await step.run(context);
      this.reached(context, step.name, 'after');
      return outcome;
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      return { kind: 'error', error };
    }
  }

  /** Returns the error of a passed deadline, with the problem of the step's previous attempt. */
  private async deadlineError({ instanceId }: Claim, step: string, stepId: number): Promise<PermanentError> {
    const problem = await problemBefore(this.dataSource.manager, { instanceId, step, stepId });
    const passed = `The deadline of the operation passed in step ${step}`;
    if (problem === null) return new PermanentError(passed);
    return new PermanentError(`${passed}: ${problem.message}`, { parts: problem.parts });
  }

  /** Waits for another attempt, or returns the failure if it is final. */
  private async onError<K extends SubjectKind>(
    { step, stepId, index, attempt }: StepAttempt<K>,
    workflow: Workflow<K>,
    context: Execution<K>,
    error: unknown,
  ): Promise<WorkflowFailure | null> {
    if (context.signal.aborted) {
      await this.sleep(context, { stepIndex: index, attempt: attempt - 1, ms: 0 }, { stepId, outcome: 'interrupted' });
      return null;
    }
    const problem = problemOf(error);
    this.logger.warn({ workflow: context.jobName, step: step.name, attempt, err: error }, 'A workflow step failed');
    if (isRetryable(error) && attempt < workflow.attempts) {
      const ms = workflow.backoffMs * 2 ** (attempt - 1);
      await this.sleep(context, { stepIndex: index, attempt, ms }, { stepId, outcome: 'failed', problem });
      return null;
    }
    return { step: step.name, message: problem.message };
  }

  /** Ends or pauses a step. A wait does not count as an attempt. Returns true if a wake-up came meanwhile, so that the step runs again. */
  private async pauseOrEnd<K extends SubjectKind>(
    { stepId, index }: StepAttempt<K>,
    context: Execution<K>,
    outcome: Exclude<StepOutcome, { kind: 'done' }>,
  ): Promise<boolean> {
    if (outcome.kind === 'superseded') {
      await this.end(context, 'TERMINATED', { stepId, outcome: 'superseded' });
      return false;
    }
    const { ms, problem } = outcome;
    return !(await this.sleep(context, { stepIndex: index, attempt: 0, ms }, { stepId, outcome: 'waiting', problem }));
  }

  private async compensate<K extends SubjectKind>(
    workflow: Workflow<K>,
    context: Execution<K>,
    recorded: RecordedFailure,
    tries: number,
  ): Promise<void> {
    const { problem: before, ...failure } = recorded;
    const { stepId, isLate } = await this.openStep(context, 'compensate', tries + 1);
    this.reached(context, 'compensate', 'before');
    try {
      const problem = isLate ? (before ?? 'It did not end in time.') : await this.cleanUp(workflow, context, failure);
      if (problem === null) {
        await this.end(context, 'ERROR', { stepId, outcome: 'done' });
        return;
      }
      await workflow.giveUp(context, failure, problem);
      this.logger.error(
        { workflow: context.jobName, ...context.subjectFields, problem },
        'The cleanup after a failed workflow was given up; resources may be left behind',
      );
      await this.end(context, 'ERROR', { stepId, outcome: 'given-up', problem: { message: problem, parts: null } });
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.retryCompensation({ stepId, index: workflow.steps.length }, context, { recorded, tries, error });
    }
  }

  /** Cleans up and returns null, or the reason why it is impossible. Throws an error if another attempt may succeed. */
  private async cleanUp<K extends SubjectKind>(
    workflow: Workflow<K>,
    context: Execution<K>,
    failure: WorkflowFailure,
  ): Promise<string | null> {
    try {
      await workflow.compensate(context, failure);
      return null;
    } catch (error) {
      if (isRetryable(error) || context.signal.aborted) throw error;
      return messageOf(error);
    }
  }

  /** Retries at growing intervals, or after the time that the error requests. A problem is logged when it changes. */
  private async retryCompensation<K extends SubjectKind>(
    { stepId, index: stepIndex }: Pick<StepAttempt<K>, 'stepId' | 'index'>,
    context: Execution<K>,
    { recorded, tries, error }: { recorded: RecordedFailure; tries: number; error: unknown },
  ): Promise<void> {
    if (context.signal.aborted) {
      await this.sleep(context, { stepIndex, attempt: tries, ms: 0 }, { stepId, outcome: 'interrupted' });
      return;
    }
    const problem = problemOf(error);
    if (problem.message !== recorded.problem) {
      const fields = { workflow: context.jobName, ...context.subjectFields, err: error };
      this.logger.error(fields, 'The cleanup after a failed workflow failed and will be tried again');
      await recordProblem(this.dataSource.manager, context, { ...recorded, problem: problem.message });
    }
    const { first, max } = COMPENSATION_RETRY_MS;
    const ms = Math.min(max, Math.max(first, retryAfterOf(error) ?? first * 2 ** Math.min(tries, 10)));
    await this.sleep(context, { stepIndex, attempt: tries + 1, ms }, { stepId, outcome: 'failed', problem });
  }

  private async extend(held: Execution<SubjectKind>, controller: AbortController): Promise<void> {
    const { leaseMs } = this.config.worker;
    try {
      await extendLease(this.dataSource.manager, held, leaseMs);
      held.heldAt = performance.now();
    } catch (error) {
      // A worker that cannot reach the database for the time of a lease must assume that another one has taken over.
      if (error instanceof LeaseLostError || performance.now() - held.heldAt > leaseMs) controller.abort();
      else
        this.logger.warn(
          { err: error, workflow_job_instance_id: held.instanceId },
          'A workflow lease could not be extended',
        );
    }
  }

  private async openStep(claim: Claim, name: string, attempt: number): Promise<{ stepId: number; isLate: boolean }> {
    const opened = await openStep(this.dataSource.manager, claim, { name, attempt });
    return { stepId: opened.workflow_step_id, isLate: opened.is_late };
  }

  private async advance(claim: Claim, nextIndex: number, end: StepEnd): Promise<void> {
    await inTransaction(this.dataSource, (tx) => advanceTo(tx, claim, nextIndex, end));
  }

  private async fail(claim: Claim, failure: WorkflowFailure, compensationMs: number, end: StepEnd): Promise<void> {
    await inTransaction(this.dataSource, (tx) => recordFailure(tx, claim, failure, compensationMs, end));
  }

  /** Releases the lease and schedules the next job. Returns false if a wake-up came meanwhile, so that the step runs again at once. */
  private async sleep(
    context: Execution<SubjectKind>,
    next: { stepIndex: number; attempt: number; ms: number },
    end: StepEnd & { outcome: 'waiting' | 'failed' | 'interrupted' },
  ): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      await closeStep(tx, end);
      if (end.outcome === 'waiting' && (await consumeWakeUp(tx, context))) return false;
      const delayMs = await release(tx, context, next);
      await enqueueWorkflow(tx, context.jobName, context.instanceId, { delayMs });
      return true;
    });
  }

  private async end(claim: Claim, state: FinalState, step: StepEnd | null): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      if (step !== null) await closeStep(tx, step);
      await endClaimed(tx, claim, state);
    });
  }

  private reached({ jobName: workflow }: Execution<SubjectKind>, step: string, moment: StepMoment): void {
    this.observer.reached({ workflow, step, moment });
  }
}

function subjectOf<K extends SubjectKind>(instance: ClaimedInstance, kind: K): WorkflowSubject<K> {
  const id = instance[SUBJECT_COLUMNS[kind]];
  if (id === null) throw new Error(`Workflow ${instance.workflow_job_instance_id} is not about a ${kind}`);
  return { kind, tenantId: instance.tenant_id, id };
}

function executor(): Record<string, string> {
  return {
    machine_hostname: hostname(),
    machine_pid_number: String(process.pid),
    machine_pid_user: userName(),
  };
}

/** Returns the user id if the user has no name, as in some containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
