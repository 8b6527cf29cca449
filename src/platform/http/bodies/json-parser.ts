import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type JsonBounds, type Numbers, type ParsedJson, parseStrictJson } from '../../../../libs/json/strict-json';
import { JsonThread, LARGE_FROM_BYTES } from '../../kernel/json/json-thread';
import { LOGGER, type Logger } from '../../kernel/logging/logger';
import { LargeBodyTurns } from './large-body-turns';

/** Parses bodies within limits. Large ones are parsed one at a time and off the event loop. */
@Injectable()
export class JsonParser implements OnApplicationShutdown {
  private readonly thread: JsonThread;

  constructor(
    private readonly turns: LargeBodyTurns,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.thread = new JsonThread(logger);
  }

  /** The caller must not use the bytes afterwards, because they may be moved to the thread. Throws if the thread fails. */
  async parse(bytes: Buffer, bounds: JsonBounds, numbers: Numbers = 'rounded'): Promise<ParsedJson> {
    if (bytes.length < LARGE_FROM_BYTES) return parseStrictJson(bytes, bounds, numbers);
    return this.turns.process(() => this.thread.parse(bytes, bounds, numbers));
  }

  onApplicationShutdown(): Promise<void> {
    return this.thread.end();
  }
}
