import { type FSWatcher, watch } from 'node:fs';
import { CHANNEL_CHUNK_BYTES } from '../contracts/agent-protocol';
import { encodeRecords, type NumberedPayload } from '../contracts/channel-records';
import { ForeignRecords, RecordReader, RecordWriter } from './channel-files';
import { AnswerError } from './control-plane';
import { Backoff, pause } from './waiting';

const POLL_WAIT_MS = 25_000;

/** The control plane's end of a channel. */
export interface ChannelCalls {
  /** Requests behind a number; waits for one. */
  requests: (after: number, waitMs: number, signal: AbortSignal) => Promise<NumberedPayload[]>;
  /** Sends records of frames; the number of the one that is wanted next. */
  sendFrames: (records: Buffer, signal: AbortSignal) => Promise<number>;
}

/** What a channel needs of its run. */
export interface ChannelOfRun {
  /** File of what the run is asked; exists. */
  requests: string;
  /** File of what the run says; exists. */
  frames: string;
  calls: ChannelCalls;
  /** Hides the secrets of the run in a payload, in place. */
  hide: (payload: Buffer) => void;
  /** Told once, when the channel ends before its run. */
  broken: (why: string) => void;
}

/**
 * Brings what the process of a run is asked from the control plane to a file, and what it says from a file to the control
 * plane. Both files outlive the agent, so that the next one goes on. See ADR 0033.
 */
export class RunChannel {
  private readonly closed = new AbortController();
  private reader: RecordReader | null = null;
  private writer: RecordWriter | null = null;
  private watcher: FSWatcher | null = null;
  /** Number of the last frame that the control plane has. */
  private sent = 0;
  /** Records that were read and perhaps not taken. */
  private unsent: { body: Buffer; last: number } | null = null;
  private sending: Promise<void> | null = null;
  private again = false;
  private started = false;

  constructor(private readonly run: ChannelOfRun) {}

  /** Begins to carry both ways, once. */
  start(): void {
    if (this.started) return;
    this.started = true;
    try {
      this.watcher = watch(this.run.frames, { persistent: false }, () => this.kick());
      this.watcher.on('error', () => this.watcher?.close());
    } catch {
      // The run's ticks look after the file as well.
    }
    this.kick();
    void this.carryRequests();
  }

  /** Sends what the process has said, unless that is already under way. */
  kick(): void {
    if (this.closed.signal.aborted) return;
    this.again = true;
    this.sending ??= this.carryFrames().finally(() => {
      this.sending = null;
      if (this.again) this.kick();
    });
  }

  /** Resolves once all that the process said, which says no more, is with the control plane, or on close. */
  async drain(): Promise<void> {
    this.kick();
    while (this.sending) await this.sending;
    this.close();
  }

  close(): void {
    this.closed.abort();
    this.watcher?.close();
  }

  private async carryFrames(): Promise<void> {
    const { signal } = this.closed;
    const backoff = new Backoff(100, 5_000);
    while (this.again && !signal.aborted) {
      this.again = false;
      try {
        await this.sendFrames();
        backoff.reset();
      } catch (error) {
        if (!this.goesOn(error)) return;
        this.again = true;
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Sends all whole records there are. */
  private async sendFrames(): Promise<void> {
    const { calls, frames } = this.run;
    const { signal } = this.closed;
    // Nothing is sent: only where it goes on is asked for.
    this.reader ??= this.readerFrom(await calls.sendFrames(Buffer.alloc(0), signal));
    for (;;) {
      this.unsent ??= this.read(this.reader);
      if (this.unsent === null) return;
      const { body, last } = this.unsent;
      const next = await calls.sendFrames(body, signal);
      this.unsent = null;
      this.sent = next - 1;
      // It has more or fewer than was thought: one of an earlier agent's calls came through, or a database was restored.
      if (next !== last + 1) this.reader = new RecordReader(frames, next);
      this.writer?.tell(this.sent, body.length, this.reader.acknowledged);
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

  private async carryRequests(): Promise<void> {
    const { signal } = this.closed;
    const backoff = new Backoff(100, 5_000);
    while (!signal.aborted) {
      try {
        this.writer ??= new RecordWriter(this.run.requests);
        const records = await this.run.calls.requests(this.writer.last, POLL_WAIT_MS, signal);
        // The file is the next agent's by now.
        if (signal.aborted) return;
        if (records.length > 0) this.writer.append(records, this.sent, this.reader?.acknowledged ?? 0);
        backoff.reset();
      } catch (error) {
        if (!this.goesOn(error)) return;
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Whether the same may succeed later; else the channel ends, and its run is told. */
  private goesOn(error: unknown): boolean {
    if (this.closed.signal.aborted) return false;
    const isRefused = error instanceof AnswerError && !error.retryable && error.status !== 401;
    if (!isRefused && !(error instanceof ForeignRecords)) return true;
    this.close();
    this.run.broken(error.message);
    return false;
  }
}
