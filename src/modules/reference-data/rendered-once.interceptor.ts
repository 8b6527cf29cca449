import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';

interface Rendered {
  json: string;
  etag: string | undefined;
}

/**
 * Renders an answer that cannot change once, not for each request: what the snapshot of the lookups holds is frozen. A
 * page or a filtered list is made for its request and rendered as any other answer.
 */
@Injectable()
export class RenderedOnceInterceptor implements NestInterceptor {
  private readonly rendered = new WeakMap<object, Rendered>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next
      .handle()
      .pipe(map((answer: object) => (Object.isFrozen(answer) ? this.send(answer, response) : answer)));
  }

  private send(answer: object, response: Response): string {
    const { json, etag } = this.rendered.get(answer) ?? this.render(answer, response);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    // Express makes none of its own then, and compares this one with If-None-Match.
    if (etag !== undefined) response.setHeader('ETag', etag);
    return json;
  }

  private render(answer: object, response: Response): Rendered {
    const json = JSON.stringify(answer);
    const etagOf = response.app.get('etag fn') as ((body: string) => string) | undefined;
    const rendered = { json, etag: etagOf?.(json) };
    this.rendered.set(answer, rendered);
    return rendered;
  }
}
