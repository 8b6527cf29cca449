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

/** A text of this size or more would hold up the event loop; bytes. */
export const LARGE_FROM_BYTES = 128 * 1024;

/** Several hundred times what the largest text takes; beyond it the thread ends, and its work with it. */
const THREAD_MEMORY_MB = 512;

/** The functions that the thread can call. */
const TASKS = { parseStrictJson, isJsonText, markOpaque };
type Tasks = typeof TASKS;
type Rest<K extends keyof Tasks> = Parameters<Tasks[K]> extends [unknown, ...infer R] ? R : never;

/**
 * The functions as text, so that the thread has the same ones in the build and where sources are transformed as they
 * load. They refer to nothing but each other.
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

/** Reads JSON off the event loop. Whoever holds the bytes bounds what may wait. */
export class JsonThread {
  private thread: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;

  constructor(private readonly logger: Logger) {}

  /** Takes over the bytes: the caller may no longer have them afterwards. Throws if the thread fails on them. */
  parse(bytes: Buffer, bounds: JsonBounds, numbers: Numbers = 'rounded'): Promise<ParsedJson> {
    return this.run('parseStrictJson', bytes, [bounds, numbers], true);
  }

  /** See {@link isJsonText}; the bytes stay the caller's. */
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
    takesOver: boolean,
  ): Promise<ReturnType<Tasks[K]>> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve, reject) => {
      const id = (this.asked += 1);
      this.waiting.set(id, { resolve, reject });
      thread.ref();
      // Handed over and not copied, unless others share the memory.
      const isOwn = takesOver && bytes.length === bytes.buffer.byteLength;
      const given = isOwn ? bytes : Buffer.from(bytes);
      thread.postMessage({ id, task, bytes: given, rest }, [given.buffer as ArrayBuffer]);
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
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
    });
    thread.on('message', ({ id, result }: { id: number; result: never }) => {
      this.waiting.get(id)?.resolve(result);
      this.waiting.delete(id);
      if (this.waiting.size === 0) thread.unref();
    });
    thread.on('error', (error) => this.logger.error({ err: error }, 'The thread that reads JSON failed'));
    thread.on('exit', () => {
      this.thread = null;
      for (const { reject } of this.waiting.values()) reject(new Error('The thread that reads JSON ended.'));
      this.waiting.clear();
    });
    return thread;
  }
}
