import { setTimeout as pause } from 'node:timers/promises';
import { ComputeDriverError, type DriverContext, type SweepResult, type SweepScope } from './compute-driver';

/** Something with the labels of the installation that a provider shows. */
interface Candidate {
  nodeToken: string;
  /** Null where the provider does not say. */
  createdAt: Date | null;
}

/** How what is found is removed. */
interface Removal<T extends Candidate> {
  /** Has the provider remove them, and waits for none to be gone; it may be asked again for the same ones. */
  remove(some: readonly T[]): Promise<unknown>;
  /** How many the provider takes in one call; one unless stated. */
  maxPerCall?: number;
  /** Whether a refused call for several may be the fault of one of them, so that it is worth trying them apart. */
  mayBeCausedByOne?(error: unknown): boolean;
  /** Whether what has no known age may be removed, as only its node decides; it is kept unless stated. */
  removesWithoutAge?: boolean;
}

/** Calls under way at once. */
const MAX_CONCURRENT_CALLS = 12;
/** So often a call is made that the provider puts off; a sweep that finds no room at all ends as failed. */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** Refused calls for several that are tryRemove apart, in one sweep: one bad machine among a thousand takes ten. */
const MAX_SPLITS = 100;

/**
 * Removes of what was found that which is old enough and that no wanted node has. Calls go out some at a time. All of them
 * wait where the provider asks for that, and one that fails keeps none of the others.
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

/** What two parts of a sweep have done; a node of which one part failed has failed. */
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
  /** When calls may go out again, on the clock of `performance.now()`. */
  private resumesAt = 0;
  private splits = 0;

  constructor(
    private readonly removal: Removal<T>,
    private readonly signal: AbortSignal,
  ) {}

  /** What was not removed, and why. */
  async removeAll(orphans: readonly T[]): Promise<ReadonlyMap<T, unknown>> {
    const { maxPerCall = 1 } = this.removal;
    const calls = Array.from({ length: Math.ceil(orphans.length / maxPerCall) }, (_, at) =>
      orphans.slice(at * maxPerCall, (at + 1) * maxPerCall),
    ).values();
    const lane = async (): Promise<void> => {
      for (const some of calls) await this.removeBatch(some);
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_CALLS }, lane));
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

  /** Null once the provider has taken the call, or else why it did not. */
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

  /** Waits until calls may go out; throws once the time of the sweep is up. */
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
  const message = 'The time of the sweep was up before this could be removed.';
  return new ComputeDriverError('SweepCut', message, { kind: 'transient', cause });
}
