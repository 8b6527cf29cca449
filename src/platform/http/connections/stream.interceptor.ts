import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, Subject, takeUntil } from 'rxjs';
import { LiveAccess } from '../auth/live-access';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { refuse } from './request-caller';
import { Streams } from './streams';

/**
 * Counts an operation that carries a stream, in either direction, among the {@link Streams}, and ends it when its
 * caller is no longer admitted: with an error answer, or by breaking off the answer under way.
 */
@Injectable()
export class StreamInterceptor implements NestInterceptor {
  constructor(
    private readonly streams: Streams,
    private readonly live: LiveAccess,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<AuthenticatedRequest>(), http.getResponse<Response>()];
    this.streams.take(request, response);
    const ended = new Subject<never>();
    const unwatch = this.live.watch(request, (reason) => {
      refuse(request, reason);
      if (ended.observed) ended.error(reason);
      else response.destroy();
    });
    response.once('close', unwatch);
    return next.handle().pipe(takeUntil(ended));
  }
}
