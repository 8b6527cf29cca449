export interface TableFile {
  name: string;
  sizeBytes: number;
}

/**
 * Reads the files of a table. Every call is bounded and ends when `signal` aborts. Throws a `TableSchemaError`, `missing`
 * for an absent file and `outside` for a URI elsewhere, or the error of the store.
 */
export interface TableFiles {
  /** Reads the whole file; throws `too-large` if it has more than `maxBytes`. */
  read(uri: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>;
  /** Reads the bytes from `start` to `end`, which is exclusive; both are within the file. */
  readPart(uri: string, range: { start: number; end: number }, signal: AbortSignal): Promise<Buffer>;
  /** Returns the size in bytes. */
  sizeOf(uri: string, signal: AbortSignal): Promise<number>;
  /** Lists the files directly in a directory; throws `too-large` above `maxFiles`. An absent directory is empty. */
  list(uri: string, options: { maxFiles: number }, signal: AbortSignal): Promise<TableFile[]>;
}
