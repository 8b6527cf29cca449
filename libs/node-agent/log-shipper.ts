import { ResponseError } from './control-plane';
import { Backoff, pause } from './waiting';

/** Maximum size of one request; bytes. */
const CHUNK_BYTES = 256 * 1024;

/** Sends a chunk that starts at `offset`. Returns the length of the stored log. */
export type SendChunk = (offset: number, chunk: Buffer) => Promise<number>;

/** A log that a process writes. Its first bytes are kept, and possibly its last. */
export interface GrowingLog {
  /** Number of bytes from the start that are kept whatever follows. */
  readonly kept: number;
  /** Returns what is kept after them once the log has stopped growing. */
  ending(): Buffer;
  /**
   * Returns at most `length` bytes from a position on; none if there are none, or if they depend on bytes that are not written yet.
   * @param isOver true if the log has stopped growing
   */
  read(position: number, length: number, isOver: boolean): Buffer;
}

/** Copies a growing log to the log store. Each response says where to continue, so a repeated request adds nothing. */
export class LogShipper {
  private pumping: Promise<void> | null = null;
  private draining = false;
  private readonly closed = new AbortController();

  /**
   * @param offset bytes in the store; null if unknown, then a request with one byte returns it
   * @param begin returns the position in the file of the log's first byte; null delays the log until it is known
   */
  constructor(
    private readonly log: GrowingLog,
    private offset: number | null,
    private readonly send: SendChunk,
    private readonly refused: (error: ResponseError) => void,
    private readonly begin: () => number | null = () => 0,
  ) {}

  /** Sends new bytes of the file, unless that is already running. */
  wake(): void {
    if (this.pumping || this.closed.signal.aborted) return;
    this.pumping = this.pump().finally(() => {
      this.pumping = null;
    });
  }

  /** Resolves once the store has the whole file, which has stopped growing, or on close. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.pumping;
    this.wake();
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
        // A short chunk was all that the file had. The next wake collects the bytes after it.
        if (chunk.length < CHUNK_BYTES && chunk.length > 1 && !this.draining) return;
      } catch (error) {
        if (error instanceof ResponseError && !error.retryable && error.status !== 401) {
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
    const maxBytes = this.offset === null ? 1 : CHUNK_BYTES;
    const kept = this.log.kept - begin;
    const chunk =
      offset < kept
        ? this.log.read(begin + offset, Math.min(kept - offset, maxBytes), this.draining)
        : this.rest(offset - kept);
    return chunk.length === 0 ? null : chunk.subarray(0, maxBytes);
  }

  /** Returns bytes after the kept part, which are known only once the log has stopped growing. */
  private rest(offset: number): Buffer {
    return this.draining ? this.log.ending().subarray(offset) : Buffer.alloc(0);
  }
}
