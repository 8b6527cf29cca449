import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NodeUtilization } from '../../../../libs/contracts/agent-protocol';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { Pump } from '../../../platform/kernel/process/pump';
import { ClusterMetricsService } from '../../execution/clusters';

/** Time until what nodes report is recorded, milliseconds: a node counts at most once in it, however often it reports. */
const COLLECT_MS = 5_000;
/** Nodes of one statement. */
const TOGETHER = 1_000;

/** Records what nodes say that they use, many nodes with one statement. A process that is killed forgets the last seconds. */
@Injectable()
export class ReportedUtilization implements OnApplicationShutdown {
  /** What is being collected. */
  private readonly reports = new Map<number, NodeUtilization>();
  private readonly records = new Pump(() => this.record(), {
    minPauseMs: COLLECT_MS,
    failed: (error) => this.logger.warn({ err: error }, 'What nodes use was not recorded'),
  });

  constructor(
    private readonly metrics: ClusterMetricsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationShutdown(): void {
    void this.records.stop();
  }

  /** Notes what the node says; it is recorded soon, unless the node says something else before. */
  note(nodeId: number, utilization: NodeUtilization): void {
    this.reports.set(nodeId, utilization);
    this.records.wake(COLLECT_MS);
  }

  private async record(): Promise<void> {
    const reports = [...this.reports];
    this.reports.clear();
    for (let at = 0; at < reports.length; at += TOGETHER)
      await this.metrics.record(new Map(reports.slice(at, at + TOGETHER)));
  }
}
