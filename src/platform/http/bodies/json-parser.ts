import { Worker } from 'node:worker_threads';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LOGGER, type Logger } from '../../logging/logger';
import { LargeBodyTurns } from './large-body-turns';
import { type JsonBounds, PARSE_JSON_SOURCE, type ParsedJson, parseJson } from './parse-json';
import { LARGE_FROM_BYTES } from './read-body';

/** Several hundred times what the largest text takes; beyond it the thread ends, and its work with it. */
const THREAD_MEMORY_MB = 512;

/**
 * The functions as text, so that the thread has the same ones in the build and where sources are transformed as they
 * load.
 */
const THREAD = `
const { parentPort } = require('node:worker_threads');
${PARSE_JSON_SOURCE}
parentPort.on('message', ({ id, bytes, bounds }) => {
  parentPort.postMessage({ id, parsed: parseJson(Buffer.from(bytes), bounds) });
});
`;

interface Waiting {
  resolve: (parsed: ParsedJson) => void;
  reject: (error: Error) => void;
}

/**
 * Parses JSON within bounds, large texts in turns and off the event loop. Whoever holds the bytes bounds
 * what may wait.
 */
@Injectable()
export class JsonParser implements OnApplicationShutdown {
  private thread: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;

  constructor(
    private readonly turns: LargeBodyTurns,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Takes over the bytes: the caller may no longer have them afterwards. Throws if the thread fails on them. */
  async parse(bytes: Buffer, bounds: JsonBounds): Promise<ParsedJson> {
    if (bytes.length < LARGE_FROM_BYTES) return parseJson(bytes, bounds);
    return this.turns.toWork(() => this.parseAside(bytes, bounds));
  }

  private parseAside(bytes: Buffer, bounds: JsonBounds): Promise<ParsedJson> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve, reject) => {
      const id = (this.asked += 1);
      this.waiting.set(id, { resolve, reject });
      thread.ref();
      // Handed over and not copied, unless others share the memory.
      const own = bytes.length === bytes.buffer.byteLength ? bytes : Buffer.from(bytes);
      thread.postMessage({ id, bytes: own, bounds }, [own.buffer as ArrayBuffer]);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread?.terminate();
  }

  private start(): Worker {
    const thread = new Worker(THREAD, {
      eval: true,
      env: {},
      name: 'json',
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    thread.on('message', ({ id, parsed }: { id: number; parsed: ParsedJson }) => {
      this.waiting.get(id)?.resolve(parsed);
      this.waiting.delete(id);
      if (this.waiting.size === 0) thread.unref();
    });
    thread.on('error', (error) => this.logger.error({ err: error }, 'The thread that parses JSON failed'));
    thread.on('exit', () => {
      this.thread = null;
      for (const { reject } of this.waiting.values()) reject(new Error('The thread that parses JSON ended.'));
      this.waiting.clear();
    });
    return thread;
  }
}
