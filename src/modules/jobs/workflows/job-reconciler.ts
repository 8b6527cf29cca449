import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
import { Repairs } from '../../../platform/workflows/repairs';
import { RunScheduler } from '../run-scheduler.service';
import { RunsRepository } from '../runs.repository';

/** Ends runs whose node is gone and settles runs whose wake-up was lost. */
@Injectable()
export class JobReconciler implements Reconciler {
  readonly name = 'jobs';

  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunsRepository,
    private readonly scheduler: RunScheduler,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

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
