import type { Readable } from 'node:stream';
import type { AddressOptions, ObjectStoreError } from './object-store';
import type { Part } from './part-upload';

/** An object as a provider describes it. */
export interface KeyInfo {
  key: string;
  sizeBytes: number;
  lastModified: Date | null;
  contentType: string | null;
  /** True for a directory whose key does not end in a slash; Azure's hierarchical namespaces have them. */
  isDirectory?: boolean;
}

export interface KeyPage {
  objects: KeyInfo[];
  /** Common prefixes of keys up to and including the next slash; only with a delimiter. */
  prefixes: string[];
  nextToken: string | null;
}

export interface KeyListRequest {
  prefix: string;
  delimited: boolean;
  token: string | null;
  limit: number;
}

export interface KeyUploadRequest {
  key: string;
  contentType: string;
  overwrite: boolean;
  sizeBytes: number | null;
  /** An empty object that stands for a directory. */
  isDirectory: boolean;
}

/** The upload of one object, which appears with `finish` or with its only part. */
export interface KeyUpload {
  /** Parts are sent in order; up to the provider's `parallelParts` requests run at once. */
  send(part: Part, signal: AbortSignal): Promise<void>;
  finish(signal: AbortSignal): Promise<void>;
  /** Removes the parts that were sent. Called once, when no request is running. */
  discard(signal: AbortSignal): Promise<void>;
}

/**
 * The operations in which providers differ: objects by key. `KeyedObjectStore` handles paths, directories, deadlines and
 * streams, so an implementation throws the SDK's errors unchanged, and `fault` translates them.
 */
export interface KeySpace {
  readonly maxParts: number;
  readonly parallelParts: number;
  list(request: KeyListRequest, signal: AbortSignal): Promise<KeyPage>;
  /** Returns null if there is no such object; a missing bucket may look the same. */
  head(key: string, signal: AbortSignal): Promise<KeyInfo | null>;
  /** Destroying the stream closes its connection. */
  open(
    key: string,
    range: { start: number; end?: number } | null,
    signal: AbortSignal,
  ): Promise<{ info: KeyInfo; lengthBytes: number; stream: Readable }>;
  /** Returns a signed address of the object; null if the credential cannot sign. */
  address(key: string, options: AddressOptions, signal: AbortSignal): Promise<string | null>;
  upload(request: KeyUploadRequest): KeyUpload;
  /** Deletes at most 1000 keys; absent ones are not an error. */
  delete(keys: string[], signal: AbortSignal): Promise<void>;
  fault(error: unknown): ObjectStoreError;
}
