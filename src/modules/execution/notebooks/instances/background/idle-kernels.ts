import { Injectable } from '@nestjs/common';
import { Config } from '../../../../../config/config';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../../platform/background/workflows/failure-collector';
import { NotebookInstancesService } from '../notebook-instances.service';
import { KernelsRepository } from '../kernels.repository';

const BATCH = 100;

/** Stops notebook instances that have had neither work nor a client for too long. */
@Injectable()
export class IdleKernels extends Reconciler {
  readonly name = 'idle-kernels';
  readonly intervalMs: number;
  readonly deadlineMs = 60_000;
  private readonly minutes: number;

  constructor(
    { worker }: Config,
    private readonly kernels: KernelsRepository,
    private readonly notebooks: NotebookInstancesService,
  ) {
    super();
    this.intervalMs = worker.reconcileMs;
    this.minutes = worker.kernelIdleMinutes;
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask((params) => this.kernels.hasIdle(params, this.minutes));
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    for (const { run_id } of await this.kernels.idle(this.minutes, BATCH)) {
      await failures.attempt(`Stop of the idle notebook ${run_id}`, () => this.notebooks.cull(run_id, this.minutes));
    }
    failures.throwFailures();
  }
}
