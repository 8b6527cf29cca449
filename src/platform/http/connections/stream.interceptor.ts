import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { type Observable, Subject, takeUntil } from 'rxjs';
import { LiveAccess } from '../auth/live-access';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { revoke } from './request-caller';
import { Streams } from './streams';

/**
 * Counts a streamed operation among the {@link Streams}, and ends it when its caller loses access: with an error response, or
 * by breaking off the response if that has begun.
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
      revoke(request, reason);
      if (ended.observed) ended.error(reason);
      else response.destroy();
    });
    response.once('close', unwatch);
    return next.handle().pipe(takeUntil(ended));
  }
}
