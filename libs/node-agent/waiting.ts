/** Resolves after `ms`, or as soon as the signal aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** Growing pauses between attempts. Half of each is random, so that the nodes of a cluster do not call at the same time. */
export class Backoff {
  private failures = 0;

  constructor(
    private readonly firstMs: number,
    private readonly maxMs: number,
  ) {}

  next(): number {
    const full = Math.min(this.maxMs, this.firstMs * 2 ** this.failures++);
    return full / 2 + (Math.random() * full) / 2;
  }

  reset(): void {
    this.failures = 0;
  }
}
