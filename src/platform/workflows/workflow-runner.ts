import { randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../config/config';
import { messageOf } from '../errors/message-of';
import { LOGGER, type Logger } from '../logging/logger';
import { enqueue } from '../outbox/outbox';
import { returning, type Tx } from '../persistence/sql';
import type { JobName } from '../queues/job-catalogue';
import {
  PermanentError,
  type StepOutcome,
  type WorkflowContext,
  type WorkflowDefinition,
  type WorkflowFailure,
  type WorkflowStep,
} from './workflow-definition';
import { appendWorkflowState, type WorkflowExecutionState } from './workflow-intents';

interface ClaimedInstance {
  workflow_job_instance_id: number;
  step_index: number;
  attempt: number;
  failure: RecordedFailure | null;
  /** Of the steps; after a failure that of the compensation. */
  deadline_at: Date | null;
  correlation_id: string;
  tenant_id: string;
  cluster_id: number;
  created_by_user_id: number | null;
}

/** A final failure, and what kept the latest compensation from its end. */
interface RecordedFailure extends WorkflowFailure {
  problem?: string;
}

/** What the runner knows of an execution beyond what its steps may know. */
interface Held extends WorkflowContext {
  /** Names this one claim: a worker that claims an instance again is another owner than it was before. */
  owner: string;
  /** When the lease was last known to hold, by the monotonic clock. */
  heldAt: number;
}

/** Where an execution is: which try of which step. */
interface Place {
  jobName: JobName;
  step: WorkflowStep;
  stepId: number;
  index: number;
  attempt: number;
}

/** The lease went to another worker or the instance ended: whatever this worker still holds is void. */
class LeaseLost extends Error {}

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
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Has every execution end where it is; its lease is given back, so that another worker goes on at once. */
  stop(): void {
    this.stopping = true;
    for (const controller of this.held) controller.abort();
  }

  /** Continues an instance until it ends or waits. Returns at once when another worker holds it or it has ended. */
  async continue(jobName: JobName, instanceId: number, definition: WorkflowDefinition): Promise<void> {
    const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
    const instance = await this.claim(instanceId, owner);
    if (!instance) return;
    const controller = new AbortController();
    this.held.add(controller);
    if (this.stopping) controller.abort();
    const context: Held = {
      owner,
      heldAt: performance.now(),
      instanceId,
      tenantId: instance.tenant_id,
      clusterId: instance.cluster_id,
      actorUserId: instance.created_by_user_id,
      correlationId: instance.correlation_id,
      signal: controller.signal,
    };
    const heartbeat = setInterval(() => void this.extend(context, controller), this.config.worker.leaseMs / 3);
    try {
      await this.drive(jobName, instance, definition, context);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.logger.warn({ workflow_job_instance_id: instanceId }, 'Another worker has taken this workflow over');
    } finally {
      clearInterval(heartbeat);
      this.held.delete(controller);
    }
  }

  private async drive(
    jobName: JobName,
    instance: ClaimedInstance,
    definition: WorkflowDefinition,
    context: Held,
  ): Promise<void> {
    let { step_index: index, attempt, failure, deadline_at: deadline } = instance;
    while (!failure) {
      const step = definition.steps[index];
      if (!step) break;
      attempt += 1;
      const stepId = await this.openStep(context.instanceId, step.name, attempt);
      const place: Place = { jobName, step, stepId, index, attempt };
      const result = await this.runStep(place, deadline, context);
      if (result.kind === 'error') {
        failure = await this.onError(place, definition, context, result.error);
        if (!failure) return;
        deadline = new Date(Date.now() + definition.compensationMs);
        await this.fail(context, failure, deadline, stepId);
        attempt = 0;
      } else if (result.kind === 'done') {
        index += 1;
        attempt = 0;
        await this.advance(context, index, stepId);
        this.crash(jobName, step.name, 'committed');
        this.logger.info({ workflow: jobName, step: step.name, cluster_id: context.clusterId }, 'Workflow step done');
      } else {
        const goesOn = await this.pauseOrEnd(place, context, result);
        if (!goesOn) return;
        attempt = 0;
      }
    }
    if (failure) await this.compensate(jobName, definition, context, { failure, deadline, tries: attempt });
    else await this.end(context, 'DONE', null, 'done');
  }

  private async runStep(
    { jobName, step }: Place,
    deadline: Date | null,
    context: Held,
  ): Promise<StepOutcome | { kind: 'error'; error: unknown }> {
    this.crash(jobName, step.name, 'before');
    try {
      if (deadline !== null && deadline.getTime() < Date.now()) {
        throw new PermanentError(`The deadline of the operation passed in step ${step.name}`);
      }
      context.signal.throwIfAborted();
      const outcome = await step.run(context);
      this.crash(jobName, step.name, 'after');
      return outcome;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      return { kind: 'error', error };
    }
  }

  /** Sleeps before another try, or records that there is none. Answers the failure when it is final. */
  private async onError(
    { jobName, step, stepId, index, attempt }: Place,
    definition: WorkflowDefinition,
    context: Held,
    error: unknown,
  ): Promise<WorkflowFailure | null> {
    if (this.stopping) {
      await this.sleep(jobName, context, index, attempt - 1, 0, stepId, 'interrupted', null);
      return null;
    }
    const message = messageOf(error);
    this.logger.warn({ workflow: jobName, step: step.name, attempt, err: error }, 'A workflow step failed');
    if (isRetryable(error) && attempt < definition.attempts) {
      const backoffMs = definition.backoffMs * 2 ** (attempt - 1);
      await this.sleep(jobName, context, index, attempt, backoffMs, stepId, 'failed', message);
      return null;
    }
    return { step: step.name, message };
  }

  /** A wait is no failed attempt: only errors count against the step. True when a wake-up came meanwhile. */
  private async pauseOrEnd(
    { jobName, stepId, index }: Place,
    context: Held,
    outcome: Exclude<StepOutcome, { kind: 'done' }>,
  ): Promise<boolean> {
    if (outcome.kind === 'superseded') {
      await this.end(context, 'TERMINATED', stepId, 'superseded');
      return false;
    }
    return !(await this.sleep(jobName, context, index, 0, outcome.ms, stepId, 'waiting', null));
  }

  private async compensate(
    jobName: JobName,
    definition: WorkflowDefinition,
    context: Held,
    { failure: recorded, deadline, tries }: { failure: RecordedFailure; deadline: Date | null; tries: number },
  ): Promise<void> {
    const { problem: before, ...failure } = recorded;
    const stepId = await this.openStep(context.instanceId, 'compensate', tries + 1);
    this.crash(jobName, 'compensate', 'before');
    const isOver = deadline !== null && deadline.getTime() < Date.now();
    try {
      const problem = isOver
        ? (before ?? 'it was not done in its time')
        : await this.cleanUp(definition, context, failure);
      if (problem === null) {
        await this.end(context, 'ERROR', stepId, 'done');
        return;
      }
      await definition.giveUp(context, failure, problem);
      const { clusterId: cluster_id } = context;
      this.logger.error({ workflow: jobName, cluster_id, problem }, 'A compensation was given up');
      await this.end(context, 'ERROR', stepId, 'given-up', problem);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      const place = { jobName, stepId, index: definition.steps.length };
      await this.retryCompensation(place, context, { recorded, tries, error });
    }
  }

  /** What keeps the clean-up from ever being done; null when it is. Throws what another try may cure. */
  private async cleanUp(
    definition: WorkflowDefinition,
    context: Held,
    failure: WorkflowFailure,
  ): Promise<string | null> {
    try {
      await definition.compensate(context, failure);
      return null;
    } catch (error) {
      if (isRetryable(error) || this.stopping) throw error;
      return messageOf(error);
    }
  }

  /** Later each time. What is wrong is logged when it changes, and not with each try. */
  private async retryCompensation(
    { jobName, stepId, index }: Pick<Place, 'jobName' | 'stepId' | 'index'>,
    context: Held,
    { recorded, tries, error }: { recorded: RecordedFailure; tries: number; error: unknown },
  ): Promise<void> {
    if (this.stopping) {
      await this.sleep(jobName, context, index, tries, 0, stepId, 'interrupted', null);
      return;
    }
    const problem = messageOf(error);
    if (problem !== recorded.problem) {
      const { clusterId: cluster_id } = context;
      this.logger.error({ workflow: jobName, cluster_id, err: error }, 'A compensation failed and will be tried again');
      const failure = JSON.stringify({ ...recorded, problem });
      await this.fenced(this.dataSource.manager, context, 'failure = $3', [failure]);
    }
    const { first, longest } = COMPENSATION_RETRY_MS;
    const ms = Math.min(longest, first * 2 ** Math.min(tries, 10));
    await this.sleep(jobName, context, index, tries + 1, ms, stepId, 'failed', problem);
  }

  private async claim(instanceId: number, owner: string): Promise<ClaimedInstance | null> {
    return this.dataSource.transaction(async (tx) => {
      const [row] = await returning<ClaimedInstance & { previous: WorkflowExecutionState }>(
        tx,
        `UPDATE workflow_job_instances i SET lease_owner = $2, lease_until = platform_now() + $3 * interval '1 millisecond',
           due_at = platform_now() + $3 * interval '1 millisecond', state = 'EXECUTING', wake_requested = false, executor = $4
         FROM workflow_jobs j, (SELECT state, workflow_job_instance_id FROM workflow_job_instances
                                WHERE workflow_job_instance_id = $1 FOR UPDATE) p
         WHERE i.workflow_job_instance_id = p.workflow_job_instance_id AND j.workflow_job_id = i.workflow_job_id
           AND i.ended_at IS NULL AND (i.lease_owner IS NULL OR i.lease_until < platform_now())
         RETURNING i.workflow_job_instance_id, i.step_index, i.attempt, i.failure, i.deadline_at, i.correlation_id,
           j.tenant_id, j.cluster_id, j.created_by_user_id, p.state AS previous`,
        [instanceId, owner, this.config.worker.leaseMs, JSON.stringify(executor())],
      );
      if (!row) return null;
      if (row.previous !== 'EXECUTING') {
        await appendWorkflowState(tx, instanceId, 'RECEIVED');
        await appendWorkflowState(tx, instanceId, 'EXECUTING');
      } else {
        await tx.query(
          `UPDATE workflow_steps SET outcome = 'interrupted', ended_at = platform_now()
           WHERE workflow_job_instance_id = $1 AND ended_at IS NULL`,
          [instanceId],
        );
      }
      return row;
    });
  }

  private async extend(held: Held, controller: AbortController): Promise<void> {
    try {
      await this.fenced(
        this.dataSource.manager,
        held,
        `lease_until = platform_now() + $3 * interval '1 millisecond',
        due_at = platform_now() + $3 * interval '1 millisecond'`,
        [this.config.worker.leaseMs],
      );
      held.heldAt = performance.now();
    } catch (error) {
      // Whoever cannot reach the database for so long must take it that another worker has gone on.
      if (error instanceof LeaseLost || performance.now() - held.heldAt > this.config.worker.leaseMs)
        controller.abort();
      else
        this.logger.warn(
          { err: error, workflow_job_instance_id: held.instanceId },
          'A workflow lease could not be extended',
        );
    }
  }

  private async openStep(instanceId: number, name: string, attempt: number): Promise<number> {
    const [row] = await returning<{ workflow_step_id: number }>(
      this.dataSource.manager,
      'INSERT INTO workflow_steps (workflow_job_instance_id, name, attempt) VALUES ($1, $2, $3) RETURNING workflow_step_id',
      [instanceId, name, attempt],
    );
    return row?.workflow_step_id ?? 0;
  }

  private async advance(context: Held, nextIndex: number, stepId: number): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      await this.fenced(tx, context, 'step_index = $3, attempt = 0', [nextIndex]);
      await closeStep(tx, stepId, 'done', null);
    });
  }

  private async fail(context: Held, failure: WorkflowFailure, deadline: Date, stepId: number): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const params = [JSON.stringify(failure), deadline];
      await this.fenced(tx, context, 'failure = $3, deadline_at = $4, attempt = 0', params);
      await closeStep(tx, stepId, 'failed', failure.message);
    });
  }

  /** Gives the lease back until later. False when a wake-up came meanwhile: then the step runs again at once. */
  private async sleep(
    jobName: JobName,
    context: Held,
    stepIndex: number,
    attempt: number,
    ms: number,
    stepId: number,
    outcome: 'waiting' | 'failed' | 'interrupted',
    error: string | null,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      await closeStep(tx, stepId, outcome, error);
      const [row] = await returning<{ wake_requested: boolean }>(
        tx,
        `SELECT wake_requested FROM workflow_job_instances WHERE workflow_job_instance_id = $1 AND lease_owner = $2 FOR UPDATE`,
        [context.instanceId, context.owner],
      );
      if (!row) throw new LeaseLost();
      if (row.wake_requested && outcome === 'waiting') {
        await this.fenced(tx, context, 'wake_requested = false', []);
        return false;
      }
      await this.fenced(
        tx,
        context,
        `step_index = $3, attempt = $4, lease_owner = NULL, lease_until = NULL,
         due_at = platform_now() + ($5 + 2000) * interval '1 millisecond'`,
        [stepIndex, attempt, ms],
      );
      await enqueue(tx, jobName as 'cluster.start', { workflow_job_instance_id: context.instanceId }, ms);
      return true;
    });
  }

  private async end(
    context: Held,
    state: 'DONE' | 'ERROR' | 'TERMINATED',
    stepId: number | null,
    stepOutcome: string,
    stepError: string | null = null,
  ): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      if (stepId !== null) await closeStep(tx, stepId, stepOutcome, stepError);
      await this.fenced(
        tx,
        context,
        'state = $3, ended_at = platform_now(), to_date = platform_now(), due_at = NULL, lease_owner = NULL, lease_until = NULL',
        [state],
      );
      await appendWorkflowState(tx, context.instanceId, state);
    });
  }

  /** Updates the instance while this worker holds it; `$1` and `$2` are taken. */
  private async fenced(tx: Tx, held: Held, set: string, params: unknown[]): Promise<void> {
    const changed = await returning(
      tx,
      `UPDATE workflow_job_instances SET ${set} WHERE workflow_job_instance_id = $1 AND lease_owner = $2 AND ended_at IS NULL
       RETURNING workflow_job_instance_id`,
      [held.instanceId, held.owner, ...params],
    );
    if (changed.length === 0) throw new LeaseLost();
  }

  /** Ends the process as kill -9 would, where a test has asked for it. */
  private crash(jobName: JobName, step: string, moment: 'before' | 'after' | 'committed'): void {
    if (this.config.product.environment !== 'test') return;
    if (this.config.worker.crashPoint === `${jobName}:${step}:${moment}`) process.kill(process.pid, 'SIGKILL');
  }
}

async function closeStep(tx: Tx, stepId: number, outcome: string, error: string | null): Promise<void> {
  await tx.query(
    'UPDATE workflow_steps SET ended_at = platform_now(), outcome = $2, error = $3 WHERE workflow_step_id = $1',
    [stepId, outcome, error],
  );
}

function isRetryable(error: unknown): boolean {
  if (error instanceof PermanentError) return false;
  if (typeof error === 'object' && error !== null && 'retryable' in error) return error.retryable === true;
  return true;
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
