import type { Readable } from 'node:stream';

/** A file or directory of a store. */
export interface StoreEntry {
  /** Below the root of the store, `a/b.txt`: no slash at either end; empty for the root itself. */
  path: string;
  kind: 'file' | 'directory';
  /** 0 for a directory. */
  sizeBytes: number;
  /** Null where the store does not say, as for most directories. */
  lastModified: Date | null;
  contentType: string | null;
}

export interface StorePage {
  /** At most `limit`; fewer do not mean that the list has ended. */
  entries: StoreEntry[];
  /** For the following page; null at the end. */
  nextToken: string | null;
}

export interface StoreContent {
  /** The whole file, also when a range of it was asked for. */
  entry: StoreEntry;
  /** Ends with an {@link ObjectStoreError} when the store stalls or sends less than it said; destroy it to stop early. */
  stream: Readable;
}

export interface CallOptions {
  /** Ends the call with the code `CANCELLED`. */
  signal?: AbortSignal;
}

export interface StatOptions extends CallOptions {
  /** Answers nothing of the other kind, also where both have the path. */
  kind?: StoreEntry['kind'];
}

export interface ListOptions extends CallOptions {
  /** Everything below the directory rather than what lies in it. */
  recursive?: boolean;
  /** 1 to 1000; default 1000. */
  limit?: number;
  /** `nextToken` of the page before, of a list with the same directory and `recursive`. */
  token?: string | null;
}

export interface ReadOptions extends CallOptions {
  /** Byte offsets, both inclusive; without an end, to the end of the file. */
  range?: { start: number; end?: number };
}

export interface PutOptions extends CallOptions {
  /** False refuses to replace a file, with `ALREADY_EXISTS`. */
  overwrite: boolean;
  /** Default `application/octet-stream`. */
  contentType?: string;
}

export interface WriteOptions extends PutOptions {
  /** Bytes the source will give; more or fewer end the write with `SIZE_MISMATCH`. Unknown: at most 78 GiB. */
  sizeBytes?: number;
}

/**
 * The files of one bucket or container, reached with one credential. Nothing here holds a whole file in memory, and every
 * call ends by itself: with its answer, or with an {@link ObjectStoreError} at a deadline.
 *
 * Directories are what paths imply, and empty ones a marker, an empty object whose key ends in a slash. Lists are in the
 * order of the UTF-8 bytes of their paths, a directory's with a slash at its end; keys that are no paths (`a//b`) are left
 * out. Stores let a file and a directory have one path; `stat` then answers the file.
 */
export interface ObjectStore {
  /** What lies in a directory, or anywhere below it; a directory that does not exist is empty. */
  list(directory: string, options?: ListOptions): Promise<StorePage>;
  /** Null when there is nothing at the path. */
  stat(path: string, options?: StatOptions): Promise<StoreEntry | null>;
  /** Throws `NOT_FOUND` for what is absent or a directory, `INVALID_RANGE` for a range that begins past the end. */
  read(path: string, options?: ReadOptions): Promise<StoreContent>;
  /**
   * Stores the source as a file that appears whole or, after an error, not at all; parts already sent are removed, or,
   * where that cannot be done (Azure), expire within a week. Without `overwrite` the store itself decides between two
   * writers (`If-None-Match`, `ifGenerationMatch`). A failure while the last request is under way leaves open whether
   * the file was stored.
   */
  write(path: string, source: Readable, options: WriteOptions): Promise<StoreEntry>;
  /** Stores what is already in memory: for a small file, a single request, which `write` surrounds with others. */
  put(path: string, content: Buffer, options: PutOptions): Promise<void>;
  /** Makes an empty directory; one that exists is left as it is. */
  makeDirectory(path: string, options?: CallOptions): Promise<void>;
  /** A file that is already absent is not an error. */
  deleteFile(path: string, options?: CallOptions): Promise<void>;
  /** At most 1000 files, with one request where the store takes that; absent ones are not an error. */
  deleteFiles(paths: readonly string[], options?: CallOptions): Promise<void>;
  /** Deletes everything below a directory, then the directory; returns how many files there were. */
  deleteDirectory(path: string, options?: CallOptions): Promise<number>;
  /** Throws unless the bucket exists and the credential may list it. */
  check(options?: CallOptions): Promise<void>;
}

/** Milliseconds. */
export interface StoreTimeouts {
  /** A request to its answer's first byte, retries included. A part of an upload has a second more per 128 KiB. */
  callMs: number;
  /** Without any byte: from the store while it is read, from the source while it is written. */
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

/** Why a call failed: the message is one or two sentences for users, with the store's own reason and without secrets. */
export class ObjectStoreError extends Error {
  /** Whether the same call may succeed later. */
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
