import { finished, type Readable, Transform } from 'node:stream';
import { ObjectStoreError } from './object-store';

/**
 * Runs a call until its deadline or the caller's signal ends it, whichever comes first; the call's own signal tells it
 * to give up. It is not awaited then: some SDKs cannot be interrupted and end by their own time limits.
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
      // The answer first, then the call: its own complaint about the abort comes too late to replace the answer.
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

/** With less, the connection would be stopped and started again for every chunk that arrives. */
const BUFFERED_BYTES = 2 ** 20;

/**
 * Passes on a stream of the store, in constant memory: it fails when the store gives nothing for `idleMs` (a reader
 * that takes its time does not count), when it ends early, and when the caller's signal says so.
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
      const message = `The store ended the file after ${received} of ${options.lengthBytes} bytes.`;
      done(new ObjectStoreError('UNAVAILABLE', message));
    },
  });
  const timer = setTimeout(() => {
    if (guard.readableLength > 0) timer.refresh();
    else guard.destroy(timedOut(options.idleMs));
  }, options.idleMs);
  const onAbort = () => guard.destroy(cancelled(options.signal));
  options.signal?.addEventListener('abort', onAbort, { once: true });
  // A failure of a stream that nobody reads must not end the process.
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
