import { type FSWatcher, watch } from 'node:fs';
import { CHANNEL_CHUNK_BYTES } from '../contracts/agent-protocol';
import { encodeRecords, type NumberedPayload } from '../contracts/channel-records';
import { InvalidRecordsError, RecordReader, RecordWriter } from './channel-files';
import { ResponseError } from './control-plane';
import { Backoff, pause } from './waiting';

const POLL_WAIT_MS = 25_000;

/** The calls of a channel to the control plane. */
export interface ChannelCalls {
  /** Returns the requests after a record number. Waits for at least one, up to `waitMs`. */
  requests: (after: number, waitMs: number, signal: AbortSignal) => Promise<NumberedPayload[]>;
  /** Sends records of frames. Returns the number of the record that is expected next. */
  sendFrames: (records: Buffer, signal: AbortSignal) => Promise<number>;
}

/** The files and callbacks of a run's channel. */
export interface RunChannelOptions {
  /** Path of the file with the run's requests, which exists. */
  requests: string;
  /** Path of the file with the run's frames, which exists. */
  frames: string;
  calls: ChannelCalls;
  /** Masks the secrets of the run in a payload, in place. */
  hide: (payload: Buffer) => void;
  /** Called once if the channel ends before its run. */
  broken: (why: string) => void;
}

/**
 * Copies the requests to a run's process from the control plane to a file, and its frames from a file to the control plane. Both files
 * outlive the agent, so that the next one continues. See ADR 0033.
 */
export class RunChannel {
  private readonly closed = new AbortController();
  private reader: RecordReader | null = null;
  private writer: RecordWriter | null = null;
  private watcher: FSWatcher | null = null;
  /** Number of the last frame that the control plane has. */
  private sent = 0;
  /** Records whose delivery is not confirmed. */
  private unsent: { body: Buffer; last: number } | null = null;
  private sending: Promise<void> | null = null;
  private isWakePending = false;
  private started = false;

  constructor(private readonly run: RunChannelOptions) {}

  /** Starts to copy in both directions, once. */
  start(): void {
    if (this.started) return;
    this.started = true;
    try {
      this.watcher = watch(this.run.frames, { persistent: false }, () => this.wake());
      this.watcher.on('error', () => this.watcher?.close());
    } catch {
      // Without a watcher, the ticks of the run check the file.
    }
    this.wake();
    void this.copyRequests();
  }

  /** Sends new frames, unless that is already running. */
  wake(): void {
    if (this.closed.signal.aborted) return;
    this.isWakePending = true;
    this.sending ??= this.copyFrames().finally(() => {
      this.sending = null;
      if (this.isWakePending) this.wake();
    });
  }

  /** Resolves once the control plane has all frames of a process that has ended, or on close. */
  async drain(): Promise<void> {
    this.wake();
    while (this.sending) await this.sending;
    this.close();
  }

  close(): void {
    this.closed.abort();
    this.watcher?.close();
  }

  private async copyFrames(): Promise<void> {
    const { signal } = this.closed;
    const backoff = new Backoff(100, 5_000);
    while (this.isWakePending && !signal.aborted) {
      this.isWakePending = false;
      try {
        await this.sendFrames();
        backoff.reset();
      } catch (error) {
        if (!this.canRetry(error)) return;
        this.isWakePending = true;
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Sends all complete records. */
  private async sendFrames(): Promise<void> {
    const { calls, frames } = this.run;
    const { signal } = this.closed;
    // An empty call returns the number of the record to continue with.
    this.reader ??= this.readerFrom(await calls.sendFrames(Buffer.alloc(0), signal));
    for (;;) {
      this.unsent ??= this.read(this.reader);
      if (this.unsent === null) return;
      const { body, last } = this.unsent;
      const next = await calls.sendFrames(body, signal);
      this.unsent = null;
      this.sent = next - 1;
      // The control plane has more records if a call of an earlier agent succeeded, and fewer if its database was restored.
      if (next !== last + 1) this.reader = new RecordReader(frames, next);
      this.writer?.acknowledge(this.sent, body.length, this.reader.acknowledged);
    }
  }

  private read(reader: RecordReader): { body: Buffer; last: number } | null {
    const records = reader.read(CHANNEL_CHUNK_BYTES);
    const last = records.at(-1);
    if (last === undefined) return null;
    for (const { payload } of records) this.run.hide(payload);
    return { body: encodeRecords(records), last: last.number };
  }

  private readerFrom(next: number): RecordReader {
    this.sent = next - 1;
    return new RecordReader(this.run.frames, next);
  }

  private async copyRequests(): Promise<void> {
    const { signal } = this.closed;
    const backoff = new Backoff(100, 5_000);
    while (!signal.aborted) {
      try {
        this.writer ??= new RecordWriter(this.run.requests);
        const records = await this.run.calls.requests(this.writer.last, POLL_WAIT_MS, signal);
        // The file belongs to the next agent by now.
        if (signal.aborted) return;
        if (records.length > 0) this.writer.append(records, this.sent, this.reader?.acknowledged ?? 0);
        backoff.reset();
      } catch (error) {
        if (!this.canRetry(error)) return;
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Returns true if the same call may succeed later. Otherwise it closes the channel and notifies the run. */
  private canRetry(error: unknown): boolean {
    if (this.closed.signal.aborted) return false;
    const isRefused = error instanceof ResponseError && !error.retryable && error.status !== 401;
    if (!isRefused && !(error instanceof InvalidRecordsError)) return true;
    this.close();
    this.run.broken(error.message);
    return false;
  }
}
