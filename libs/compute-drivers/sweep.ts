import { setTimeout as pause } from 'node:timers/promises';
import { ComputeDriverError, type DriverContext, type SweepResult, type SweepScope } from './compute-driver';

/** A resource with the labels of the installation. */
interface Candidate {
  nodeToken: string;
  /** Null if the provider does not report it. */
  createdAt: Date | null;
}

interface Removal<T extends Candidate> {
  /** Requests the removal and does not wait until the resources are gone. It may be called again for the same ones. */
  remove(some: readonly T[]): Promise<unknown>;
  /** Resources that the provider removes in one call; 1 if absent. */
  maxPerCall?: number;
  /** True if one resource may have caused the refusal of a call for several, so that smaller calls may succeed. */
  mayBeCausedByOne?(error: unknown): boolean;
  /** True if resources of unknown age are removed unless their node is live; they are kept if absent. */
  removesWithoutAge?: boolean;
}

const MAX_CONCURRENT_CALLS = 12;
/** Tries of a call that the provider throttles. */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** Refused calls for several resources that one sweep splits in two. One bad machine among a thousand takes ten splits. */
const MAX_SPLITS = 100;

/**
 * Removes the resources that are old enough and belong to no live node, with a few calls at a time. If the provider
 * throttles one call, all calls wait. A call that fails does not stop the others.
 */
export async function removeOrphans<T extends Candidate>(
  found: readonly T[],
  scope: Pick<SweepScope, 'olderThan' | 'liveAmong'>,
  { signal }: Pick<DriverContext, 'signal'>,
  removal: Removal<T>,
): Promise<SweepResult> {
  const { olderThan } = scope;
  const aged = found.filter(({ createdAt }) =>
    createdAt === null ? removal.removesWithoutAge === true : createdAt < olderThan,
  );
  if (aged.length === 0) return { removed: [], failed: [] };
  const live = await scope.liveAmong([...new Set(aged.map(({ nodeToken }) => nodeToken))]);
  const orphans = aged.filter(({ nodeToken }) => !live.has(nodeToken));
  const failures = await new OrphanRemoval(removal, signal).removeAll(orphans);
  return resultOf(orphans, failures);
}

/** Merges the results of two parts of a sweep. A node fails if either part failed for it. */
export function mergeSweepResults(one: SweepResult, other: SweepResult): SweepResult {
  const failed = new Map([...one.failed, ...other.failed].map((failure) => [failure.nodeToken, failure]));
  const removed = [...new Set([...one.removed, ...other.removed])].filter((token) => !failed.has(token));
  return { removed, failed: [...failed.values()] };
}

function resultOf<T extends Candidate>(orphans: readonly T[], failures: ReadonlyMap<T, unknown>): SweepResult {
  const failed = new Map<string, unknown>();
  for (const [{ nodeToken }, error] of failures) if (!failed.has(nodeToken)) failed.set(nodeToken, error);
  const tokens = new Set(orphans.map(({ nodeToken }) => nodeToken));
  return {
    removed: [...tokens].filter((nodeToken) => !failed.has(nodeToken)),
    failed: [...failed].map(([nodeToken, error]) => ({ nodeToken, error })),
  };
}

class OrphanRemoval<T extends Candidate> {
  private readonly failures = new Map<T, unknown>();
  /** Time of `performance.now()` before which no call is sent. */
  private resumesAt = 0;
  private splits = 0;

  constructor(
    private readonly removal: Removal<T>,
    private readonly signal: AbortSignal,
  ) {}

  /** Returns the errors of the resources that could not be removed. */
  async removeAll(orphans: readonly T[]): Promise<ReadonlyMap<T, unknown>> {
    const { maxPerCall = 1 } = this.removal;
    const calls = Array.from({ length: Math.ceil(orphans.length / maxPerCall) }, (_, at) =>
      orphans.slice(at * maxPerCall, (at + 1) * maxPerCall),
    ).values();
    const worker = async (): Promise<void> => {
      for (const some of calls) await this.removeBatch(some);
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_CALLS }, worker));
    return this.failures;
  }

  private async removeBatch(some: readonly T[]): Promise<void> {
    const error = await this.tryRemove(some);
    if (error === null) return;
    if (some.length === 1 || this.splits >= MAX_SPLITS || this.removal.mayBeCausedByOne?.(error) !== true) {
      for (const one of some) this.failures.set(one, error);
      return;
    }
    this.splits += 1;
    const middle = Math.ceil(some.length / 2);
    await this.removeBatch(some.slice(0, middle));
    await this.removeBatch(some.slice(middle));
  }

  /** Returns null once the provider has accepted the call, or the error. */
  private async tryRemove(some: readonly T[]): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.waitForTurn();
        await this.removal.remove(some);
        return null;
      } catch (error) {
        const isThrottled = error instanceof ComputeDriverError && error.kind === 'throttled';
        if (!isThrottled || tries >= MAX_ATTEMPTS) return error;
        const ms = Math.min(error.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (tries - 1), MAX_PAUSE_MS);
        this.resumesAt = Math.max(this.resumesAt, performance.now() + ms);
      }
    }
  }

  /** Waits while the provider throttles calls. Throws once the time of the sweep is up. */
  private async waitForTurn(): Promise<void> {
    for (;;) {
      if (this.signal.aborted) throw timeExpired(this.signal.reason);
      const ms = this.resumesAt - performance.now();
      if (ms <= 0) return;
      await pause(ms, undefined, { signal: this.signal }).catch(() => undefined);
    }
  }
}

function timeExpired(cause: unknown): ComputeDriverError {
  const message = 'The sweep ran out of time before it removed this machine or disk. The next sweep tries again.';
  return new ComputeDriverError('SweepCut', message, { kind: 'transient', cause });
}
