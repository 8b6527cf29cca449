import { isUtf8 } from 'node:buffer';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isJsonText } from '../../../../libs/json/json-syntax';
import { type OpaqueTextBounds, parseMarked, readOpaque } from '../../../../libs/json/opaque-json';
import { LOGGER, type Logger } from '../logging/logger';
import { EventLoopTurns } from '../process/event-loop-turns';
import { FairBulkhead } from '../process/fair-bulkhead';
import { JsonThread, LARGE_FROM_BYTES } from './json-thread';

/** Python's parser does not go deeper. */
const MAX_LEVELS = 1_000;

/** Large texts are checked one at a time. The largest takes a few tenths of a second. */
const LARGE_TEXTS = {
  code: 'JSON.BUSY',
  maxConcurrent: 1,
  maxQueued: 64,
  maxQueuedPerParty: 16,
  queueTimeoutMs: 10_000,
};

/** Reads JSON that jobs and their callers send each other. Tenants take turns in the thread for large texts. */
@Injectable()
export class UntrustedJson implements OnApplicationShutdown {
  private readonly thread: JsonThread;
  private readonly bulkhead = new FairBulkhead(LARGE_TEXTS);
  /** Spreads the small texts of a request, of which there may be many, over turns of the event loop. */
  private readonly turns = new EventLoopTurns(LARGE_FROM_BYTES);

  constructor(@Inject(LOGGER) logger: Logger) {
    this.thread = new JsonThread(logger);
  }

  /** True if the bytes are JSON in UTF-8. Throws a 503 if too many large texts are waiting. */
  async isJson(tenantId: string, bytes: Buffer): Promise<boolean> {
    if (!isUtf8(bytes)) return false;
    if (bytes.length < LARGE_FROM_BYTES) return isJsonText(bytes, MAX_LEVELS);
    return this.bulkhead.run(tenantId, () => this.thread.isJsonText(bytes, MAX_LEVELS));
  }

  /** See {@link readOpaque}. Throws a 503 if too many large texts are waiting. */
  async readOpaque(tenantId: string, json: Buffer, bounds: OpaqueTextBounds): Promise<unknown> {
    if (json.length > bounds.bytes) return undefined;
    if (json.length < LARGE_FROM_BYTES) {
      await this.turns.takeFor(json.length);
      return readOpaque(json, bounds);
    }
    const marked = await this.bulkhead.run(tenantId, () => this.thread.markOpaque(json, bounds));
    return marked === null ? undefined : parseMarked(marked);
  }

  onApplicationShutdown(): Promise<void> {
    return this.thread.end();
  }
}
