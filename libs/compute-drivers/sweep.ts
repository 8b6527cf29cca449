import { setTimeout as pause } from 'node:timers/promises';
import { ComputeDriverError, type DriverContext, type Swept, type SweepScope } from './compute-driver';

/** Something with the labels of the installation that a provider shows. */
interface Found {
  nodeToken: string;
  /** Null where the provider does not say. */
  createdAt: Date | null;
}

/** How what is found is removed. */
interface Removal<T extends Found> {
  /** Has the provider remove them, and waits for none to be gone; it may be asked again for the same ones. */
  remove(some: readonly T[]): Promise<unknown>;
  /** How many the provider takes in one call; one unless stated. */
  perCall?: number;
  /** Whether a refused call for several may be the fault of one of them, so that it is worth trying them apart. */
  mayBlameOne?(error: unknown): boolean;
  /** Whether what has no known age may be removed, as only its node decides; it is kept unless stated. */
  ageless?: boolean;
}

/** Calls under way at once. */
const AT_ONCE = 12;
/** So often a call is made that the provider puts off; a sweep that finds no room at all ends as failed. */
const MAX_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** Refused calls for several that are tried apart, in one sweep: one bad machine among a thousand takes ten. */
const MAX_SPLITS = 100;

/**
 * Removes of what was found that which is old enough and that no wanted node has. Calls go out some at a time. All of them
 * wait where the provider asks for that, and one that fails keeps none of the others.
 */
export async function sweepFound<T extends Found>(
  found: readonly T[],
  scope: Pick<SweepScope, 'olderThan' | 'liveAmong'>,
  { signal }: Pick<DriverContext, 'signal'>,
  removal: Removal<T>,
): Promise<Swept> {
  const { olderThan } = scope;
  const aged = found.filter(({ createdAt }) => (createdAt === null ? removal.ageless === true : createdAt < olderThan));
  if (aged.length === 0) return { removed: [], failed: [] };
  const live = await scope.liveAmong([...new Set(aged.map(({ nodeToken }) => nodeToken))]);
  const orphans = aged.filter(({ nodeToken }) => !live.has(nodeToken));
  const failures = await new Removing(removal, signal).all(orphans);
  return outcomeOf(orphans, failures);
}

/** What two parts of a sweep have done; a node of which one part failed has failed. */
export function both(one: Swept, other: Swept): Swept {
  const failed = new Map([...one.failed, ...other.failed].map((failure) => [failure.nodeToken, failure]));
  const removed = [...new Set([...one.removed, ...other.removed])].filter((token) => !failed.has(token));
  return { removed, failed: [...failed.values()] };
}

function outcomeOf<T extends Found>(orphans: readonly T[], failures: ReadonlyMap<T, unknown>): Swept {
  const failed = new Map<string, unknown>();
  for (const [{ nodeToken }, error] of failures) if (!failed.has(nodeToken)) failed.set(nodeToken, error);
  const tokens = new Set(orphans.map(({ nodeToken }) => nodeToken));
  return {
    removed: [...tokens].filter((nodeToken) => !failed.has(nodeToken)),
    failed: [...failed].map(([nodeToken, error]) => ({ nodeToken, error })),
  };
}

class Removing<T extends Found> {
  private readonly failures = new Map<T, unknown>();
  /** When calls may go out again, on the clock of `performance.now()`. */
  private resumesAt = 0;
  private splits = 0;

  constructor(
    private readonly removal: Removal<T>,
    private readonly signal: AbortSignal,
  ) {}

  /** What was not removed, and why. */
  async all(orphans: readonly T[]): Promise<ReadonlyMap<T, unknown>> {
    const { perCall = 1 } = this.removal;
    const calls = Array.from({ length: Math.ceil(orphans.length / perCall) }, (_, at) =>
      orphans.slice(at * perCall, (at + 1) * perCall),
    ).values();
    const lane = async (): Promise<void> => {
      for (const some of calls) await this.removeSome(some);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return this.failures;
  }

  private async removeSome(some: readonly T[]): Promise<void> {
    const error = await this.tried(some);
    if (error === null) return;
    if (some.length === 1 || this.splits >= MAX_SPLITS || this.removal.mayBlameOne?.(error) !== true) {
      for (const one of some) this.failures.set(one, error);
      return;
    }
    this.splits += 1;
    const middle = Math.ceil(some.length / 2);
    await this.removeSome(some.slice(0, middle));
    await this.removeSome(some.slice(middle));
  }

  /** Null once the provider has taken the call, or else why it did not. */
  private async tried(some: readonly T[]): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.turn();
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
  private async turn(): Promise<void> {
    for (;;) {
      if (this.signal.aborted) throw cut(this.signal.reason);
      const ms = this.resumesAt - performance.now();
      if (ms <= 0) return;
      await pause(ms, undefined, { signal: this.signal }).catch(() => undefined);
    }
  }
}

function cut(cause: unknown): ComputeDriverError {
  const message = 'The time of the sweep was up before this could be removed.';
  return new ComputeDriverError('SweepCut', message, { kind: 'transient', cause });
}
