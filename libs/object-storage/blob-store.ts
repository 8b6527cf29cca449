import { createHash, randomUUID } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { AddressOptions } from './object-store';

/** A stored file: its key in the store, its length in bytes and the SHA-256 of its content in hex. */
export interface StoredBlob {
  key: string;
  size: number;
  sha256: string;
}

export type BlobProblem = 'too-large' | 'size-mismatch' | 'no-space' | 'cut-off' | 'absent' | 'unavailable';

/** A blob could not be written or read. A failed write leaves nothing behind. */
export class BlobStoreError extends Error {
  constructor(
    readonly problem: BlobProblem,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'BlobStoreError';
  }
}

/** Stores immutable files, which appear under their keys only when they are complete. */
export abstract class BlobStore {
  /** Throws `no-space` if this many more bytes would use up the reserve. A store that knows no free space never throws. */
  abstract assertSpace(bytes: number): Promise<void>;
  /**
   * Writes the stream in constant memory; throws {@link BlobStoreError}, or what the stream fails with.
   * @param expectedBytes the announced size, if any; a store may refuse a different size with `size-mismatch`
   */
  abstract write(source: Readable, maxBytes: number, expectedBytes?: number | null): Promise<StoredBlob>;
  /** Opens a blob or a range of it (`end` inclusive); throws `absent` if the store does not have it. */
  abstract read(key: string, range?: { start?: number; end?: number }): Promise<Readable>;
  /** Returns an address from which anyone can read the blob for some time; null if the store has none. */
  abstract addressOf(key: string, options: AddressOptions): Promise<string | null>;
  /** A blob that is already absent is not an error. */
  abstract delete(key: string): Promise<void>;
  /** Removes old blobs that `isUsed` does not claim; returns their number. One call may check only a part of the store. */
  abstract sweep(olderThanMs: number, isUsed: (keys: string[]) => Promise<Set<string>>): Promise<number>;
}

export const BLOB_KEY = /^[0-9a-f]{2}\/[0-9a-f-]{36}$/;

export function newBlobKey(): string {
  const id = randomUUID();
  return `${id.slice(0, 2)}/${id}`;
}

/** Counts and hashes the bytes that pass through; fails with `too-large` above the limit. */
export class BlobMeter extends Transform {
  private size = 0;
  private readonly hash = createHash('sha256');

  /** @param admit called after each chunk with the bytes received so far; a rejection ends the stream with its error */
  constructor(
    private readonly maxBytes: number,
    private readonly admit: (size: number) => Promise<void> | null = () => null,
  ) {
    super();
  }

  blob(key: string): StoredBlob {
    return { key, size: this.size, sha256: this.hash.digest('hex') };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.size += chunk.length;
    this.hash.update(chunk);
    if (this.size > this.maxBytes) {
      done(new BlobStoreError('too-large', `The file is larger than ${this.maxBytes} bytes.`));
      return;
    }
    const admitted = this.admit(this.size);
    if (admitted) admitted.then(() => done(null, chunk), done);
    else done(null, chunk);
  }
}

const CUT_OFF = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED'];

/** Translates the error of an upload's stream: a client that disconnected is `cut-off`. */
export function sourceFailure(error: unknown): Error {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (!(error instanceof BlobStoreError) && CUT_OFF.includes(code)) {
    return new BlobStoreError('cut-off', 'The upload ended before all bytes had arrived. Upload the file again.', {
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}
