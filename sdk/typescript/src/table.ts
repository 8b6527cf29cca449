import { ConfigurationError } from './errors.ts';

/** A SQL value. Decimals, dates and times are strings, and integers beyond 2^53 are bigints, so that none loses digits. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

/** A column of a result, with its type as HiveServer2 calls it, such as `BIGINT`. */
export interface Column {
  name: string;
  type: string;
}

/** The rows of a query. Arrays, maps and structs are strings, as Spark writes them for SQL clients. */
export class Table {
  readonly schema: readonly Column[];
  readonly rows: readonly SqlValue[][];
  /** True if the query has more rows than these. */
  readonly isTruncated: boolean;

  constructor(schema: readonly Column[], rows: readonly SqlValue[][], isTruncated: boolean) {
    this.schema = schema;
    this.rows = rows;
    this.isTruncated = isTruncated;
  }

  /** The names of the columns. */
  get columns(): string[] {
    return this.schema.map(({ name }) => name);
  }

  /** Returns each row as an object by column names. @throws ConfigurationError if two columns have the same name */
  toObjects(): Record<string, SqlValue>[] {
    const { columns } = this;
    const duplicate = columns.find((name, index) => columns.indexOf(name) < index);
    if (duplicate !== undefined) {
      throw new ConfigurationError(
        `An object cannot hold several columns named ${duplicate}. Rename them in the statement with \`as\`.`,
      );
    }
    return this.rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])));
  }
}
