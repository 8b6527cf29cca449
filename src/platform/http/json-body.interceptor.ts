import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { DomainError } from '../errors/domain-error';

/** Refuses a body that is not sent as JSON, which no parser has read, rather than take it for an absent one. */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { operation, headers } = request;
    const carriesBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (operation && !operation.internal && !operation.binaryBody && carriesBody && request.body === undefined) {
      throw new DomainError(
        'unsupported-media',
        'REQUEST.UNSUPPORTED_MEDIA',
        `The body must be JSON with the content type application/json, not ${headers['content-type'] ?? 'without one'}.`,
      );
    }
    return next.handle();
  }
}
