import { AnswerError } from './control-plane';
import { Backoff, pause } from './waiting';

/** Largest piece of a log in one request; bytes. */
const CHUNK = 256 * 1024;

/** Sends a piece that starts at `offset`; answers the length that the store holds then. */
export type SendChunk = (offset: number, chunk: Buffer) => Promise<number>;

/** A log that a process writes, of which the first bytes, and perhaps the last, are kept. */
export interface GrowingLog {
  /** How many bytes from the start are kept whatever follows. */
  readonly kept: number;
  /** What is kept behind them once the log has ceased to grow. */
  ending(): Buffer;
  /**
   * Bytes from a position on, at most `length`; none while there are none, or while what follows decides what they are.
   * @param isOver whether the log has ceased to grow
   */
  read(position: number, length: number, isOver: boolean): Buffer;
}

/** Brings a growing log to the log store. The store's answer decides where it goes on, so a repetition adds nothing. */
export class LogShipper {
  private pumping: Promise<void> | null = null;
  private draining = false;
  private readonly closed = new AbortController();

  /**
   * @param offset bytes the store holds; null when unknown, which the first byte sent finds out
   * @param begin position in the file of the log's first byte; null holds the log back until it is known
   */
  constructor(
    private readonly log: GrowingLog,
    private offset: number | null,
    private readonly send: SendChunk,
    private readonly refused: (error: AnswerError) => void,
    private readonly begin: () => number | null = () => 0,
  ) {}

  /** Sends what the file has grown by, unless that is already under way. */
  kick(): void {
    if (this.pumping || this.closed.signal.aborted) return;
    this.pumping = this.pump().finally(() => {
      this.pumping = null;
    });
  }

  /** Resolves once everything that the file holds, which has ceased to grow, is in the store, or on close. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.pumping;
    this.kick();
    await this.pumping;
  }

  close(): void {
    this.closed.abort();
  }

  private async pump(): Promise<void> {
    const backoff = new Backoff(100, 5_000);
    while (!this.closed.signal.aborted) {
      try {
        const chunk = this.next();
        if (chunk === null) return;
        this.offset = await this.send(this.offset ?? 0, chunk);
        backoff.reset();
        // A short piece was all there was; the next kick gathers what comes after it.
        if (chunk.length < CHUNK && chunk.length > 1 && !this.draining) return;
      } catch (error) {
        if (error instanceof AnswerError && !error.retryable && error.status !== 401) {
          this.refused(error);
          this.close();
          return;
        }
        await pause(backoff.next(), this.closed.signal);
      }
    }
  }

  private next(): Buffer | null {
    const begin = this.begin();
    if (begin === null) return null;
    const offset = this.offset ?? 0;
    const longest = this.offset === null ? 1 : CHUNK;
    const kept = this.log.kept - begin;
    const chunk =
      offset < kept
        ? this.log.read(begin + offset, Math.min(kept - offset, longest), this.draining)
        : this.rest(offset - kept);
    return chunk.length === 0 ? null : chunk.subarray(0, longest);
  }

  /** What follows the kept part is known only once the log has ceased to grow. */
  private rest(offset: number): Buffer {
    return this.draining ? this.log.ending().subarray(offset) : Buffer.alloc(0);
  }
}
