import { pipeline, type Readable } from 'node:stream';
import {
  BLOB_KEY,
  BlobMeter,
  BlobStore,
  BlobStoreError,
  newBlobKey,
  sourceFailure,
  type BlobProblem,
  type StoredBlob,
} from './blob-store';
import {
  type AddressOptions,
  type ObjectStore,
  ObjectStoreError,
  type ObjectStoreErrorCode,
  type StoreEntry,
} from './object-store';

/** Pages of a thousand objects that one sweep checks; the next sweep continues after them. */
const MAX_PAGES_PER_SWEEP = 100;

/** Stores blobs as objects of a bucket. The parts of an interrupted upload are discarded; see `ObjectStore.write`. */
export class BucketBlobStore extends BlobStore {
  private sweepFrom: string | null = null;

  /** @param root folder in the bucket */
  constructor(
    private readonly store: ObjectStore,
    private readonly root: string,
  ) {
    super();
  }

  async assertSpace(): Promise<void> {
    // Buckets do not fill up; if one has a quota, the store refuses the write.
  }

  async write(source: Readable, maxBytes: number, expectedBytes: number | null = null): Promise<StoredBlob> {
    const key = newBlobKey();
    const meter = new BlobMeter(maxBytes);
    // An error of the source destroys the meter, which the store reads, so it surfaces there.
    pipeline(source, meter, () => undefined);
    try {
      // The key is new, so the store need not check for it.
      await this.store.write(this.path(key), meter, { overwrite: true, sizeBytes: expectedBytes ?? undefined });
    } catch (error) {
      throw asWriteError(error);
    }
    return meter.blob(key);
  }

  async read(key: string, { start = 0, end }: { start?: number; end?: number } = {}): Promise<Readable> {
    const range = start === 0 && end === undefined ? undefined : { start, end };
    try {
      return (await this.store.read(this.path(key), { range })).stream;
    } catch (error) {
      throw asBlobError(error);
    }
  }

  async addressOf(key: string, options: AddressOptions): Promise<string | null> {
    try {
      return await this.store.addressOf(this.path(key), options);
    } catch (error) {
      throw asBlobError(error);
    }
  }

  async delete(key: string): Promise<void> {
    try {
      await this.store.deleteFile(this.path(key));
    } catch (error) {
      throw asBlobError(error);
    }
  }

  async sweep(olderThanMs: number, isUsed: (keys: string[]) => Promise<Set<string>>): Promise<number> {
    const limit = Date.now() - olderThanMs;
    let removed = 0;
    let token = this.sweepFrom;
    // After a failure the next sweep starts from the beginning, in case this position itself causes the failure.
    this.sweepFrom = null;
    for (let pages = 0; pages < MAX_PAGES_PER_SWEEP; pages += 1) {
      const { entries, nextToken } = await this.store.list(this.root, { recursive: true, token });
      const old = entries.filter((entry) => isOlder(entry, limit)).map(({ path }) => path.slice(this.root.length + 1));
      const used = old.length > 0 ? await isUsed(old) : new Set<string>();
      const unused = old.filter((key) => !used.has(key));
      await this.store.deleteFiles(unused.map((key) => `${this.root}/${key}`));
      removed += unused.length;
      token = nextToken;
      if (token === null) break;
    }
    this.sweepFrom = token;
    return removed;
  }

  private path(key: string): string {
    if (!BLOB_KEY.test(key)) throw new BlobStoreError('absent', 'The file does not exist in the file store.');
    return `${this.root}/${key}`;
  }
}

function isOlder({ kind, lastModified }: StoreEntry, limit: number): boolean {
  return kind === 'file' && lastModified !== null && lastModified.getTime() < limit;
}

function asWriteError(error: unknown): Error {
  if (error instanceof ObjectStoreError && error.code === 'SOURCE_FAILED') {
    if (error.cause !== undefined) return sourceFailure(error.cause);
    return new BlobStoreError('cut-off', error.message, { cause: error });
  }
  return asBlobError(error);
}

/** Failures that a caller may have caused. Any other failure of the bucket concerns the operator and may be temporary. */
const PROBLEMS: Partial<Record<ObjectStoreErrorCode, BlobProblem>> = {
  NOT_FOUND: 'absent',
  SIZE_MISMATCH: 'size-mismatch',
  TOO_LARGE: 'too-large',
};

function asBlobError(error: unknown): Error {
  if (!(error instanceof ObjectStoreError)) return sourceFailure(error);
  const problem = PROBLEMS[error.code];
  if (problem === undefined) {
    return new BlobStoreError('unavailable', 'The file store cannot be reached.', { cause: error });
  }
  const message = problem === 'absent' ? 'The file no longer exists in the file store.' : error.message;
  return new BlobStoreError(problem, message, { cause: error });
}
