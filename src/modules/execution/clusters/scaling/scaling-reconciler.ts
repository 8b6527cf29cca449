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

/** Time in which a scaling under way must end when the process stops, milliseconds. */
const STOP_TIMEOUT_MS = 1_000;
/**
 * Minimum pause between two passes over notified clusters, milliseconds. A busy cluster sends notifications all the
 * time.
 */
const MIN_INTERVAL_MS = 200;
const BATCH_SIZE = 200;

/**
 * Checks every running cluster periodically, and at once those with a notification, such as a waiting run or a lost
 * node.
 */
@Injectable()
export class ScalingReconciler extends Reconciler implements OnModuleInit, OnApplicationShutdown {
  readonly name = 'scaling';
  readonly intervalMs = this.config.worker.reconcileMs;
  readonly deadlineMs = 60_000;
  /** Clusters to check at once, one after the other. */
  private readonly pending = new Set<number>();
  private readonly pump = new Pump((signal) => this.scalePending(signal), { minPauseMs: MIN_INTERVAL_MS });
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
    // The scaling is one transaction, so another worker finds it done or not begun.
    const timeout = new AbortController();
    await Promise.race([this.pump.stop(), pause(STOP_TIMEOUT_MS, timeout.signal)]);
    timeout.abort();
  }

  override async hasWork(): Promise<boolean> {
    for await (const due of this.dueClusters()) if (due.length > 0) return true;
    return false;
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const failures = new FailureCollector(signal);
    for await (const due of this.dueClusters())
      for (const clusterId of due) await failures.attempt(`Cluster ${clusterId}`, () => this.scaler.scale(clusterId));
    failures.throwFailures();
  }

  /** Returns the ids of the clusters to scale in batches, of which some may be empty. */
  private async *dueClusters(): AsyncGenerator<number[]> {
    for (let last = 0; ;) {
      const clusters = await this.scaling.page(this.dataSource.manager, last, BATCH_SIZE);
      yield clusters.filter((cluster) => this.scaler.isDue(cluster)).map(({ clusterId }) => clusterId);
      if (clusters.length < BATCH_SIZE) return;
      last = clusters.at(-1)?.clusterId ?? last;
    }
  }

  /**
   * @param payload comma-separated ids; empty after the connection was lost, because the next pass checks all clusters
   */
  private wake(payload: string): void {
    for (const id of payload.split(',')) if (Number(id) > 0) this.pending.add(Number(id));
    if (this.pending.size > 0) this.pump.wake();
  }

  private async scalePending(signal: AbortSignal): Promise<void> {
    const clusters = [...this.pending];
    this.pending.clear();
    for (const clusterId of clusters) if (!signal.aborted) await this.scaleOne(clusterId);
  }

  private async scaleOne(clusterId: number): Promise<void> {
    try {
      await this.scaler.scale(clusterId);
    } catch (error) {
      this.logger.warn({ err: error, cluster_id: clusterId }, 'Scaling of a cluster failed; the next pass tries again');
    }
  }
}
