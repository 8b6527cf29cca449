import { AsyncResource } from 'node:async_hooks';
import { runWithoutCaller } from '../context/request-context';

export interface PumpOptions {
  /** Receives the error of a failed pass; the pump continues. Only work that catches all its errors may omit this. */
  failed?: (error: unknown) => void;
  /** Time from the end of a pass to the next one if nothing wakes the pump, milliseconds. */
  intervalMs?: number;
  /** Shortest pause between two passes, however many wake-ups come, milliseconds. */
  minPauseMs?: number;
}

/**
 * Does work in passes, one at a time, when it is woken. One more pass serves all wake-ups that come during a pass, because
 * that pass may already have read the state that they report.
 */
export class Pump {
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** Requested time of the next pass by the monotonic clock; infinite if none is requested. */
  private requestedAt = Infinity;
  /** Earliest time of the next pass by the monotonic clock. */
  private notBefore = -Infinity;
  private isPassing = false;
  private current: Promise<void> = Promise.resolve();
  private waiting: (() => void)[] = [];
  /** Binding keeps the correlation id of the first request for a pass, instead of that of the pass before. */
  private readonly beginAlone = AsyncResource.bind(() => this.begin());
  private beginNext = this.beginAlone;

  /** @param work returns true while there is more to do at once; its signal aborts when the pump stops */
  constructor(
    private readonly work: (signal: AbortSignal) => Promise<boolean | void>,
    private readonly options: PumpOptions = {},
  ) {}

  /** True if no pass is running or requested. */
  get isIdle(): boolean {
    return !this.isPassing && this.requestedAt === Infinity;
  }

  /** Requests a pass that begins within this time. */
  wake(withinMs = 0): void {
    const at = performance.now() + withinMs;
    if (at >= this.requestedAt) return;
    this.requestedAt = at;
    this.beginNext = AsyncResource.bind(() => this.begin());
    this.schedule();
  }

  /** Requests a pass and resolves when it has ended or failed, or when the pump has stopped. */
  run(): Promise<void> {
    if (this.stopping.signal.aborted) return this.current;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.wake();
    });
  }

  /** Begins no further pass, and resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.current;
    this.release(this.waiting);
  }

  private schedule(): void {
    if (this.isPassing || this.requestedAt === Infinity || this.stopping.signal.aborted) return;
    clearTimeout(this.timer);
    const ms = Math.max(this.requestedAt, this.notBefore) - performance.now();
    if (ms > 0) this.timer = setTimeout(this.beginNext, ms).unref();
    else this.beginNext();
  }

  private begin(): void {
    const served = this.waiting;
    [this.isPassing, this.requestedAt, this.waiting, this.beginNext] = [true, Infinity, [], this.beginAlone];
    this.current = runWithoutCaller(() => this.pass()).then(() => {
      const { intervalMs = Infinity, minPauseMs = 0 } = this.options;
      const now = performance.now();
      this.isPassing = false;
      this.notBefore = now + minPauseMs;
      this.requestedAt = Math.min(this.requestedAt, now + intervalMs);
      this.schedule();
      this.release(served);
    });
  }

  private async pass(): Promise<void> {
    const { signal } = this.stopping;
    try {
      while ((await this.work(signal)) === true && !signal.aborted);
    } catch (error) {
      if (!this.options.failed) throw error;
      this.options.failed(error);
    }
  }

  private release(waiting: (() => void)[]): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
}
