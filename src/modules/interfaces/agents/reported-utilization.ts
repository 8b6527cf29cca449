import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NodeUtilization } from '../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { Pump } from '../../../platform/kernel/process/pump';
import { ClusterMetricsService } from '../../execution/clusters';

/** Within an interval only the last sample of a node is recorded. */
const FLUSH_INTERVAL_MS = 5_000;
const MAX_NODES_PER_STATEMENT = 1_000;

/** Records the utilization of nodes in batches, one statement for many nodes. A process that is killed loses the last seconds. */
@Injectable()
export class ReportedUtilization implements OnApplicationShutdown {
  private readonly reports = new Map<number, NodeUtilization>();
  private readonly flushing = new Pump(() => this.flush(), {
    minPauseMs: FLUSH_INTERVAL_MS,
    failed: (error) =>
      this.logger.warn(
        { err: error },
        'Could not record the utilization of nodes; samples of the last seconds are lost',
      ),
  });

  constructor(
    private readonly metrics: ClusterMetricsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationShutdown(): void {
    void this.flushing.stop();
  }

  /** Adds a sample of a node, which replaces one that is not recorded yet. */
  add(nodeId: number, utilization: NodeUtilization): void {
    this.reports.set(nodeId, utilization);
    this.flushing.wake(FLUSH_INTERVAL_MS);
  }

  private async flush(): Promise<void> {
    const reports = [...this.reports];
    this.reports.clear();
    for (let at = 0; at < reports.length; at += MAX_NODES_PER_STATEMENT)
      await this.metrics.record(new Map(reports.slice(at, at + MAX_NODES_PER_STATEMENT)));
  }
}
