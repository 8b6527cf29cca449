import { PassThrough, pipeline, Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type LogName, LogStore } from '../../../../../libs/object-storage/log-store';
import { ObjectStoreError } from '../../../../../libs/object-storage/object-store';
import { Config } from '../../../../config/config';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import type { LogSlice } from '../../../../platform/kernel/files/content';
import { pause } from '../../../../platform/kernel/process/pause';

/** Which part of a log is wanted: the last lines, the first bytes, what follows an offset, or all of it. */
export interface LogPart {
  lastLines?: number;
  firstBytes?: number;
  offset?: number;
}

/** A node sends the end of a log that it has cut, with a note, after the part that is within the limit. */
const ENDING_BYTES = 128 * 1024;

const RETRY_AFTER_SECONDS = 5;

/** How often whoever follows a log looks for more. */
const FOLLOW_MS = 250;

/** Logs of runs and nodes. If the store is away the answer is 503, after which agents resend what they have. */
@Injectable()
export class LogsService {
  private readonly maxBytes: number;

  constructor(
    config: Config,
    private readonly store: LogStore,
  ) {
    this.maxBytes = config.storage.logMaxBytes + ENDING_BYTES;
  }

  /**
   * Where a node goes on with a log. From the beginning while the store is away: that costs a repeated chunk, whereas
   * refusing the node's poll would end what runs there.
   */
  resumeAt(log: LogName): Promise<number> {
    return this.store.resumeAt(log).catch(() => 0);
  }

  /** Returns what is held afterwards. Throws a 413 beyond the limit, which nodes observe by themselves. */
  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    if (offset + chunk.length > this.maxBytes) {
      throw new DomainError('too-large', 'LOG.TOO_LARGE', `A log may have at most ${this.maxBytes} bytes.`);
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

  /** The same from its beginning, an offset or the last lines on, and all that follows until `hasEnded`. */
  async follow(log: LogName, part: Omit<LogPart, 'firstBytes'>, hasEnded: () => Promise<boolean>): Promise<LogSlice> {
    const slice = await this.open(log, { ...part, firstBytes: 0 });
    slice.stream.destroy();
    const gone = new AbortController();
    const stream = new PassThrough();
    // Of its own: the source closes only when it has come to an end of its waiting.
    stream.once('close', () => gone.abort());
    pipeline(Readable.from(this.added(log, slice.nextOffset, hasEnded, gone.signal)), stream, () => undefined);
    return { ...slice, sizeBytes: null, stream };
  }

  private async *added(
    log: LogName,
    from: number,
    hasEnded: () => Promise<boolean>,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    let at = from;
    let isOver = false;
    for (;;) {
      const { size, read } = await ofStore(this.store.open(log));
      if (size > at) {
        for await (const chunk of read(at, size - at)) {
          at += (chunk as Buffer).length;
          yield chunk as Buffer;
        }
        continue;
      }
      if (isOver) return;
      // What was written before the end is there once the end is known: look once more.
      isOver = await hasEnded();
      if (!isOver && !(await pause(FOLLOW_MS, signal))) return;
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
    'The log store does not answer as it should. Send the request again in a few seconds.',
    { retry_after_seconds: RETRY_AFTER_SECONDS },
    { cause: error },
  );
}
