import type { Readable } from 'node:stream';

/** Waits until a stream has bytes to read, or has ended. Throws the error with which it fails. */
export function firstByte(source: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (source.errored) reject(source.errored);
    if (source.readableLength > 0 || source.destroyed) resolve();
    source.once('error', reject);
    source.once('close', resolve);
    source.once('readable', resolve);
  });
}
