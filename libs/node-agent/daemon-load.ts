import { MAX_LOAD, type NodeLoad } from '../contracts/agent-protocol';
import { parseApplicationDemand, pendingCores } from '../spark/application-demand';
import type { WorkerLoad } from '../spark/daemon-command';

/** Minimum time between two samples of the load. */
export const MIN_SAMPLE_INTERVAL_MS = 1_000;
/** This many applications request more than a cluster can grow by. */
const MAX_APPLICATIONS = 50;
/** Time limit for the pages of all applications together. */
const PAGES_TIMEOUT_MS = 5_000;
/** An executor may be on its way to a worker that has just started to drain. */
const EMPTY_SAMPLES_TO_DRAINED = 2;

/** The load of a node's daemons, as their pages show it. */
export class DaemonLoad {
  private observed: NodeLoad | null = null;
  private at = -Infinity;
  /** Number of consecutive samples in which the draining worker had no executors. */
  private emptySamples = 0;

  /** Null if the load is unknown. */
  get current(): NodeLoad | null {
    return this.observed;
  }

  get isDrained(): boolean {
    return this.emptySamples >= EMPTY_SAMPLES_TO_DRAINED;
  }

  observeWorker({ usedCores, executors }: WorkerLoad, isDraining: boolean): void {
    if (!this.isDue()) return;
    this.observed = { pending_cores: 0, used_cores: bounded(usedCores), executors: bounded(executors) };
    this.emptySamples = isDraining && executors === 0 ? this.emptySamples + 1 : 0;
  }

  /** Reads the pages of the master's applications one by one. A page that cannot be read counts as no demand. */
  async observeMaster(
    applications: readonly string[],
    pageOf: (path: string) => Promise<string | null>,
  ): Promise<void> {
    if (!this.isDue()) return;
    const until = performance.now() + PAGES_TIMEOUT_MS;
    let pending = 0;
    for (const id of applications.slice(0, MAX_APPLICATIONS)) {
      if (performance.now() > until || pending >= MAX_LOAD) break;
      const page = await pageOf(`/app/?appId=${encodeURIComponent(id)}`);
      const demand = page === null ? null : parseApplicationDemand(page);
      if (demand) pending += pendingCores(demand);
    }
    this.observed = { pending_cores: bounded(pending), used_cores: 0, executors: 0 };
  }

  private isDue(): boolean {
    const now = performance.now();
    if (now - this.at < MIN_SAMPLE_INTERVAL_MS) return false;
    this.at = now;
    return true;
  }
}

function bounded(number: number): number {
  return Math.min(number, MAX_LOAD);
}
