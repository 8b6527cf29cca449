import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../config/config';
import { LOGGER, type Logger } from '../../../platform/logging/logger';
import { Reconciler } from '../../../platform/workflows/reconciler';
import { Repairs } from '../../../platform/workflows/repairs';
import { RunScheduler } from '../run-scheduler.service';
import { RunsRepository } from '../runs.repository';

/** Clusters that one pass looks at. */
const CLUSTERS = 500;

/** Ends runs whose node is gone and settles runs whose wake-up was lost. */
@Injectable()
export class JobReconciler extends Reconciler {
  readonly name = 'jobs';
  readonly everyMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;
  private lastCluster = 0;

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
    // The next pass goes on where this one ends.
    const clusters = await this.runs.clustersWithWaitingRuns(this.lastCluster, CLUSTERS);
    for (const clusterId of clusters) {
      await repairs.attempt(`Waiting jobs of cluster ${clusterId}`, () => this.scheduler.lookAgain(clusterId));
    }
    this.lastCluster = clusters.length === CLUSTERS ? (clusters.at(-1) ?? 0) : 0;
    repairs.finish();
  }

  private async endRun(runId: number, isLost: boolean): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      // The cluster first, as everywhere.
      await this.runs.lockCluster(tx, runId);
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
