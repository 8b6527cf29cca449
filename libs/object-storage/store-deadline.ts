import { finished, type Readable, Transform } from 'node:stream';
import { ObjectStoreError } from './object-store';

/**
 * Rejects at the deadline or when the caller's signal aborts, whichever comes first, and aborts the call's own signal. It
 * does not wait for the call then: some SDKs cannot be interrupted and end by their own timeouts.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    const end = (error: ObjectStoreError) => {
      // Reject before aborting, so that the call's own abort error cannot replace this one.
      reject(error);
      controller.abort(error);
    };
    timer = setTimeout(() => end(timedOut(timeoutMs)), timeoutMs);
    onAbort = () => end(cancelled(signal));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([ended, controller.signal.aborted ? ended : call(controller.signal)]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}

/** With a smaller buffer, the connection would be paused and resumed for every chunk. */
const BUFFERED_BYTES = 2 ** 20;

/**
 * Passes on a stream of the store in constant memory. It fails if the store sends nothing for `idleMs` (a slow reader
 * does not count), if the stream ends early, and when the caller's signal aborts.
 */
export function guardedStream(
  source: Readable,
  options: {
    idleMs: number;
    lengthBytes: number;
    signal: AbortSignal | undefined;
    fault: (error: unknown) => ObjectStoreError;
  },
): Readable {
  let received = 0;
  const guard = new Transform({
    highWaterMark: BUFFERED_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      timer.refresh();
      done(null, chunk);
    },
    flush(done) {
      if (received === options.lengthBytes) return done();
      const message = `The store closed the connection after ${received} of ${options.lengthBytes} bytes.`;
      done(new ObjectStoreError('UNAVAILABLE', message));
    },
  });
  const timer = setTimeout(() => {
    if (guard.readableLength > 0) timer.refresh();
    else guard.destroy(timedOut(options.idleMs));
  }, options.idleMs);
  const onAbort = () => guard.destroy(cancelled(options.signal));
  options.signal?.addEventListener('abort', onAbort, { once: true });
  // Without a listener, the error of a stream that nobody reads would end the process.
  guard.on('error', () => {});
  guard.once('close', () => {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
    source.destroy();
  });
  finished(source, { writable: false }, (error) => {
    if (error) guard.destroy(options.fault(error));
  });
  source.pipe(guard);
  if (options.signal?.aborted) onAbort();
  return guard;
}

export function cancelled(signal: AbortSignal | undefined): ObjectStoreError {
  return new ObjectStoreError('CANCELLED', 'The call was cancelled.', { cause: signal?.reason });
}

function timedOut(timeoutMs: number): ObjectStoreError {
  return new ObjectStoreError('TIMEOUT', `The store did not answer within ${timeoutMs / 1000} seconds.`);
}
