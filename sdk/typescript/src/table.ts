import { ConfigurationError } from './errors.ts';

/** A value of SQL: decimals, dates and times are texts, and integers beyond 2^53 a bigint, so that none loses digits. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

/** A column of a result, with its type as HiveServer2 calls it, such as `BIGINT`. */
export interface Column {
  name: string;
  type: string;
}

/** The rows of a query. Arrays, maps and structs are texts, as Spark writes them for SQL clients. */
export class Table {
  readonly described: readonly Column[];
  readonly rows: readonly SqlValue[][];
  /** True if the query has more rows than these. */
  readonly isTruncated: boolean;

  constructor(described: readonly Column[], rows: readonly SqlValue[][], isTruncated: boolean) {
    this.described = described;
    this.rows = rows;
    this.isTruncated = isTruncated;
  }

  /** The names of the columns. */
  get columns(): string[] {
    return this.described.map(({ name }) => name);
  }

  /** Returns each row as a record by the names of the columns. @throws ConfigurationError if two have the same */
  toObjects(): Record<string, SqlValue>[] {
    const { columns } = this;
    const twice = columns.find((name, index) => columns.indexOf(name) < index);
    if (twice !== undefined) {
      throw new ConfigurationError(
        `An object cannot hold several columns with the name ${twice}. Name them in the statement with \`as\`.`,
      );
    }
    return this.rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])));
  }
}
