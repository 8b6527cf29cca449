import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../../config/config';
import { LOGGER, type Logger } from '../../../../../platform/kernel/logging/logger';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../../platform/background/workflows/failure-collector';
import { type RunEnd, RunScheduler } from '../run-scheduler.service';
import { type RunOnDeadNode, RunsRepository } from '../runs.repository';

/** Clusters that one pass looks at. */
const CLUSTERS = 500;

/** Ends runs whose node is gone and schedules runs whose wake-up was lost. */
@Injectable()
export class JobReconciler extends Reconciler {
  readonly name = 'jobs';
  readonly intervalMs = this.config.worker.reconcileMs;
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
    const failures = new FailureCollector(signal);
    for (const run of await this.runs.onDeadNodes())
      await failures.attempt(`Job ${run.run_id}`, () => this.endRun(run.run_id, whyGone(run)));
    // The next pass goes on where this one ends.
    const clusters = await this.runs.clustersWithWaitingRuns(this.lastCluster, CLUSTERS);
    for (const clusterId of clusters) {
      await failures.attempt(`Waiting jobs of cluster ${clusterId}`, () => this.scheduler.reschedule(clusterId));
    }
    this.lastCluster = clusters.length === CLUSTERS ? (clusters.at(-1) ?? 0) : 0;
    failures.throwFailures();
  }

  private async endRun(runId: number, why: Pick<RunEnd, 'code' | 'reason'>): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const run = await this.runs.lockWithCluster(tx, runId);
      if (!run) return;
      await this.scheduler.end(tx, run, {
        to: 'TERMINATED',
        ...why,
        exitCode: null,
      });
      this.logger.warn({ run_id: runId, code: why.code }, 'Ended a run whose node is gone');
    });
  }
}

/** A machine that its provider has announced to take back is not lost by a fault, whatever the platform saw first. */
function whyGone({ node_status, interruption }: RunOnDeadNode): Pick<RunEnd, 'code' | 'reason'> {
  if (interruption !== null && node_status !== 'STOPPED')
    return { code: 'SPOT_INTERRUPTED', reason: `The provider took the machine of the job back: ${interruption}` };
  if (node_status === 'ERROR') return { code: 'NODE_LOST', reason: 'The node of the job was lost.' };
  return { code: 'NODE_STOPPED', reason: 'The node of the job was stopped.' };
}
