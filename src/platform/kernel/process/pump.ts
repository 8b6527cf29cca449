import { AsyncResource } from 'node:async_hooks';
import { runWithoutCaller } from '../context/request-context';

export interface PumpOptions {
  /** Is told what a pass threw, and the pump goes on. Only work that catches all its errors may leave this out. */
  failed?: (error: unknown) => void;
  /** How long after a pass the next one begins if nothing wakes the pump, milliseconds. */
  intervalMs?: number;
  /** Pause between two passes, however many wake-ups come, milliseconds. */
  minPauseMs?: number;
}

/**
 * Does work in passes, one at a time, when it is woken. One more pass serves all wake-ups that come during a pass, because
 * that may already have read what they are about.
 */
export class Pump {
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** When the next pass is wanted, and the earliest moment for it, by the monotonic clock. */
  private wantedAt = Infinity;
  private restsUntil = -Infinity;
  private isPassing = false;
  private current: Promise<void> = Promise.resolve();
  private waiting: (() => void)[] = [];
  /** Begins a pass under the correlation id of whoever asked for it first, not under that of the pass before. */
  private readonly beginAlone = AsyncResource.bind(() => this.begin());
  private beginNext = this.beginAlone;

  /** @param work returns true while there is more to do at once; its signal aborts when the pump stops */
  constructor(
    private readonly work: (signal: AbortSignal) => Promise<boolean | void>,
    private readonly options: PumpOptions = {},
  ) {}

  /** Whether no pass is under way and none is wanted. */
  get isIdle(): boolean {
    return !this.isPassing && this.wantedAt === Infinity;
  }

  /** Asks for a pass that begins within this time. */
  wake(withinMs = 0): void {
    const at = performance.now() + withinMs;
    if (at >= this.wantedAt) return;
    this.wantedAt = at;
    this.beginNext = AsyncResource.bind(() => this.begin());
    this.schedule();
  }

  /** Asks for a pass and resolves when it has ended, whether or not it failed, or when the pump has stopped. */
  run(): Promise<void> {
    if (this.stopping.signal.aborted) return this.current;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.wake();
    });
  }

  /** Begins no further pass, and resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.current;
    this.release(this.waiting);
  }

  private schedule(): void {
    if (this.isPassing || this.wantedAt === Infinity || this.stopping.signal.aborted) return;
    clearTimeout(this.timer);
    const ms = Math.max(this.wantedAt, this.restsUntil) - performance.now();
    if (ms > 0) this.timer = setTimeout(this.beginNext, ms).unref();
    else this.beginNext();
  }

  private begin(): void {
    const served = this.waiting;
    [this.isPassing, this.wantedAt, this.waiting, this.beginNext] = [true, Infinity, [], this.beginAlone];
    this.current = runWithoutCaller(() => this.pass()).then(() => {
      const { intervalMs = Infinity, minPauseMs = 0 } = this.options;
      const now = performance.now();
      this.isPassing = false;
      this.restsUntil = now + minPauseMs;
      this.wantedAt = Math.min(this.wantedAt, now + intervalMs);
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
