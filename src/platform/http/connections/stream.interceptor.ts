import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import type { Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../../auth/request-principal';
import { Streams } from './streams';

/** Counts an operation that carries a stream, in either direction, among the {@link Streams}. */
@Injectable()
export class StreamInterceptor implements NestInterceptor {
  constructor(private readonly streams: Streams) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    this.streams.take(http.getRequest<AuthenticatedRequest>(), http.getResponse<Response>());
    return next.handle();
  }
}
