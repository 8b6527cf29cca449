import type { Readable } from 'node:stream';
import type { ZipEntry } from './zip-stream';

/** What a failure of the store means to the caller. */
type AsError = (error: unknown) => unknown;

/**
 * An opened file, or the entries of a directory, which is sent as a zip file. Whoever receives it must send it or close
 * its stream.
 */
export type FileContent = { name: string; asError: AsError } &
  /** Without a size if that shows only at its end. */
  (
    | { kind: 'file'; stream: Readable; sizeBytes: number | null }
    | { kind: 'directory'; entries: AsyncIterable<ZipEntry> }
  );

/** A part of a log, opened. Whoever receives it must send it or close its stream. */
export interface LogSlice {
  name: string;
  stream: Readable;
  /** Null if it is followed until its end. */
  sizeBytes: number | null;
  /** Offset in the log at which a tail goes on; of a log that is followed, at which the answer begins. */
  nextOffset: number;
  asError: AsError;
}
