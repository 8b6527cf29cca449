import type { Column, SqlStatement, SqlValue } from 'managed-spark/sql';
import { csvHead, csvOf } from './values';

/** Rows of a fetch. */
const PAGE = 1_000;
/** The most that is kept of a result; what is beyond goes into a download only. */
const MAX_ROWS = 100_000;
const MAX_BYTES = 48 << 20;
/** The most that a download has. */
const MAX_DOWNLOAD_BYTES = 1 << 30;

/** Rows of a statement that are in the page, and the way to the others. */
export class ResultRows {
  readonly columns: readonly Column[];
  readonly rows: SqlValue[][] = [];
  /** True when no rows are left at the server. */
  isComplete: boolean;
  readonly #statement: SqlStatement | null;
  #bytes = 0;
  #loading: Promise<void> | null = null;

  constructor(columns: readonly Column[], statement: SqlStatement) {
    this.columns = columns;
    this.isComplete = columns.length === 0;
    this.#statement = statement;
  }

  /** True when there may be more rows than the page keeps. */
  get isCut(): boolean {
    return !this.isComplete && (this.rows.length >= MAX_ROWS || this.#bytes >= MAX_BYTES);
  }

  /** Fetches the next rows, unless all are here, no more are kept, or a fetch is on its way. */
  loadMore(fromStart = false): Promise<void> {
    if (this.isComplete || this.isCut) return Promise.resolve();
    this.#loading ??= this.#load(fromStart).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(fromStart: boolean): Promise<void> {
    const page = await this.#next(fromStart);
    for (const row of page) this.rows.push(row);
    this.#bytes += page.reduce((sum, row) => sum + bytesOf(row), 0);
  }

  async #next(fromStart = false): Promise<SqlValue[][]> {
    const page = (await this.#statement?.fetch(PAGE, { fromStart })) ?? [];
    if (page.length === 0) this.isComplete = true;
    return page;
  }

  /** Returns all rows as a file, those that the page does not keep, too. The browser may keep it on its disk. */
  async toCsv(onProgress: (rows: number) => void): Promise<Blob> {
    await this.#loading;
    const parts: Blob[] = [new Blob(['\ufeff', csvHead(this.columns), csvOf(this.columns, this.rows)])];
    let count = this.rows.length;
    let size = parts[0]?.size ?? 0;
    while (!this.isComplete) {
      const page = await this.#next();
      const part = new Blob([csvOf(this.columns, page)]);
      size += part.size;
      if (size > MAX_DOWNLOAD_BYTES)
        throw new Error('The result has more than 1 GiB. Write it to a table or to files instead.');
      parts.push(part);
      count += page.length;
      onProgress(count);
    }
    return new Blob(parts, { type: 'text/csv;charset=utf-8' });
  }
}

function bytesOf(row: readonly SqlValue[]): number {
  return row.reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + 16 + 2 * value.length;
    return sum + (value instanceof Uint8Array ? value.length + 64 : 12);
  }, 48);
}
