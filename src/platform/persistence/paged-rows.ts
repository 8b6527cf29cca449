import { limitClause, type Page, type PageRequest, pageOf } from '../http/page';
import { type Conditions, firstRow, rows, type Tx } from './sql';

/** A paged SELECT in parts, all but the conditions written in code. */
export interface PagedSelect {
  columns: string;
  /** Tables and joins. */
  from: string;
  conditions: Conditions;
  /** A total order: without one, records could be on two pages or on none. */
  order: string;
}

/** One page of the rows, and how many there are in all. */
export async function pagedRows<T>(tx: Tx, select: PagedSelect, page: PageRequest): Promise<Page<T>> {
  const { params, sql } = select.conditions;
  const source = `FROM ${select.from} WHERE ${sql}`;
  const counted = await firstRow<{ total: number }>(tx, `SELECT count(*) AS total ${source}`, params);
  const data = await rows<T>(
    tx,
    `SELECT ${select.columns} ${source} ORDER BY ${select.order} ${limitClause(page)}`,
    params,
  );
  return pageOf(data, counted?.total ?? 0, page);
}
