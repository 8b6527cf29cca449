/** A semaphore: limits how many callers hold a permit, in the order of their calls. */
export class Semaphore {
  private readonly waiting = new Set<() => void>();
  private held = 0;

  constructor(private readonly max: number) {}

  get hasWaiters(): boolean {
    return this.waiting.size > 0;
  }

  /** Waits for a permit; rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.held < this.max) {
      this.held += 1;
      return;
    }
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        // `release` hands the permit to the first waiting caller.
        onAbort = () => {
          this.waiting.delete(resolve);
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        this.waiting.add(resolve);
      });
    } finally {
      if (onAbort) signal.removeEventListener('abort', onAbort);
    }
  }

  release(): void {
    const [next] = this.waiting;
    if (!next) {
      this.held -= 1;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
