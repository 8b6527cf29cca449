export interface EventuallyOptions {
  /** The deadline, milliseconds; default a minute. */
  timeoutMs?: number;
  /** Pause between two tries, milliseconds; default 50. */
  everyMs?: number;
  /** What is waited for, for the message of a missed deadline. */
  what?: string;
}

/**
 * Tries `probe` until it neither throws nor answers `false`, `null` or `undefined`, and gives its answer. When the
 * deadline passes, throws an error that carries the last failure.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  { timeoutMs = 60_000, everyMs = 50, what = 'the expected state' }: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await probe();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
      last = `last answer: ${String(answer)}`;
    } catch (error) {
      last = error;
    }
    if (Date.now() + everyMs > deadline) {
      const cause = last instanceof Error ? last.message : String(last);
      throw new Error(`${what} not reached within ${timeoutMs} ms: ${cause}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
