import type { IncomingHttpHeaders } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { MetastoreError } from './metastore-client';

/** Limit of one response; a page of a hundred wide tables has some megabytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads the whole body of a response, up to 16 MiB. Aborting `signal` destroys the stream. Throws {@link MetastoreError},
 * and the errors of the stream.
 */
export function readBody(stream: Readable, headers: IncomingHttpHeaders, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const stop = (error: Error) => {
      reject(error);
      stream.destroy();
    };
    const onAbort = () =>
      stop(new MetastoreError('timeout', 'The call was cancelled before the whole response had arrived.'));
    const take = (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_BYTES) stop(tooLarge());
      else chunks.push(chunk);
    };
    finished(stream, (error) => {
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else if (Number(headers['content-length'] ?? 0) > MAX_BYTES) stop(tooLarge());
    else stream.on('data', take);
  });
}

function tooLarge(): MetastoreError {
  return new MetastoreError(
    'too-large',
    `The response of the metastore is larger than ${MAX_BYTES / 1024 / 1024} MiB.`,
  );
}
