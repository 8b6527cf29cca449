import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { FailureCollector } from '../../../../platform/background/workflows/failure-collector';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterReconciler } from './cluster-reconciler';
import { Drivers } from './drivers';

const INTERVAL_MS = 1_000;
/** Pause before the second repair of a node, milliseconds. It doubles with each further repair. */
const MIN_BACKOFF_MS = 2_000;
const MAX_BACKOFF_MS = 60_000;

/** Repairs nodes of running clusters as soon as a driver sees that they are down, long before they count as silent. */
@Injectable()
export class DownedNodeReconciler extends Reconciler {
  readonly name = 'downed-nodes';
  readonly intervalMs = Math.min(INTERVAL_MS, this.config.worker.reconcileMs);
  readonly deadlineMs = 60_000;
  /** Recently repaired nodes by token: the next pause, and the end of the present one by the monotonic clock. */
  private readonly backoffs = new Map<string, { ms: number; until: number }>();

  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly drivers: Drivers,
    private readonly clusters: ClusterReconciler,
    private readonly config: Config,
  ) {
    super();
  }

  /** Looks at the processes of this machine without the database. */
  override async hasWork(): Promise<boolean> {
    return (await this.downNodes(performance.now())).length > 0;
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    for (const [token, { until }] of this.backoffs) if (now > until + MAX_BACKOFF_MS) this.backoffs.delete(token);
    const failures = new FailureCollector(signal);
    for (const node of await this.nodes.runningAmong(await this.downNodes(now))) {
      this.backOff(node.token, now);
      await failures.attempt(`Node ${node.node_id}`, () =>
        this.clusters.restartOrMarkLost({ ...node, is_lost: false }, signal),
      );
    }
    failures.throwFailures();
  }

  /** Returns the tokens of nodes that are down and were not repaired just now. */
  private async downNodes(now: number): Promise<string[]> {
    const found: string[] = [];
    for (const driver of await this.drivers.withoutCredentials())
      found.push(...((await driver.onSite?.listDownNodes()) ?? []));
    return found.filter((token) => now >= (this.backoffs.get(token)?.until ?? 0));
  }

  /** Delays the next repair, so that a node that goes down repeatedly is not restarted all the time. */
  private backOff(token: string, now: number): void {
    const ms = this.backoffs.get(token)?.ms ?? MIN_BACKOFF_MS;
    this.backoffs.set(token, { ms: Math.min(2 * ms, MAX_BACKOFF_MS), until: now + ms });
  }
}
