import type { QueryClient } from '@tanstack/react-query';
import type { LiveEvent } from './live-stream';

/** Events are collected for this time, so that many of them lead to one reading. */
const COLLECT_MS = 100;
/** Shortest pause between two readings, however much happens. */
const PAUSE_MS = 500;
/** The next reading waits no longer for the last one. */
const MAX_READING_MS = 10_000;
/** When more events than these wait, all live queries are read again. */
const MAX_WAITING = 1_000;

/** Reads again what events have changed. A page that is hidden reads it when it is shown. */
export class Refresher {
  private waiting: LiveEvent[] = [];
  private isAll = false;
  private isRunning = false;

  constructor(private readonly queries: QueryClient) {}

  add(event: LiveEvent): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(event);
    else this.isAll = true;
    void this.run();
  }

  addAll(): void {
    this.isAll = true;
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.isAll || this.waiting.length > 0) {
      await sleep(COLLECT_MS);
      await Promise.race([this.refresh(), sleep(MAX_READING_MS)]);
      await sleep(PAUSE_MS);
    }
    this.isRunning = false;
  }

  private async refresh(): Promise<void> {
    const { waiting: events, isAll } = this;
    this.waiting = [];
    this.isAll = false;
    await this.queries.invalidateQueries({
      predicate: ({ meta }) => {
        const isChangedBy = meta?.isChangedBy;
        return isChangedBy !== undefined && (isAll || events.some((event) => isChangedBy(event)));
      },
      refetchType: document.visibilityState === 'hidden' ? 'none' : 'active',
    });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
