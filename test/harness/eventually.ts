export interface EventuallyOptions {
  /** The deadline, milliseconds; default a minute. */
  timeoutMs?: number;
  /** Pause between two tries, milliseconds; by default a tenth of the time waited, from 20 to 500. */
  everyMs?: number;
  /** What is waited for, for the message of a missed deadline. */
  what?: string;
}

const PAUSE_MS = { from: 20, to: 500 };

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
    // What takes long is asked for less often: a platform that many tests ask has no time for its work.
    const pauseMs = everyMs ?? Math.min(Math.max((now - started) / 10, PAUSE_MS.from), PAUSE_MS.to);
    if (now + pauseMs > deadline) {
      const cause = last instanceof Error ? last.message : String(last);
      throw new Error(`${what} not reached within ${timeoutMs} ms: ${cause}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
