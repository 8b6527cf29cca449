/** `xmin:xmax:xip`, the ids of transactions as decimal numbers. */
const TEXT = /^(\d{1,16}):(\d{1,16}):((?:\d{1,16}(?:,\d{1,16})*)?)$/;
const MAX_LENGTH = 16_000;

/**
 * A snapshot of PostgreSQL: which transactions had committed when something was read. It is the position of a listener, because
 * neither ids nor times of rows say in which order their transactions commit.
 */
export class Snapshot {
  private constructor(
    readonly text: string,
    /** Every transaction with a smaller id had ended. */
    readonly oldest: number,
    private readonly next: number,
    private readonly running: ReadonlySet<number>,
  ) {}

  /** Reads a text of `pg_current_snapshot()`; null if it is none. */
  static parse(text: string): Snapshot | null {
    const [, oldest = '', next = '', running = ''] = (text.length <= MAX_LENGTH && TEXT.exec(text)) || [];
    const bounds = [Number(oldest), Number(next)] as const;
    if (oldest === '' || !bounds.every(Number.isSafeInteger) || bounds[0] > bounds[1]) return null;
    const ids = running === '' ? [] : running.split(',').map(Number);
    // PostgreSQL refuses a text whose ids are out of order or bounds, so it must never get one from a client.
    const isOrdered = ids.every((id, index) => id >= (ids[index - 1] ?? bounds[0]) && id < bounds[1]);
    return isOrdered && bounds[0] > 0 ? new Snapshot(text, bounds[0], bounds[1], new Set(ids)) : null;
  }

  /** True if the transaction had ended, so that its rows could be read. */
  sees(transaction: number): boolean {
    return transaction < this.next && !this.running.has(transaction);
  }
}
