/** Interval of the polls, milliseconds. */
export const POLL_INTERVAL_MS = 1_000;

/**
 * Decides which of the polls of this process by itself reach the database, and which of them count. A poll that does not reach
 * it shows only that the process answers, so it counts once the database has answered both before and after it.
 */
export class AnsweredTimes {
  /** Times of polls that were answered without the database since it last answered. */
  private pending: number[] = [];
  /** Time of the last poll for which the database answered; null after a failure. */
  private reachedAt: number | null = null;
  private reachesAlways = false;

  /** @param intervalMs time between two polls that reach the database */
  constructor(private readonly intervalMs: number) {}

  /** Returns true if the poll that begins now must reach the database. */
  mustReach(now: number): boolean {
    if (this.reachesAlways || this.reachedAt === null) return true;
    return now - this.reachedAt >= this.intervalMs - POLL_INTERVAL_MS / 2;
  }

  /** Has every poll reach the database, for example while a node is silent and each second counts. */
  reachAlways(always: boolean): void {
    this.reachesAlways = always;
  }

  /** Notes a poll that was answered without the database. */
  answered(at: number): void {
    this.pending.push(at);
  }

  /** Notes a poll that has reached the database, and returns how long ago those were that count now, itself included. */
  reached(begunAt: number, endedAt: number): number[] {
    // A slow answer leaves open whether there would have been one before.
    const isSlow = endedAt - begunAt >= POLL_INTERVAL_MS;
    const isKnown = this.reachedAt !== null && begunAt - this.reachedAt < 2 * this.intervalMs && !isSlow;
    const earlier = isKnown ? this.pending : [];
    this.pending = [];
    this.reachedAt = begunAt;
    return [...earlier, endedAt].map((at) => endedAt - at);
  }

  /** Notes a poll that was not answered in time. The next one reaches the database, and those before it do not count. */
  failed(): void {
    this.pending = [];
    this.reachedAt = null;
  }
}
