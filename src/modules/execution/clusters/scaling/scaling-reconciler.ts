import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { pause } from '../../../../platform/kernel/process/pause';
import { Pump } from '../../../../platform/kernel/process/pump';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterScaler } from './cluster-scaler';
import { ScalingRepository } from './scaling.repository';

/** How long the look at a cluster may take to end when the process stops, milliseconds. */
const END_MS = 1_000;
/** Pause between two looks at the clusters that were heard of, milliseconds: a busy one is heard of all the time. */
const BETWEEN_MS = 200;
/** Clusters that are read together. */
const BATCH = 200;

/**
 * Looks at every running cluster now and then, and at once at one of which something was heard: a run that waits, a node
 * that was lost.
 */
@Injectable()
export class ScalingReconciler extends Reconciler implements OnModuleInit, OnApplicationShutdown {
  readonly name = 'scaling';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;
  /** Clusters to look at at once, one after the other. */
  private readonly woken = new Set<number>();
  private readonly looks = new Pump((signal) => this.lookAtWoken(signal), { minPauseMs: BETWEEN_MS });
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scaling: ScalingRepository,
    private readonly scaler: ClusterScaler,
    private readonly listener: PgListener,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  onModuleInit(): void {
    this.unsubscribe = this.listener.on('scaling', (payload) => this.wake(payload));
  }

  async onApplicationShutdown(): Promise<void> {
    this.unsubscribe();
    // What it has begun is a transaction, which another worker finds done or not.
    const patience = new AbortController();
    await Promise.race([this.looks.stop(), pause(END_MS, patience.signal)]);
    patience.abort();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    let last = 0;
    for (;;) {
      const clusters = await this.scaling.some(this.dataSource.manager, last, BATCH);
      for (const cluster of clusters.filter((one) => this.scaler.isDue(one)))
        await failures.attempt(`Cluster ${cluster.clusterId}`, () => this.scaler.scale(cluster.clusterId));
      if (clusters.length < BATCH) break;
      last = clusters.at(-1)?.clusterId ?? last;
    }
    failures.throwFailures();
  }

  /** @param payload ids with commas between them; none after the connection was lost: the next pass looks at all */
  private wake(payload: string): void {
    for (const id of payload.split(',')) if (Number(id) > 0) this.woken.add(Number(id));
    if (this.woken.size > 0) this.looks.wake();
  }

  private async lookAtWoken(signal: AbortSignal): Promise<void> {
    const clusters = [...this.woken];
    this.woken.clear();
    for (const clusterId of clusters) if (!signal.aborted) await this.look(clusterId);
  }

  private async look(clusterId: number): Promise<void> {
    try {
      await this.scaler.scale(clusterId);
    } catch (error) {
      this.logger.warn({ err: error, cluster_id: clusterId }, 'The nodes of a cluster are looked at again later');
    }
  }
}
