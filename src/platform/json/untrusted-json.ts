import { isUtf8 } from 'node:buffer';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isJsonText } from '../../../libs/json/json-syntax';
import { LOGGER, type Logger } from '../logging/logger';
import { FairBulkhead } from '../process/fair-bulkhead';
import { JsonThread, LARGE_FROM_BYTES } from './json-thread';

/** More than Python's own parser takes. */
const MOST_LEVELS = 1_000;

/** Large texts of jobs and their callers, one at a time. The largest takes some tenths of a second. */
const LARGE_TEXTS = { code: 'JSON.BUSY', atOnce: 1, waiting: 64, waitingOfOne: 16, patienceMs: 10_000 };

/** Looks at JSON that is passed on between callers and jobs, off the event loop where it is large; tenants take turns. */
@Injectable()
export class UntrustedJson implements OnApplicationShutdown {
  private readonly thread: JsonThread;
  private readonly bulkhead = new FairBulkhead(LARGE_TEXTS);

  constructor(@Inject(LOGGER) logger: Logger) {
    this.thread = new JsonThread(logger);
  }

  /** Whether the bytes are JSON in UTF-8. 503 where too many large texts wait. */
  async isJson(tenantId: string, bytes: Buffer): Promise<boolean> {
    if (!isUtf8(bytes)) return false;
    if (bytes.length < LARGE_FROM_BYTES) return isJsonText(bytes, MOST_LEVELS);
    return this.bulkhead.run(tenantId, () => this.thread.isJsonText(bytes, MOST_LEVELS));
  }

  onApplicationShutdown(): Promise<void> {
    return this.thread.end();
  }
}
