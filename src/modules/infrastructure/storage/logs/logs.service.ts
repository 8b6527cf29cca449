import { PassThrough, pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type LogName, LogStore } from '../../../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../../../libs/object-storage/object-store';
import { Config } from '../../../../config/config';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import type { ByteRange, LogSlice } from '../../../../platform/kernel/files/content';
import { pause } from '../../../../platform/kernel/process/pause';
import { type LogSearchRequest, type LogSearchResult, searchLog } from './log-search';

/** The part of a log to read: the last lines, the first bytes, the bytes after an offset, or all of it. */
export interface LogPart {
  lastLines?: number;
  firstBytes?: number;
  offset?: number;
  /** Finds the part that a header Range names, once the size is known. It counts if nothing else names a part. */
  range?: (size: number) => ByteRange | null;
}

/** After a node truncates a log at the limit, it still sends a notice and the log's last bytes. */
const MAX_ENDING_BYTES = 128 * 1024;

const RETRY_AFTER_SECONDS = 5;

const FOLLOW_INTERVAL_MS = 250;

/** A search answers with what it has found when it has read so much, or after this time. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;
const MAX_SEARCH_MS = 1_000;
/** Searches that run at once in this process. */
const MAX_SEARCHES = 16;
const MAX_SEARCHES_OF_TENANT = 4;

/** Reads and writes the logs of runs and nodes. Throws 503 if the store is unavailable; agents then resend. */
@Injectable()
export class LogsService {
  private readonly maxBytes: number;
  private readonly searching = new Map<string, number>();

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
    const isWhole = part.lastLines === undefined && part.firstBytes === undefined && part.offset === undefined;
    const range = (isWhole && part.range?.(size)) || null;
    const start = range?.start ?? (await startOf(part, size, offsetOfLastLines));
    const sizeBytes = Math.min(range ? range.end - range.start : (part.firstBytes ?? Infinity), size - start);
    const name = `${log.kind}-${log.id}.${log.stream}.log`;
    return { name, range, sizeBytes, nextOffset: start + sizeBytes, stream: read(start, sizeBytes), asError };
  }

  /** Searches a part of a log that takes about a second. @param signal nobody waits for the result any more */
  async search(
    tenantId: string,
    log: LogName,
    request: LogSearchRequest,
    signal: AbortSignal,
  ): Promise<LogSearchResult & { size: number }> {
    this.enter(tenantId);
    try {
      const { size, read } = await ofStore(this.store.open(log));
      const end = performance.now() + MAX_SEARCH_MS;
      const bounds = {
        maxBytes: MAX_SEARCHED_BYTES,
        isOver: () => signal.aborted || performance.now() > end,
      };
      const readAll = (offset: number, length: number) => buffer(read(offset, length));
      return { ...(await ofStore(searchLog({ size, read: readAll }, request, bounds))), size };
    } finally {
      this.leave(tenantId);
    }
  }

  private enter(tenantId: string): void {
    const ofTenant = this.searching.get(tenantId) ?? 0;
    const all = [...this.searching.values()].reduce((sum, count) => sum + count, 0);
    if (ofTenant >= MAX_SEARCHES_OF_TENANT || all >= MAX_SEARCHES) {
      throw new DomainError('rate-limited', 'LOG.BUSY', 'Too many logs are being searched. Try again in a second.', {
        retry_after_seconds: 1,
      });
    }
    this.searching.set(tenantId, ofTenant + 1);
  }

  private leave(tenantId: string): void {
    const left = (this.searching.get(tenantId) ?? 1) - 1;
    if (left === 0) this.searching.delete(tenantId);
    else this.searching.set(tenantId, left);
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

function startOf(
  part: LogPart,
  size: number,
  offsetOfLastLines: (lines: number) => Promise<number>,
): Promise<number> | number {
  if (part.lastLines === undefined) return Math.min(part.offset ?? 0, size);
  return ofStore(offsetOfLastLines(part.lastLines));
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
