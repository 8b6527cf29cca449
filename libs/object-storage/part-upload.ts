import type { Readable } from 'node:stream';
import { ObjectStoreError } from './object-store';
import { cancelled } from './store-deadline';

const MEBIBYTE = 2 ** 20;
const PART_BYTES = 8 * MEBIBYTE;

/** Memory for the parts of one upload that are being sent; the one being filled comes on top. */
const PARALLEL_BYTES = 3 * PART_BYTES;

/** A part of a file; all but the last have the same size, a multiple of 1 MiB. */
export interface Part {
  /** From 1. */
  number: number;
  /** Offset in the file. */
  offset: number;
  data: Buffer;
  isLast: boolean;
}

export interface PartsOptions {
  /** Announced size of the source; null if unknown. */
  sizeBytes: number | null;
  /** Number of parts that a provider accepts for one file. */
  maxParts: number;
  /** Number of parts that it accepts at the same time. */
  parallelParts: number;
  idleMs: number;
  signal: AbortSignal | undefined;
}

/**
 * Cuts a stream into parts and sends them, a few at a time. The last part is sent only after the source has ended with
 * the right size. After a failure no request is running and the source is destroyed. Returns the size in bytes.
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
  const running = new Set<Promise<void>>();
  const buffers = new BufferPool(partBytes);
  let sizeBytes = 0;
  let failure: { error: unknown } | null = null;
  // Destroys the source at once: its next byte may take long to arrive.
  const fail = (error: unknown) => {
    failure ??= { error };
    source.destroy();
    controller.abort(error);
  };
  try {
    if (options.signal?.aborted) throw cancelled(options.signal);
    for await (const part of cut(source, options, buffers)) {
      sizeBytes = part.offset + part.data.length;
      // The part that completes the file must not overtake one that may still fail.
      if (part.isLast) await Promise.all(running);
      const sending = send(part, controller.signal).then(() => {
        running.delete(sending);
        buffers.release(part.data);
      });
      running.add(sending);
      sending.catch(fail);
      if (running.size >= parallel) await Promise.race(running);
    }
    await Promise.all(running);
    return sizeBytes;
  } catch (error) {
    fail(error);
    await Promise.allSettled(running);
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
  let data = buffers.acquire();
  for await (const chunk of chunksOf(source, options.idleMs)) {
    if (sizeBytes !== null && offset + filled + chunk.length > sizeBytes)
      throw mismatch(`more than ${sizeBytes}`, sizeBytes);
    for (let taken = 0; taken < chunk.length;) {
      // A full part is sent when another byte arrives: only then is it certainly not the last.
      if (filled === data.length) {
        if (number === maxParts) throw tooLarge(offset + filled);
        yield { number, offset, data, isLast: false };
        [number, offset, filled] = [number + 1, offset + filled, 0];
        data = buffers.acquire();
      }
      const copied = chunk.copy(data, filled, taken);
      filled += copied;
      taken += copied;
    }
  }
  if (sizeBytes !== null && offset + filled !== sizeBytes) throw mismatch(`${offset + filled}`, sizeBytes);
  yield { number, offset, data: data.subarray(0, filled), isLast: true };
}

/** Reads the chunks of a source; throws `SOURCE_FAILED` if it fails or stalls. */
async function* chunksOf(source: Readable, idleMs: number): AsyncGenerator<Buffer> {
  let isWaiting = false;
  const timer = setTimeout(() => {
    // Only count time spent waiting for the source: the store may be slow to accept a part.
    if (isWaiting) source.destroy(sourceStalled(idleMs));
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
    throw new ObjectStoreError(
      'SOURCE_FAILED',
      'The upload ended before all bytes had arrived. Upload the file again.',
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Reuses the buffers of parts, which all have one size, so that memory stays flat whatever the garbage collector does. */
class BufferPool {
  private readonly free: ArrayBuffer[] = [];

  constructor(private readonly bytes: number) {}

  acquire(): Buffer {
    return Buffer.from(this.free.pop() ?? new ArrayBuffer(this.bytes));
  }

  release(buffer: Buffer): void {
    this.free.push(buffer.buffer as ArrayBuffer);
  }
}

function mismatch(actual: string, announced: number): ObjectStoreError {
  return new ObjectStoreError('SIZE_MISMATCH', `The upload has ${actual} bytes, but ${announced} were announced.`);
}

function tooLarge(bytes: number): ObjectStoreError {
  const message = `A file must not be larger than ${bytes} bytes unless the upload announces its size.`;
  return new ObjectStoreError('TOO_LARGE', message);
}

function sourceStalled(idleMs: number): ObjectStoreError {
  return new ObjectStoreError('SOURCE_FAILED', `The upload sent no data for ${idleMs / 1000} seconds.`);
}
