import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterReconciler } from './cluster-reconciler';
import { Drivers } from './drivers';

const EVERY_MS = 1_000;
/** Before the second repair of a node, twice as long before the third, and so on; milliseconds. */
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 60_000;

/** FailureCollector at once the nodes of running clusters that a driver sees to be down, long before they count as silent. */
@Injectable()
export class DownedNodeReconciler extends Reconciler {
  readonly name = 'downed-nodes';
  readonly intervalMs = Math.min(EVERY_MS, this.config.worker.reconcileMs);
  readonly deadlineMs = 60_000;
  /** Nodes that were repaired of late: how long to wait the next time, and until when; by the monotonic clock. */
  private readonly pauses = new Map<string, { ms: number; until: number }>();

  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly drivers: Drivers,
    private readonly clusters: ClusterReconciler,
    private readonly config: Config,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    for (const [token, { until }] of this.pauses) if (now > until + MAX_PAUSE_MS) this.pauses.delete(token);
    const failures = new FailureCollector(signal);
    for (const driver of await this.drivers.withoutCredentials()) {
      const downed = ((await driver.onSite?.downed()) ?? []).filter(
        (token) => now >= (this.pauses.get(token)?.until ?? 0),
      );
      if (downed.length === 0) continue;
      for (const node of await this.nodes.runningAmong(downed)) {
        this.putOff(node.token, now);
        await failures.attempt(`Node ${node.node_id}`, () =>
          this.clusters.reviveOrLose({ ...node, is_lost: false }, signal),
        );
      }
    }
    failures.throwFailures();
  }

  /** One that goes down again and again is not started all the time. */
  private putOff(token: string, now: number): void {
    const ms = this.pauses.get(token)?.ms ?? FIRST_PAUSE_MS;
    this.pauses.set(token, { ms: Math.min(2 * ms, MAX_PAUSE_MS), until: now + ms });
  }
}
