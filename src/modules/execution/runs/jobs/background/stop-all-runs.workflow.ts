import { Injectable } from '@nestjs/common';
import {
  Step,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
} from '../../../../../platform/background/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../../../platform/background/workflows/workflow-jobs';
import { RunScheduler } from '../run-scheduler.service';
import { STOP_ALL_RUNS } from '../run-workflows';

/** Stops the jobs of a cluster in batches, one transaction each, so that others can lock the cluster in between. */
@Injectable()
@ImplementsWorkflow(STOP_ALL_RUNS)
export class StopAllRunsWorkflow implements Workflow<'cluster'> {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = 1_000;
  readonly steps = [{ name: 'stop-jobs', run: (context: WorkflowContext<'cluster'>) => this.stopJobs(context) }];

  constructor(private readonly scheduler: RunScheduler) {}

  /** Nothing to undo: stopped jobs stay stopped, and the others keep running. */
  compensate(): Promise<void> {
    return Promise.resolve();
  }

  giveUp(): Promise<void> {
    return Promise.resolve();
  }

  private async stopJobs(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const { subject, actorUserId: userId, requestedAt: submittedBy, signal } = context;
    for (;;) {
      signal.throwIfAborted();
      if (!(await this.scheduler.stopBatch(subject.id, { submittedBy, userId }))) return Step.done;
    }
  }
}
