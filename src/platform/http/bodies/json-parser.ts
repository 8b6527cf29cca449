import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type JsonBounds, type Numbers, type ParsedJson, parseStrictJson } from '../../../../libs/json/strict-json';
import { JsonThread, LARGE_FROM_BYTES } from '../../kernel/json/json-thread';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { LargeBodyTurns } from './large-body-turns';

/** Parses bodies within bounds, large ones in turns and off the event loop. */
@Injectable()
export class JsonParser implements OnApplicationShutdown {
  private readonly thread: JsonThread;

  constructor(
    private readonly turns: LargeBodyTurns,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.thread = new JsonThread(logger);
  }

  /** Takes over the bytes: the caller may no longer have them afterwards. Throws if the thread fails on them. */
  async parse(bytes: Buffer, bounds: JsonBounds, numbers: Numbers = 'rounded'): Promise<ParsedJson> {
    if (bytes.length < LARGE_FROM_BYTES) return parseStrictJson(bytes, bounds, numbers);
    return this.turns.toWork(() => this.thread.parse(bytes, bounds, numbers));
  }

  onApplicationShutdown(): Promise<void> {
    return this.thread.end();
  }
}
