import { Field, Param } from './fields';
import { About } from './schemas';

export const MAX_PAGE = 1000;

/** Number of records after a page that are counted; a longer list has only a lower bound as its total. */
export const COUNTED_BEYOND = 4_000;

/** Records that a list returns at most when all are requested. */
export const MAX_ALL = 10_000;

/** Query of a paged list. */
export class PageQuery {
  @Param.int32({ min: 1, max: MAX_PAGE, default: 100, description: `Records per page, at most ${MAX_PAGE}` })
  limit: number = 100;

  @Param.int32({ min: 1, default: 1, description: 'Number of the page, starting at 1' })
  pageNumber: number = 1;
}

/** Query of a paged list that can also be returned as a whole. */
export class PageOrAllQuery extends PageQuery {
  @Param.boolean({ default: false, description: `true returns every record on one page, at most ${MAX_ALL}` })
  all: boolean = false;
}

@About('Position of a page in the whole list.')
export class ResultSet {
  @Field.int32({ description: 'Number of this page, starting at 1' }) current_page: number;
  @Field.int64({
    description: `Number of records; a lower bound if more than ${COUNTED_BEYOND} follow the page`,
  })
  total_objects: number;
  @Field.int32({
    description: 'Number of pages for total_objects; it grows from page to page if that is a lower bound',
  })
  total_pages: number;
  @Field.int32({ description: 'Records per page; with `all`, the number of records' }) limit: number;
  @Field.int32({ optional: true, description: 'Number of the next page; absent on the last' }) next_page?: number;
}

export interface Page<T> {
  data: T[];
  result_set: ResultSet;
}

export interface PageRequest {
  limit: number;
  pageNumber: number;
  all?: boolean;
}

/** Returns the clause `LIMIT … OFFSET …` of a page; empty if all records are requested. */
export function limitClause(page: PageRequest): string {
  return page.all ? '' : `LIMIT ${page.limit} OFFSET ${(page.pageNumber - 1) * page.limit}`;
}

export function resultSet(total: number, page: PageRequest): ResultSet {
  if (page.all) return { current_page: 1, total_objects: total, total_pages: 1, limit: total };
  const totalPages = Math.max(1, Math.ceil(total / page.limit));
  return {
    current_page: page.pageNumber,
    total_objects: total,
    total_pages: totalPages,
    limit: page.limit,
    ...(page.pageNumber < totalPages ? { next_page: page.pageNumber + 1 } : {}),
  };
}

export function pageOf<T>(data: T[], total: number, page: PageRequest): Page<T> {
  return { data, result_set: resultSet(total, page) };
}
