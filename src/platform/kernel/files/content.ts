import type { Readable } from 'node:stream';
import type { ZipEntry } from './zip-stream';

/** Converts a failure of the store to the error that the caller gets. */
type AsError = (error: unknown) => unknown;

/**
 * An opened file, or the entries of a directory, which is sent as a zip file. The receiver must send it or close its
 * stream.
 */
export type FileContent = { name: string; asError: AsError } &
  /** The size of a file is null if it is known only at its end. */
  (
    | { kind: 'file'; stream: Readable; sizeBytes: number | null }
    | { kind: 'directory'; entries: AsyncIterable<ZipEntry> }
    /** The object store sends the file to each client that has the address. */
    | { kind: 'address'; address: string }
  );

/** Bytes from the first one to before the end. */
export interface ByteRange {
  start: number;
  end: number;
  /** Size of the whole. */
  size: number;
}

/** An opened part of a log. The receiver must send it or close its stream. */
export interface LogSlice {
  name: string;
  stream: Readable;
  /** The part that a header Range named; null if none did. */
  range: ByteRange | null;
  /** Null if the log is followed until its end. */
  sizeBytes: number | null;
  /** Offset in the log at which the next request continues. If the log is followed, the offset at which the response begins. */
  nextOffset: number;
  asError: AsError;
}
