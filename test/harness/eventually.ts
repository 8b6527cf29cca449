export interface EventuallyOptions {
  /** The deadline, milliseconds; default a minute. */
  timeoutMs?: number;
  /** Pause between two tries, milliseconds; by default a tenth of the time waited, from 20 to 500. */
  everyMs?: number;
  /** What is waited for, for the message of a missed deadline. */
  what?: string;
}

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/**
 * Tries `probe` until it neither throws nor answers `false`, `null` or `undefined`, and gives its answer. When the
 * deadline passes, throws an error that carries the last failure.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  { timeoutMs = 60_000, everyMs, what = 'the expected state' }: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const started = Date.now();
  const deadline = started + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await probe();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
      last = `last answer: ${String(answer)}`;
    } catch (error) {
      last = error;
    }
    const now = Date.now();
    // A long wait probes less often, because every probe takes CPU from the work that it waits for.
    const pauseMs = everyMs ?? Math.min(Math.max((now - started) / 10, MIN_PAUSE_MS), MAX_PAUSE_MS);
    if (now + pauseMs > deadline) {
      const cause = last instanceof Error ? last.message : String(last);
      throw new Error(`${what} not reached within ${timeoutMs} ms: ${cause}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
