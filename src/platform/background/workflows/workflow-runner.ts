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

/** What the runner knows about an execution beyond what its steps may know. */
interface Held<K extends SubjectKind> extends WorkflowContext<K>, Claim {
  jobName: string;
  /** For the log: the subject's id by the name of its column. */
  about: Readonly<Record<string, number>>;
  /** When the lease was last known to hold, by the monotonic clock. */
  heldAt: number;
}

/** Where an execution is: which try of which step. */
interface Place<K extends SubjectKind> {
  step: WorkflowStep<K>;
  stepId: number;
  index: number;
  attempt: number;
}

const ABANDON_RETRY_MS = 200;
const COMPENSATION_RETRY_MS = { first: 2_000, longest: 60_000 };

/**
 * Runs workflows step by step under a lease. The lease fences: every commit of the runner names its owner, so a
 * worker that lost it changes nothing more. A crash at any point leaves an instance that another worker continues
 * at the same step.
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

  /** Stops every execution where it is and releases its lease, so that another worker goes on at once. */
  stop(): void {
    this.stopping = true;
    this.interrupt();
  }

  private interrupt(): void {
    for (const controller of this.held) controller.abort();
  }

  /**
   * Continues an instance until it ends or waits. Returns at once when another worker holds it or it has ended; throws
   * when the database fails.
   */
  async continue<K extends SubjectKind>(
    definition: WorkflowDefinition<K>,
    instanceId: number,
    workflow: Workflow<NoInfer<K>>,
  ): Promise<void> {
    const { jobName } = definition;
    const owner = this.worker.newOwner();
    const by = { jobName, leaseMs: this.config.worker.leaseMs, executor: executor() };
    const instance = await this.dataSource.transaction((tx) => claimInstance(tx, { instanceId, owner }, by));
    if (!instance) return;
    const controller = new AbortController();
    this.held.add(controller);
    if (this.stopping) controller.abort();
    const subject = subjectOf(instance, definition.subject);
    const context: Held<K> = {
      jobName,
      owner,
      heldAt: performance.now(),
      instanceId,
      subject,
      about: { [SUBJECT_COLUMNS[subject.kind]]: subject.id },
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
      this.logger.warn({ workflow_job_instance_id: instanceId }, 'Another worker has taken this workflow over');
    } finally {
      clearInterval(heartbeat);
      this.held.delete(controller);
    }
  }

  /** A fault of the platform itself, such as a lost database, must not hold the instance up until its lease has passed. */
  private async abandon(held: Held<SubjectKind>): Promise<void> {
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
    context: Held<K>,
  ): Promise<void> {
    const { jobName } = context;
    let { step_index: index, attempt, failure } = instance;
    while (!failure) {
      const step = workflow.steps[index];
      if (!step) break;
      attempt += 1;
      const { stepId, isLate } = await this.openStep(context, step.name, attempt);
      const place: Place<K> = { step, stepId, index, attempt };
      const result = await this.runStep(place, isLate, context);
      if (result.kind === 'error') {
        failure = await this.onError(place, workflow, context, result.error);
        if (!failure) return;
        const problem = problemOf(result.error);
        await this.fail(context, failure, workflow.compensationMs, { stepId, outcome: 'failed', problem });
        attempt = 0;
      } else if (result.kind === 'done') {
        index += 1;
        attempt = 0;
        await this.advance(context, index, { stepId, outcome: 'done', problem: result.problem });
        this.reached(context, step.name, 'committed');
        const about = { workflow: jobName, step: step.name, ...context.about };
        if (result.problem === null) this.logger.info(about, 'Workflow step done');
        else
          this.logger.warn({ ...about, problem: result.problem.message }, 'Workflow step done, except for a problem');
      } else {
        const goesOn = await this.pauseOrEnd(place, context, result);
        if (!goesOn) return;
        attempt = 0;
      }
    }
    if (failure) await this.compensate(workflow, context, failure, attempt);
    else await this.end(context, 'DONE', null);
  }

  private async runStep<K extends SubjectKind>(
    { step, stepId }: Place<K>,
    isLate: boolean,
    context: Held<K>,
  ): Promise<StepOutcome | { kind: 'error'; error: unknown }> {
    this.reached(context, step.name, 'before');
    try {
      if (isLate) throw await this.lateness(context, step.name, stepId);
      context.signal.throwIfAborted();
      const outcome = await step.run(context);
      this.reached(context, step.name, 'after');
      return outcome;
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      return { kind: 'error', error };
    }
  }

  /** Why the operation is late: what kept the step from being done, as far as its try before this one knew. */
  private async lateness({ instanceId }: Claim, step: string, stepId: number): Promise<PermanentError> {
    const problem = await problemBefore(this.dataSource.manager, { instanceId, step, stepId });
    const passed = `The deadline of the operation passed in step ${step}`;
    if (problem === null) return new PermanentError(passed);
    return new PermanentError(`${passed}: ${problem.message}`, { parts: problem.parts });
  }

  /** Sleeps before another try, or records that there is none. Returns the failure if it is final. */
  private async onError<K extends SubjectKind>(
    { step, stepId, index, attempt }: Place<K>,
    workflow: Workflow<K>,
    context: Held<K>,
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

  /** A wait is not a failed attempt: only errors count against the step. True when a wake-up came meanwhile. */
  private async pauseOrEnd<K extends SubjectKind>(
    { stepId, index }: Place<K>,
    context: Held<K>,
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
    context: Held<K>,
    recorded: RecordedFailure,
    tries: number,
  ): Promise<void> {
    const { problem: before, ...failure } = recorded;
    const { stepId, isLate } = await this.openStep(context, 'compensate', tries + 1);
    this.reached(context, 'compensate', 'before');
    try {
      const problem = isLate
        ? (before ?? 'it was not done in its time')
        : await this.cleanUp(workflow, context, failure);
      if (problem === null) {
        await this.end(context, 'ERROR', { stepId, outcome: 'done' });
        return;
      }
      await workflow.giveUp(context, failure, problem);
      this.logger.error({ workflow: context.jobName, ...context.about, problem }, 'A compensation was given up');
      await this.end(context, 'ERROR', { stepId, outcome: 'given-up', problem: { message: problem, parts: null } });
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      await this.retryCompensation({ stepId, index: workflow.steps.length }, context, { recorded, tries, error });
    }
  }

  /** What makes the clean-up impossible; null if it is done. Throws what another try may solve. */
  private async cleanUp<K extends SubjectKind>(
    workflow: Workflow<K>,
    context: Held<K>,
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

  /** Retries at growing intervals, or when the fault asks for it. A fault is logged when it changes, not at each attempt. */
  private async retryCompensation<K extends SubjectKind>(
    { stepId, index: stepIndex }: Pick<Place<K>, 'stepId' | 'index'>,
    context: Held<K>,
    { recorded, tries, error }: { recorded: RecordedFailure; tries: number; error: unknown },
  ): Promise<void> {
    if (context.signal.aborted) {
      await this.sleep(context, { stepIndex, attempt: tries, ms: 0 }, { stepId, outcome: 'interrupted' });
      return;
    }
    const problem = problemOf(error);
    if (problem.message !== recorded.problem) {
      const fields = { workflow: context.jobName, ...context.about, err: error };
      this.logger.error(fields, 'A compensation failed and will be tried again');
      await recordProblem(this.dataSource.manager, context, { ...recorded, problem: problem.message });
    }
    const { first, longest } = COMPENSATION_RETRY_MS;
    const ms = Math.min(longest, Math.max(first, retryAfterOf(error) ?? first * 2 ** Math.min(tries, 10)));
    await this.sleep(context, { stepIndex, attempt: tries + 1, ms }, { stepId, outcome: 'failed', problem });
  }

  private async extend(held: Held<SubjectKind>, controller: AbortController): Promise<void> {
    const { leaseMs } = this.config.worker;
    try {
      await extendLease(this.dataSource.manager, held, leaseMs);
      held.heldAt = performance.now();
    } catch (error) {
      // A worker that cannot reach the database for this long must assume that another one has taken over.
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
    await this.dataSource.transaction((tx) => advanceTo(tx, claim, nextIndex, end));
  }

  private async fail(claim: Claim, failure: WorkflowFailure, compensationMs: number, end: StepEnd): Promise<void> {
    await this.dataSource.transaction((tx) => recordFailure(tx, claim, failure, compensationMs, end));
  }

  /** Releases the lease until later. False if a wake-up came meanwhile: then the step runs again at once. */
  private async sleep(
    context: Held<SubjectKind>,
    next: { stepIndex: number; attempt: number; ms: number },
    end: StepEnd & { outcome: 'waiting' | 'failed' | 'interrupted' },
  ): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      await closeStep(tx, end);
      if (end.outcome === 'waiting' && (await consumeWakeUp(tx, context))) return false;
      const delayMs = await release(tx, context, next);
      await enqueueWorkflow(tx, context.jobName, context.instanceId, { delayMs });
      return true;
    });
  }

  private async end(claim: Claim, state: FinalState, step: StepEnd | null): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      if (step !== null) await closeStep(tx, step);
      await endClaimed(tx, claim, state);
    });
  }

  private reached({ jobName: workflow }: Held<SubjectKind>, step: string, moment: StepMoment): void {
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

/** Containers may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
