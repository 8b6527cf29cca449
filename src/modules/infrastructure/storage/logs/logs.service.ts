import { PassThrough, pipeline, Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type LogName, LogStore } from '../../../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../../../libs/object-storage/object-store';
import { Config } from '../../../../config/config';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import type { LogSlice } from '../../../../platform/kernel/files/content';
import { pause } from '../../../../platform/kernel/process/pause';

/** The part of a log to read: the last lines, the first bytes, the bytes after an offset, or all of it. */
export interface LogPart {
  lastLines?: number;
  firstBytes?: number;
  offset?: number;
}

/** After a node truncates a log at the limit, it still sends a notice and the log's last bytes. */
const MAX_ENDING_BYTES = 128 * 1024;

const RETRY_AFTER_SECONDS = 5;

const FOLLOW_INTERVAL_MS = 250;

/** Reads and writes the logs of runs and nodes. Throws 503 if the store is unavailable; agents then resend. */
@Injectable()
export class LogsService {
  private readonly maxBytes: number;

  constructor(
    config: Config,
    private readonly store: LogStore,
  ) {
    this.maxBytes = config.storage.logMaxBytes + MAX_ENDING_BYTES;
  }

  /**
   * Returns the offset at which a node continues a log. Returns 0 if the store is unavailable: that repeats a chunk,
   * whereas refusing the node's poll would end its runs.
   */
  resumeAt(log: LogName): Promise<number> {
    return this.store.resumeAt(log).catch(() => 0);
  }

  /** Returns the stored size. Throws 413 beyond the limit, which nodes enforce themselves. */
  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    if (offset + chunk.length > this.maxBytes) {
      throw new DomainError(
        'too-large',
        'LOG.TOO_LARGE',
        `A log can have at most ${this.maxBytes} bytes. The agent must truncate it.`,
      );
    }
    return ofStore(this.store.write(log, offset, chunk));
  }

  async open(log: LogName, part: LogPart): Promise<LogSlice> {
    const { size, offsetOfLastLines, read } = await ofStore(this.store.open(log));
    const start =
      part.lastLines === undefined
        ? Math.min(part.offset ?? 0, size)
        : await ofStore(offsetOfLastLines(part.lastLines));
    const sizeBytes = Math.min(part.firstBytes ?? Infinity, size - start);
    const name = `${log.kind}-${log.id}.${log.stream}.log`;
    return { name, sizeBytes, nextOffset: start + sizeBytes, stream: read(start, sizeBytes), asError };
  }

  /** Like {@link open}, and streams everything that is appended until `hasEnded` returns true. */
  async follow(log: LogName, part: Omit<LogPart, 'firstBytes'>, hasEnded: () => Promise<boolean>): Promise<LogSlice> {
    const slice = await this.open(log, { ...part, firstBytes: 0 });
    slice.stream.destroy();
    const closed = new AbortController();
    const stream = new PassThrough();
    // Listen on this stream: the source notices the close only after its current wait.
    stream.once('close', () => closed.abort());
    pipeline(Readable.from(this.appended(log, slice.nextOffset, hasEnded, closed.signal)), stream, () => undefined);
    return { ...slice, sizeBytes: null, stream };
  }

  private async *appended(
    log: LogName,
    from: number,
    hasEnded: () => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    let offset = from;
    let isComplete = false;
    for (;;) {
      const { size, read } = await ofStore(this.store.open(log));
      if (size > offset) {
        for await (const chunk of read(offset, size - offset)) {
          offset += (chunk as Buffer).length;
          yield chunk as Buffer;
        }
        continue;
      }
      if (isComplete) return;
      // Read once more after the end is known, to get what was written just before it.
      isComplete = await hasEnded();
      if (!isComplete && !(await pause(FOLLOW_INTERVAL_MS, signal))) return;
    }
  }
}

async function ofStore<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asError(error);
  }
}

function asError(error: unknown): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  return new DomainError(
    'unavailable',
    'LOG.STORE_UNAVAILABLE',
    'The log store is unavailable. Try again in a few seconds.',
    { retry_after_seconds: RETRY_AFTER_SECONDS },
    { cause: error },
  );
}
