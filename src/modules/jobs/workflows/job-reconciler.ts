import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import type { Reconciler } from '../../../platform/workflows/reconcile-loop';
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

  async reconcile(): Promise<void> {
    for (const { run_id, node_status } of await this.runs.onDeadNodes()) {
      await this.dataSource.transaction(async (tx) => {
        const run = await this.runs.lock(tx, run_id);
        if (!run) return;
        const lost = node_status === 'ERROR';
        await this.scheduler.end(tx, run, {
          to: 'TERMINATED',
          code: lost ? 'NODE_LOST' : 'NODE_STOPPED',
          reason: lost ? 'The node of the job was lost.' : 'The node of the job was stopped.',
          exitCode: null,
        });
        this.logger.warn({ run_id, node_status }, 'Ended a run whose node is gone');
      });
    }
    for (const clusterId of await this.runs.clustersWithWaitingRuns()) await this.scheduler.settle(clusterId);
  }
}
