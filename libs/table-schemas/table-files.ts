/** A file of a directory. */
export interface TableFile {
  name: string;
  sizeBytes: number;
}

/**
 * What is read of the files of tables. Every call has a bound and ends when `signal` aborts. Throws a `TableSchemaError`,
 * which is `missing` for what is absent and `outside` for a URI elsewhere, or the error of the store.
 */
export interface TableFiles {
  /** The whole file; one of more than `maxBytes` is `too-large`. */
  read(uri: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
  /** The bytes from `start` to before `end`, both within the file. */
  readPart(uri: string, range: { start: number; end: number }, signal: AbortSignal): Promise<Buffer>;
  /** Bytes. */
  sizeOf(uri: string, signal: AbortSignal): Promise<number>;
  /** What lies in a directory, without those below; more than `maxFiles` are `too-large`. An absent directory is empty. */
  list(uri: string, options: { maxFiles: number }, signal: AbortSignal): Promise<TableFile[]>;
}
