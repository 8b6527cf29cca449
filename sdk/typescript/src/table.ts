/** A value of SQL: decimals, dates and times are texts, and integers beyond 2^53 a bigint, so that none loses digits. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

/** The rows of a query. */
export class Table implements Iterable<SqlValue[]> {
  readonly columns: readonly string[];
  readonly rows: readonly SqlValue[][];
  /** True if the query has more rows than these. */
  readonly isTruncated: boolean;

  constructor(columns: readonly string[], rows: readonly SqlValue[][], isTruncated: boolean) {
    this.columns = columns;
    this.rows = rows;
    this.isTruncated = isTruncated;
  }

  [Symbol.iterator](): Iterator<SqlValue[]> {
    return this.rows[Symbol.iterator]();
  }

  /** Returns each row as a record by the names of the columns. */
  toObjects(): Record<string, SqlValue>[] {
    return this.rows.map((row) => Object.fromEntries(this.columns.map((name, index) => [name, row[index] ?? null])));
  }
}
