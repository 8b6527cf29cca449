import type { Readable } from 'node:stream';

/** A file or directory of a store. */
export interface StoreEntry {
  /** Relative to the root of the store, `a/b.txt`, without a slash at either end; empty for the root itself. */
  path: string;
  kind: 'file' | 'directory';
  /** 0 for a directory. */
  sizeBytes: number;
  /** Null if the store does not say, as for most directories. */
  lastModified: Date | null;
  contentType: string | null;
}

export interface StorePage {
  /** At most `limit`; fewer do not mean the end of the list. */
  entries: StoreEntry[];
  /** Token of the next page; null at the end. */
  nextToken: string | null;
}

export interface StoreContent {
  /** Describes the whole file, even if only a range is read. */
  entry: StoreEntry;
  /** Fails with an {@link ObjectStoreError} if the store stalls or sends too few bytes; destroy it to stop early. */
  stream: Readable;
}

export interface CallOptions {
  /** Aborting it ends the call with the code `CANCELLED`. */
  signal?: AbortSignal;
}

export interface StatOptions extends CallOptions {
  /** Finds only this kind, even if a file and a directory have the same path. */
  kind?: StoreEntry['kind'];
}

export interface ListOptions extends CallOptions {
  /** True lists everything below the directory; default false, only its direct entries. */
  recursive?: boolean;
  /** 1 to 1000; default 1000. */
  limit?: number;
  /** `nextToken` of the previous page of a list with the same directory and `recursive`. */
  token?: string | null;
}

export interface ReadOptions extends CallOptions {
  /** Byte offsets, both inclusive; without `end`, the range reaches to the end of the file. */
  range?: { start: number; end?: number };
}

export interface PutOptions extends CallOptions {
  /** False fails with `ALREADY_EXISTS` instead of replacing a file. */
  overwrite: boolean;
  /** Default `application/octet-stream`. */
  contentType?: string;
}

export interface WriteOptions extends PutOptions {
  /** Size of the source; a different one fails with `SIZE_MISMATCH`. Without it, at most 78 GiB can be written. */
  sizeBytes?: number;
}

/** A signed address: each client that has it can read the file, without a credential. */
export interface AddressOptions extends CallOptions {
  /** The headers Content-Disposition and Content-Type of the store's response. */
  contentDisposition: string;
  contentType: string;
  /** Time until the address expires, in seconds. */
  validSeconds: number;
}

/**
 * The files of one bucket or container, opened with one credential. Nothing here holds a whole file in memory, and every
 * call ends: with its result, or with an {@link ObjectStoreError} at its deadline.
 *
 * Paths imply their directories; an empty directory is a marker, an empty object whose key ends in a slash. Lists are
 * sorted by the UTF-8 bytes of their paths, a directory's with a slash at its end; keys that are no paths (`a//b`) are
 * left out. A file and a directory may have the same path; `stat` then returns the file.
 */
export interface ObjectStore {
  /** Lists the entries of a directory, or everything below it; a directory that does not exist is empty. */
  list(directory: string, options?: ListOptions): Promise<StorePage>;
  /** Returns null if nothing exists at the path. */
  stat(path: string, options?: StatOptions): Promise<StoreEntry | null>;
  /** Throws `NOT_FOUND` if the path is absent or a directory, `INVALID_RANGE` if the range begins past the end. */
  read(path: string, options?: ReadOptions): Promise<StoreContent>;
  /**
   * Returns an address from which the file can be read for some time, whether or not it exists; null if the credential cannot
   * sign one.
   */
  addressOf(path: string, options: AddressOptions): Promise<string | null>;
  /**
   * Stores the source as a file that appears whole or, after an error, not at all; parts that were sent are removed or,
   * on Azure, expire within a week. Without `overwrite` the store itself decides between two writers (`If-None-Match`,
   * `ifGenerationMatch`). If the last request fails, the file may have been stored.
   */
  write(path: string, source: Readable, options: WriteOptions): Promise<StoreEntry>;
  /** Stores a buffer. A small file takes a single request, while `write` needs several. */
  put(path: string, content: Buffer, options: PutOptions): Promise<void>;
  /** Creates an empty directory unless it exists. */
  makeDirectory(path: string, options?: CallOptions): Promise<void>;
  /** A file that is already absent is not an error. */
  deleteFile(path: string, options?: CallOptions): Promise<void>;
  /** Deletes at most 1000 files, with one request if the store supports it; absent ones are not an error. */
  deleteFiles(paths: readonly string[], options?: CallOptions): Promise<void>;
  /** Deletes everything below a directory, then the directory; returns the number of files deleted. */
  deleteDirectory(path: string, options?: CallOptions): Promise<number>;
  /** Throws unless the bucket exists and the credential may list it. */
  check(options?: CallOptions): Promise<void>;
}

/** Milliseconds. */
export interface StoreTimeouts {
  /** One request up to the first byte of its response, retries included. A part of an upload gets a second more per 128 KiB. */
  callMs: number;
  /** Maximum time without any byte: from the store during a read, from the source during a write. */
  idleMs: number;
}

export const DEFAULT_STORE_TIMEOUTS: StoreTimeouts = { callMs: 30_000, idleMs: 30_000 };

export type ObjectStoreErrorCode =
  | 'NOT_FOUND'
  | 'BUCKET_NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'ACCESS_DENIED'
  | 'INVALID_CREDENTIALS'
  /** A path, token or bucket name that no store could accept. */
  | 'INVALID_REQUEST'
  | 'INVALID_RANGE'
  | 'SIZE_MISMATCH'
  | 'TOO_LARGE'
  /** The source of a write failed or stalled. */
  | 'SOURCE_FAILED'
  | 'CANCELLED'
  | 'ADDRESS_REFUSED'
  | 'TIMEOUT'
  | 'UNAVAILABLE'
  /** The store refused for another reason. */
  | 'REFUSED';

const RETRYABLE: readonly ObjectStoreErrorCode[] = ['TIMEOUT', 'UNAVAILABLE', 'SOURCE_FAILED'];

/** A call failed. The message is one or two sentences for users, with the store's own reason and without secrets. */
export class ObjectStoreError extends Error {
  /** True if the same call may succeed later. */
  readonly retryable: boolean;

  constructor(
    readonly code: ObjectStoreErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'ObjectStoreError';
    this.retryable = RETRYABLE.includes(code);
  }
}
