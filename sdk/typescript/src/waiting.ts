import { DeadlineExceeded } from './errors.ts';

const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Bounds of a wait. */
export interface WaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with each status that the wait sees, to show progress. */
  onStatus?: ((status: string) => void) | undefined;
}

/** The end of a wait; the error of a missed one names `what`. */
export class Deadline {
  readonly #end: number;
  readonly #timeoutMs: number;
  readonly #what: string;

  constructor(timeoutMs: number, what: string) {
    this.#timeoutMs = timeoutMs;
    this.#what = what;
    this.#end = performance.now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** @throws DeadlineExceeded if it has passed */
  check(): void {
    if (this.leftMs > 0) return;
    throw new DeadlineExceeded(
      `${this.#what} took longer than ${this.#timeoutMs / 1000} s. It continues; wait again, or stop it.`,
    );
  }
}

/** Growing pauses between polls. */
export class Pauses {
  readonly #deadline: Deadline;
  readonly #bounds: WaitOptions;
  #nextMs = MIN_PAUSE_MS;

  constructor(deadline: Deadline, bounds: WaitOptions = {}) {
    this.#deadline = deadline;
    this.#bounds = bounds;
  }

  /** Waits longer than the last time; `status` is what the last poll returned. */
  async next(status: string): Promise<void> {
    this.#deadline.check();
    this.#bounds.onStatus?.(status);
    const pause = Math.min(this.#nextMs, this.#deadline.leftMs);
    this.#nextMs = Math.min(this.#nextMs * 1.3, MAX_PAUSE_MS);
    await sleep(pause, this.#bounds.signal);
  }
}

/** Returns a random pause before another attempt, so that clients that failed together do not retry together. */
export function backoffMs(attempt: number): number {
  return (0.1 + 0.9 * Math.random()) * Math.min(500 * 2 ** Math.min(attempt, 10), 10_000);
}

/** Waits, and throws the reason of the signal if it is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(String(reason));
}
