import { Worker } from 'node:worker_threads';
import { isJsonText, JSON_SYNTAX_FUNCTIONS } from '../../../../libs/json/json-syntax';
import {
  type JsonBounds,
  markOpaque,
  type Numbers,
  type OpaqueBounds,
  type ParsedJson,
  parseStrictJson,
  STRICT_JSON_FUNCTIONS,
} from '../../../../libs/json/strict-json';
import type { Logger } from '../logging/logger';

/** Texts of this size and more are read in the thread, because they would hold up the event loop; bytes. */
export const LARGE_FROM_BYTES = 128 * 1024;

/** Several hundred times the largest text. A thread that needs more ends, and its tasks fail. */
const MAX_THREAD_MEMORY_MB = 512;

/** Functions that the thread can call. */
const TASKS = { parseStrictJson, isJsonText, markOpaque };
type Tasks = typeof TASKS;
type Rest<K extends keyof Tasks> = Parameters<Tasks[K]> extends [unknown, ...infer R] ? R : never;

/**
 * The thread gets the functions as text, so that it has the same ones in a build and in tests, which transform sources as
 * they load them. The functions refer only to each other.
 */
const THREAD = `
const { parentPort } = require('node:worker_threads');
${[...STRICT_JSON_FUNCTIONS, ...JSON_SYNTAX_FUNCTIONS].map(String).join('\n')}
const tasks = {
  parseStrictJson,
  isJsonText,
  markOpaque: (json, bounds) => (isJsonText(json, bounds.levels) ? markOpaque(json, bounds) : null),
};
parentPort.on('message', ({ id, task, bytes, rest }) => {
  parentPort.postMessage({ id, result: tasks[task](Buffer.from(bytes), ...rest) });
});
`;

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Reads JSON off the event loop. The caller holds the bytes, so it bounds the number of waiting texts. */
export class JsonThread {
  private thread: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  constructor(private readonly logger: Logger) {}

  /** Moves the bytes to the thread, so the caller must not use them afterwards. Throws if the thread fails. */
  parse(bytes: Buffer, bounds: JsonBounds, numbers: Numbers = 'rounded'): Promise<ParsedJson> {
    return this.run('parseStrictJson', bytes, [bounds, numbers], true);
  }

  /** See {@link isJsonText}. The caller keeps the bytes. */
  isJsonText(bytes: Buffer, levels: number): Promise<boolean> {
    return this.run('isJsonText', bytes, [levels], false);
  }

  /** See {@link markOpaque}; also null if the text is not JSON. The caller keeps the bytes. */
  markOpaque(bytes: Buffer, bounds: OpaqueBounds): Promise<Uint8Array | null> {
    return this.run('markOpaque', bytes, [bounds], false);
  }

  private run<K extends keyof Tasks>(
    task: K,
    bytes: Buffer,
    rest: Rest<K>,
    moves: boolean,
  ): Promise<ReturnType<Tasks[K]>> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve, reject) => {
      const id = (this.lastId += 1);
      this.waiting.set(id, { resolve, reject });
      thread.ref();
      // The memory is transferred without a copy, unless it is shared with other buffers.
      const isOwn = moves && bytes.length === bytes.buffer.byteLength;
      const sent = isOwn ? bytes : Buffer.from(bytes);
      thread.postMessage({ id, task, bytes: sent, rest }, [sent.buffer as ArrayBuffer]);
    });
  }

  async end(): Promise<void> {
    await this.thread?.terminate();
  }

  private start(): Worker {
    const thread = new Worker(THREAD, {
      eval: true,
      env: {},
      name: 'json',
      resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MEMORY_MB },
    });
    thread.on('message', ({ id, result }: { id: number; result: never }) => {
      this.waiting.get(id)?.resolve(result);
      this.waiting.delete(id);
      if (this.waiting.size === 0) thread.unref();
    });
    thread.on('error', (error) =>
      this.logger.error({ err: error }, 'The JSON thread failed; the texts that it was reading are refused'),
    );
    thread.on('exit', () => {
      this.thread = null;
      for (const { reject } of this.waiting.values()) reject(new Error('The JSON thread ended'));
      this.waiting.clear();
    });
    return thread;
  }
}
