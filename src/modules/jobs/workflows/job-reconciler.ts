import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import { Reconciler } from '../../../platform/workflows/reconciler';
import { Repairs } from '../../../platform/workflows/repairs';
import { RunScheduler } from '../run-scheduler.service';
import { RunsRepository } from '../runs.repository';

/** Ends runs whose node is gone and settles runs whose wake-up was lost. */
@Injectable()
export class JobReconciler extends Reconciler {
  readonly name = 'jobs';
  readonly everyMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsRepository,
    private readonly scheduler: RunScheduler,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const repairs = new Repairs(signal);
    for (const { run_id, node_status } of await this.runs.onDeadNodes())
      await repairs.attempt(`Job ${run_id}`, () => this.endRun(run_id, node_status === 'ERROR'));
    for (const clusterId of await this.runs.clustersWithWaitingRuns())
      await repairs.attempt(`Waiting jobs of cluster ${clusterId}`, () => this.scheduler.settle(clusterId));
    repairs.finish();
  }

  private async endRun(runId: number, isLost: boolean): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const run = await this.runs.lock(tx, runId);
      if (!run) return;
      await this.scheduler.end(tx, run, {
        to: 'TERMINATED',
        code: isLost ? 'NODE_LOST' : 'NODE_STOPPED',
        reason: isLost ? 'The node of the job was lost.' : 'The node of the job was stopped.',
        exitCode: null,
      });
      this.logger.warn({ run_id: runId, lost: isLost }, 'Ended a run whose node is gone');
    });
  }
}
