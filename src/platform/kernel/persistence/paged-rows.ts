import { invalid } from '../errors/domain-error';
import { COUNTED_BEYOND, limitClause, MAX_ALL, type Page, type PageRequest, pageOf } from '../dto/page';
import { type Conditions, firstRow, rows, type Tx } from './sql';

/** A paged SELECT in parts; all but the conditions are written in code. What is listed has the alias `t`. */
export interface PagedSelect {
  table: string;
  /** Primary key of the table, or the columns of one. */
  key: string | readonly string[];
  columns: string;
  /** What the columns need besides `t`. Exactly one row for each record: joins neither add nor drop records. */
  joins?: string;
  /** About `t` alone. */
  conditions: Pick<Conditions, 'sql' | 'params'>;
  /** A total order by columns of `t`: otherwise records could be on two pages or on none. */
  order: string;
}

/**
 * One page of the records, and how many there are: exactly, or at least where more than {@link COUNTED_BEYOND} follow the
 * page (ADR 0009). Throws a 400 when all are asked for and there are more than {@link MAX_ALL}.
 */
export async function pagedRows<T>(tx: Tx, select: PagedSelect, page: PageRequest): Promise<Page<T>> {
  if (page.all) return allRows<T>(tx, select, page);
  const before = (page.pageNumber - 1) * page.limit;
  const data = await rowsWithin<T>(tx, select, limitClause(page));
  const isLast = data.length < page.limit && (data.length > 0 || before === 0);
  const total = isLast ? before + data.length : await countUpTo(tx, select, before + page.limit + COUNTED_BEYOND);
  return pageOf(data, total, page);
}

async function allRows<T>(tx: Tx, select: PagedSelect, page: PageRequest): Promise<Page<T>> {
  const data = await rowsWithin<T>(tx, select, `LIMIT ${MAX_ALL + 1}`);
  if (data.length <= MAX_ALL) return pageOf(data, data.length, page);
  throw invalid(
    'REQUEST.TOO_MANY_RECORDS',
    `There are more than ${MAX_ALL} records. Leave out "all" and follow "next_page", or narrow the list.`,
    { most: MAX_ALL },
  );
}

/** Finds the keys first: an index in list order has them, and only what is returned is read and joined. */
function rowsWithin<T>(tx: Tx, { table, key, columns, joins, conditions, order }: PagedSelect, limit: string) {
  const keys = [key].flat();
  const onPage = keys.map((column) => `t.${column} AS page_${column}`).join(', ');
  const same = keys.map((column) => `t.${column} = page.page_${column}`).join(' AND ');
  return rows<T>(
    tx,
    `SELECT ${columns}
     FROM (SELECT ${onPage} FROM ${table} t WHERE ${conditions.sql} ORDER BY ${order} ${limit}) page
     JOIN ${table} t ON ${same} ${joins ?? ''} ORDER BY ${order}`,
    conditions.params,
  );
}

/** Counts in the order of the list: otherwise PostgreSQL may search the whole table, other tenants included. */
async function countUpTo(tx: Tx, { table, conditions, order }: PagedSelect, most: number): Promise<number> {
  const counted = await firstRow<{ total: number }>(
    tx,
    `SELECT count(*) AS total
     FROM (SELECT 1 FROM ${table} t WHERE ${conditions.sql} ORDER BY ${order} LIMIT ${most}) counted`,
    conditions.params,
  );
  return counted?.total ?? 0;
}
