import { invalid } from '../errors/domain-error';
import { COUNTED_BEYOND, limitClause, MAX_ALL, type Page, type PageRequest, pageOf } from '../dto/page';
import { type Conditions, firstRow, rows, type Db } from './sql';

/** The parts of a paged SELECT. The listed table has the alias `t`, and only the conditions depend on a request. */
export interface PagedSelect {
  table: string;
  /** Column of the primary key, or its columns. */
  key: string | readonly string[];
  columns: string;
  /** Joins for the columns. Each yields exactly one row per record, so that joins neither add nor drop records. */
  joins?: string;
  /** Conditions that refer only to `t`. */
  conditions: Pick<Conditions, 'sql' | 'params'>;
  /** A total order by columns of `t`; otherwise a record could be on two pages or on none. */
  order: string;
}

/**
 * Returns one page of the records and their total, which is a lower bound if more than {@link COUNTED_BEYOND} follow the
 * page (ADR 0009). Throws a 400 if all records are requested and there are more than {@link MAX_ALL}.
 */
export async function pagedRows<T>(db: Db, select: PagedSelect, page: PageRequest): Promise<Page<T>> {
  if (page.all) return allRows<T>(db, select, page);
  const before = (page.pageNumber - 1) * page.limit;
  const data = await rowsWithin<T>(db, select, limitClause(page));
  const isLast = data.length < page.limit && (data.length > 0 || before === 0);
  const total = isLast ? before + data.length : await countUpTo(db, select, before + page.limit + COUNTED_BEYOND);
  return pageOf(data, total, page);
}

async function allRows<T>(db: Db, select: PagedSelect, page: PageRequest): Promise<Page<T>> {
  const data = await rowsWithin<T>(db, select, `LIMIT ${MAX_ALL + 1}`);
  if (data.length <= MAX_ALL) return pageOf(data, data.length, page);
  throw invalid(
    'REQUEST.TOO_MANY_RECORDS',
    `There are more than ${MAX_ALL} records. Leave out "all" and follow "next_page", or narrow the list.`,
    { most: MAX_ALL },
  );
}

/** Finds the keys first, with an index in list order, so that only the returned records are read and joined. */
function rowsWithin<T>(db: Db, { table, key, columns, joins, conditions, order }: PagedSelect, limit: string) {
  const keys = [key].flat();
  const onPage = keys.map((column) => `t.${column} AS page_${column}`).join(', ');
  const same = keys.map((column) => `t.${column} = page.page_${column}`).join(' AND ');
  return rows<T>(
    db,
    `SELECT ${columns}
     FROM (SELECT ${onPage} FROM ${table} t WHERE ${conditions.sql} ORDER BY ${order} ${limit}) page
     JOIN ${table} t ON ${same} ${joins ?? ''} ORDER BY ${order}`,
    conditions.params,
  );
}

/** Counts in list order; otherwise PostgreSQL may search the whole table, other tenants included. */
async function countUpTo(db: Db, { table, conditions, order }: PagedSelect, max: number): Promise<number> {
  const counted = await firstRow<{ total: number }>(
    db,
    `SELECT count(*) AS total
     FROM (SELECT 1 FROM ${table} t WHERE ${conditions.sql} ORDER BY ${order} LIMIT ${max}) counted`,
    conditions.params,
  );
  return counted?.total ?? 0;
}
