import type { Readable } from 'node:stream';
import { ObjectStoreError } from './object-store';
import { cancelled } from './store-deadline';

const MEBIBYTE = 2 ** 20;
const PART_BYTES = 8 * MEBIBYTE;

/** What the parts of one upload may hold in memory at once, the one being filled aside. */
const PARALLEL_BYTES = 3 * PART_BYTES;

/** A piece of a file; all but the last are of one size, a multiple of 1 MiB. */
export interface Part {
  /** From 1. */
  number: number;
  /** Where it begins in the file. */
  offset: number;
  data: Buffer;
  isLast: boolean;
}

export interface PartsOptions {
  /** What the source should give; null when that is not known. */
  sizeBytes: number | null;
  /** Parts a provider takes for one file. */
  maxParts: number;
  /** Parts it takes at the same time. */
  parallelParts: number;
  idleMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Cuts a stream into parts and sends them, a few at a time. The last part is sent only when the source has ended and
 * its size is right. After a failure nothing is left under way, and the source is destroyed. Returns the size in bytes.
 */
export async function sendParts(
  source: Readable,
  options: PartsOptions,
  send: (part: Part, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const partBytes = partSize(options);
  const parallel = Math.max(1, Math.min(options.parallelParts, Math.floor(PARALLEL_BYTES / partBytes)));
  const controller = new AbortController();
  const stop = () => {
    source.destroy(cancelled(options.signal));
    controller.abort(cancelled(options.signal));
  };
  options.signal?.addEventListener('abort', stop, { once: true });
  const underWay = new Set<Promise<void>>();
  const buffers = new BufferPool(partBytes);
  let sizeBytes = 0;
  let failure: { error: unknown } | null = null;
  // At once: a source may take long to bring the next byte.
  const fail = (error: unknown) => {
    failure ??= { error };
    source.destroy();
    controller.abort(error);
  };
  try {
    if (options.signal?.aborted) throw cancelled(options.signal);
    for await (const part of cut(source, options, buffers)) {
      sizeBytes = part.offset + part.data.length;
      // The part that makes the file complete must not overtake one that may still fail.
      if (part.isLast) await Promise.all(underWay);
      const sending = send(part, controller.signal).then(() => {
        underWay.delete(sending);
        buffers.give(part.data);
      });
      underWay.add(sending);
      sending.catch(fail);
      if (underWay.size >= parallel) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    return sizeBytes;
  } catch (error) {
    fail(error);
    await Promise.allSettled(underWay);
    if (options.signal?.aborted) throw cancelled(options.signal);
    throw (failure ?? { error }).error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
    source.destroy();
  }
}

function partSize({ sizeBytes, maxParts }: PartsOptions): number {
  if (sizeBytes === null) return PART_BYTES;
  if (sizeBytes <= PART_BYTES) return Math.max(1, sizeBytes);
  return Math.max(PART_BYTES, Math.ceil(sizeBytes / maxParts / MEBIBYTE) * MEBIBYTE);
}

async function* cut(source: Readable, options: PartsOptions, buffers: BufferPool): AsyncGenerator<Part> {
  const { sizeBytes, maxParts } = options;
  let [number, offset, filled] = [1, 0, 0];
  let data = buffers.take();
  for await (const chunk of chunksOf(source, options.idleMs)) {
    if (sizeBytes !== null && offset + filled + chunk.length > sizeBytes)
      throw mismatch(`more than ${sizeBytes}`, sizeBytes);
    for (let taken = 0; taken < chunk.length;) {
      // A full part waits for another byte: only then is it known not to be the last.
      if (filled === data.length) {
        if (number === maxParts) throw tooLarge(offset + filled);
        yield { number, offset, data, isLast: false };
        [number, offset, filled] = [number + 1, offset + filled, 0];
        data = buffers.take();
      }
      const copied = chunk.copy(data, filled, taken);
      filled += copied;
      taken += copied;
    }
  }
  if (sizeBytes !== null && offset + filled !== sizeBytes) throw mismatch(`${offset + filled}`, sizeBytes);
  yield { number, offset, data: data.subarray(0, filled), isLast: true };
}

/** The chunks of a source; its failure and its silence are `SOURCE_FAILED`. */
async function* chunksOf(source: Readable, idleMs: number): AsyncGenerator<Buffer> {
  let isWaiting = false;
  const timer = setTimeout(() => {
    // It may be the store that holds back the next part.
    if (isWaiting) source.destroy(stalled(idleMs));
    else timer.refresh();
  }, idleMs);
  try {
    const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>;
    for (;;) {
      timer.refresh();
      isWaiting = true;
      const next = await iterator.next();
      isWaiting = false;
      if (next.done) return;
      yield typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
    }
  } catch (error) {
    if (error instanceof ObjectStoreError) throw error;
    throw new ObjectStoreError('SOURCE_FAILED', 'The upload ended before all bytes had arrived.', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Parts are all of one size, so their buffers are used again: memory stays flat whatever the collector does. */
class BufferPool {
  private readonly free: ArrayBuffer[] = [];

  constructor(private readonly bytes: number) {}

  take(): Buffer {
    return Buffer.from(this.free.pop() ?? new ArrayBuffer(this.bytes));
  }

  give(buffer: Buffer): void {
    this.free.push(buffer.buffer as ArrayBuffer);
  }
}

function mismatch(given: string, wanted: number): ObjectStoreError {
  return new ObjectStoreError('SIZE_MISMATCH', `The upload has ${given} bytes, but ${wanted} were announced.`);
}

function tooLarge(bytes: number): ObjectStoreError {
  const message = `A file whose size is not announced may not be larger than ${bytes} bytes.`;
  return new ObjectStoreError('TOO_LARGE', message);
}

function stalled(idleMs: number): ObjectStoreError {
  return new ObjectStoreError('SOURCE_FAILED', `The upload brought no data for ${idleMs / 1000} seconds.`);
}
