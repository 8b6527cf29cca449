import { createHash, randomUUID } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';

/** A stored file: its key in the store, its length in bytes and the SHA-256 of its content in hex. */
export interface StoredBlob {
  key: string;
  size: number;
  sha256: string;
}

export type BlobProblem = 'too-large' | 'size-mismatch' | 'no-space' | 'cut-off' | 'absent' | 'unavailable';

/** Why a blob could not be written or read; nothing unfinished stays. */
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

/** Immutable files, which appear under their keys only when they are whole. */
export abstract class BlobStore {
  /** Throws `no-space` if that many more bytes would leave less room than must stay free, where the store can tell. */
  abstract assertSpace(bytes: number): Promise<void>;
  /**
   * Writes the stream in constant memory; throws {@link BlobStoreError}, or what the stream fails with.
   * @param expectedBytes what is announced, if anything is; a store may refuse another size with `size-mismatch`
   */
  abstract write(source: Readable, maxBytes: number, expectedBytes?: number | null): Promise<StoredBlob>;
  /** Opens a blob, whole or a range of it (`end` inclusive); throws `absent` when the store does not have it. */
  abstract read(key: string, range?: { start?: number; end?: number }): Promise<Readable>;
  /** A blob that is already absent is not an error. */
  abstract delete(key: string): Promise<void>;
  /** Removes blobs older than the given age that `isUsed` does not claim, and answers how many; a call may look at a part only. */
  abstract sweep(olderThanMs: number, isUsed: (keys: string[]) => Promise<Set<string>>): Promise<number>;
}

export const BLOB_KEY = /^[0-9a-f]{2}\/[0-9a-f-]{36}$/;

export function newBlobKey(): string {
  const id = randomUUID();
  return `${id.slice(0, 2)}/${id}`;
}

/** Counts and hashes the bytes that pass, and fails with `too-large` when they are too many. */
export class BlobMeter extends Transform {
  private size = 0;
  private readonly hash = createHash('sha256');

  /** @param admit is told after each chunk how many bytes have arrived; what it rejects with ends the stream */
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

/** What the stream of an upload failed with: `cut-off` where its client went away. */
export function sourceFailure(error: unknown): Error {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (!(error instanceof BlobStoreError) && CUT_OFF.includes(code)) {
    return new BlobStoreError('cut-off', 'The upload ended before all bytes had arrived.', { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
