import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../../config/config';
import { LOGGER, type Logger } from '../../../../../platform/kernel/logging/logger';
import { Reconciler } from '../../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../../platform/background/workflows/failure-collector';
import { type RunEnd, RunScheduler } from '../run-scheduler.service';
import { type RunOnDeadNode, RunsRepository } from '../runs.repository';
import { inTransaction } from '../../../../../platform/kernel/persistence/sql';

const MAX_CLUSTERS_PER_PASS = 500;

/** Ends runs whose node is gone, and schedules waiting runs in case a notification was lost. */
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

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.runs.hasStuck);
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    for (const run of await this.runs.onDeadNodes())
      await failures.attempt(`End of job ${run.run_id}`, () => this.endRun(run.run_id, endOfLostRun(run)));
    // The next pass continues where this one ends.
    const clusters = await this.runs.clustersWithWaitingRuns(this.lastCluster, MAX_CLUSTERS_PER_PASS);
    for (const clusterId of clusters) {
      await failures.attempt(`Scheduling of the waiting jobs of cluster ${clusterId}`, () =>
        this.scheduler.reschedule(clusterId),
      );
    }
    this.lastCluster = clusters.length === MAX_CLUSTERS_PER_PASS ? (clusters.at(-1) ?? 0) : 0;
    failures.throwFailures();
  }

  private async endRun(runId: number, why: Pick<RunEnd, 'code' | 'reason'>): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const run = await this.runs.lockWithCluster(tx, runId);
      if (!run) return;
      await this.scheduler.end(tx, run, {
        to: 'TERMINATED',
        ...why,
        exitCode: null,
        step: 'reconcile',
      });
      this.logger.warn({ run_id: runId, code: why.code }, 'Ended a run whose node is gone');
    });
  }
}

/** A machine that its provider announced to take back counts as interrupted, even if the platform first saw its node fail. */
function endOfLostRun({ node_status, interruption }: RunOnDeadNode): Pick<RunEnd, 'code' | 'reason'> {
  if (interruption !== null && node_status !== 'STOPPED')
    return { code: 'SPOT_INTERRUPTED', reason: `The provider took back the spot machine of the job: ${interruption}` };
  if (node_status === 'ERROR')
    return { code: 'NODE_LOST', reason: 'The node of the job failed; the state history of the node says why.' };
  return { code: 'NODE_STOPPED', reason: 'The node of the job was stopped.' };
}
