import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../platform/background/workflows/work-questions';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { IdleClustersRepository } from './idle-clusters.repository';
import { inTransaction } from '../../../../platform/kernel/persistence/sql';

/** Stops clusters that have been idle for too long. It calls no provider, so no provider can delay it. */
@Injectable()
export class IdleClusterReconciler extends Reconciler {
  readonly name = 'idle-clusters';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;

  constructor(
    private readonly dataSource: DataSource,
    private readonly idle: IdleClustersRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.idle.hasIdle);
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    for (const clusterId of await this.idle.findIds(this.dataSource.manager))
      await failures.attempt(`Cluster ${clusterId}`, () => this.stopIfIdle(clusterId));
    failures.throwFailures();
  }

  private async stopIfIdle(clusterId: number): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lifecycle.lock(tx, clusterId);
      if (!cluster || !(await this.idle.isIdle(tx, clusterId))) return;
      await this.lifecycle.beginOperation(tx, cluster, 'stop', null, 'No job ran for longer than idle_timeout_ms');
      this.logger.info({ cluster_id: clusterId }, 'Stopping an idle cluster');
    });
  }
}
