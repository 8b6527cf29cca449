export interface EventuallyOptions {
  /** The timeout in milliseconds; a minute by default. */
  timeoutMs?: number;
  /** The pause between two attempts in milliseconds; by default a tenth of the elapsed time, from 20 to 500. */
  everyMs?: number;
  /** The expected state, for the message of a timeout. */
  what?: string;
}

const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/**
 * Calls `probe` until it neither throws nor returns `false`, `null` or `undefined`, and returns its result. After the
 * timeout, throws an error with the last failure.
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
    // A long wait probes less often, because every probe takes CPU time from the awaited work.
    const pauseMs = everyMs ?? Math.min(Math.max((now - started) / 10, MIN_PAUSE_MS), MAX_PAUSE_MS);
    if (now + pauseMs > deadline) {
      const cause = last instanceof Error ? last.message : String(last);
      throw new Error(`${what} not reached within ${timeoutMs} ms: ${cause}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
