import type { Readable } from 'node:stream';
import type { ObjectStoreError } from './object-store';
import type { Part } from './part-upload';

/** An object as a provider knows it. */
export interface KeyInfo {
  key: string;
  sizeBytes: number;
  lastModified: Date | null;
  contentType: string | null;
  /** A directory though its key does not end in a slash: hierarchical namespaces of Azure have them. */
  isDirectory?: boolean;
}

export interface KeyPage {
  objects: KeyInfo[];
  /** With a delimiter: what keys have in common up to the next slash, that slash included. */
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

/** One object on its way into the store; it appears with `finish`, or with its only part. */
export interface KeyUpload {
  /** Parts come in order; as many at once as the provider's `parallelParts` may be under way. */
  send(part: Part, signal: AbortSignal): Promise<void>;
  finish(signal: AbortSignal): Promise<void>;
  /** Removes what was sent. Called once, when no request is under way. */
  discard(signal: AbortSignal): Promise<void>;
}

/**
 * The little that providers differ in: objects by key. Paths, directories, deadlines and streams are the business of
 * `KeyedObjectStore`, so errors pass through here as the SDK throws them and `fault` says what they mean.
 */
export interface KeySpace {
  readonly maxParts: number;
  readonly parallelParts: number;
  list(request: KeyListRequest, signal: AbortSignal): Promise<KeyPage>;
  /** Null when there is none; a missing bucket may look the same. */
  head(key: string, signal: AbortSignal): Promise<KeyInfo | null>;
  /** The stream ends its connection when it is destroyed. */
  open(
    key: string,
    range: { start: number; end?: number } | null,
    signal: AbortSignal,
  ): Promise<{ info: KeyInfo; lengthBytes: number; stream: Readable }>;
  upload(request: KeyUploadRequest): KeyUpload;
  /** At most 1000 keys; absent ones are not an error. */
  delete(keys: string[], signal: AbortSignal): Promise<void>;
  fault(error: unknown): ObjectStoreError;
}
