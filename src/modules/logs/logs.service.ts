import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DirectoryLogStore, type LogName } from '../../../libs/object-storage/directory-log-store';
import { Config } from '../../config/config';
import { DomainError } from '../../platform/errors/domain-error';

/** Which part of a log is wanted: the last lines, the first bytes, what follows an offset, or all of it. */
export interface LogPart {
  lastLines?: number;
  firstBytes?: number;
  offset?: number;
}

/** Name of the answer header with the offset at which a tail goes on. */
export const LOG_OFFSET_HEADER = 'x-log-offset';

/** A node sends the end of a log that it has cut, with a note, after the part that is within the limit. */
const ENDING_BYTES = 128 * 1024;

/** Logs of runs and nodes. */
@Injectable()
export class LogsService {
  private readonly store: DirectoryLogStore;
  private readonly maxBytes: number;

  constructor(config: Config) {
    this.store = new DirectoryLogStore(config.storage.logsDir);
    this.maxBytes = config.storage.logMaxBytes + ENDING_BYTES;
  }

  size(log: LogName): Promise<number> {
    return this.store.size(log);
  }

  /** Throws a 413 for what goes beyond the limit, to which nodes hold by themselves. */
  async write(log: LogName, offset: number, chunk: Buffer): Promise<number> {
    if (offset + chunk.length > this.maxBytes) {
      throw new DomainError('too-large', 'LOG.TOO_LARGE', `A log has at most ${this.maxBytes} bytes.`);
    }
    return this.store.write(log, offset, chunk);
  }

  /** Removes both streams of a run or node. */
  delete(kind: LogName['kind'], id: number): Promise<void> {
    return this.store.delete(kind, id);
  }

  /** Streams a part of the log as text; clients take the answer for an error without its Content-Disposition. */
  async send(log: LogName, part: LogPart, response: Response): Promise<void> {
    const size = await this.store.size(log);
    const start =
      part.lastLines === undefined
        ? Math.min(part.offset ?? 0, size)
        : await this.store.offsetOfLastLines(log, part.lastLines);
    const length = Math.min(part.firstBytes ?? Infinity, size - start);
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
    response.setHeader('Content-Disposition', `attachment; filename="${log.kind}-${log.id}.${log.stream}.log"`);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader(LOG_OFFSET_HEADER, String(start + length));
    response.setHeader('Content-Length', String(length));
    await pipeline(await this.store.read(log, start, length), response);
  }
}
