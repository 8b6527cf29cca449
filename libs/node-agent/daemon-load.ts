import { MAX_LOAD, type NodeLoad } from '../contracts/agent-protocol';
import { parseApplicationDemand, pendingCores } from '../spark/application-demand';
import type { WorkerLoad } from '../spark/daemon-command';

/** The load is looked at no more often. */
export const MIN_SAMPLE_INTERVAL_MS = 1_000;
/** So many applications ask for more than a cluster can grow by. */
const APPLICATIONS = 50;
/** For the pages of all of them. */
const PAGES_DEADLINE_MS = 5_000;
/** An executor may be on its way to a worker that has just been told to go. */
const LOOKS_TO_DRAINED = 2;

/** What the pages of a node's daemons tell of their load. */
export class DaemonLoad {
  private observed: NodeLoad | null = null;
  private at = -Infinity;
  /** How often in a row the worker that is to go was seen without executors. */
  private emptyLooks = 0;

  /** Null while it is unknown. */
  get current(): NodeLoad | null {
    return this.observed;
  }

  get isDrained(): boolean {
    return this.emptyLooks >= LOOKS_TO_DRAINED;
  }

  observeWorker({ usedCores, executors }: WorkerLoad, isToGo: boolean): void {
    if (!this.isDue()) return;
    this.observed = { pending_cores: 0, used_cores: bounded(usedCores), executors: bounded(executors) };
    this.emptyLooks = isToGo && executors === 0 ? this.emptyLooks + 1 : 0;
  }

  /** Asks for the pages of the master's applications one by one; what cannot be read asks for nothing. */
  async observeMaster(
    applications: readonly string[],
    pageOf: (path: string) => Promise<string | null>,
  ): Promise<void> {
    if (!this.isDue()) return;
    const until = performance.now() + PAGES_DEADLINE_MS;
    let pending = 0;
    for (const id of applications.slice(0, APPLICATIONS)) {
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
