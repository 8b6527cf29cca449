import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';

/** A bare list, or a page of it. */
export interface ListPage<T> {
  entries: T[];
  /** Number of entries of the whole list. */
  total: number;
  /** Number of the next page; null on the last one. */
  nextPage: number | null;
}

export const LIST_PAGE_HEADERS = {
  'X-Total-Count': { description: 'Number of entries in the whole list', schema: { type: 'integer' } },
  Link: { description: 'URL of the next page, with rel="next"; absent on the last', schema: { type: 'string' } },
} as const;

/** Sends the entries of a {@link ListPage} as the body. Headers carry the length of the whole list and the link to the next page. */
@Injectable()
export class ListPageInterceptor implements NestInterceptor<ListPage<unknown>, unknown[]> {
  intercept(context: ExecutionContext, next: CallHandler<ListPage<unknown>>): Observable<unknown[]> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      map(({ entries, total, nextPage }) => {
        const response = http.getResponse<Response>();
        response.setHeader('X-Total-Count', String(total));
        if (nextPage !== null) response.setHeader('Link', linkTo(http.getRequest<Request>(), nextPage));
        return entries;
      }),
    );
  }
}

/** Returns the link without a host, which is not known behind proxies: it is relative to the request. */
function linkTo(request: Request, page: number): string {
  const next = new URL(request.originalUrl, 'http://localhost');
  next.searchParams.set('pageNumber', String(page));
  return `<${next.pathname}${next.search}>; rel="next"`;
}
