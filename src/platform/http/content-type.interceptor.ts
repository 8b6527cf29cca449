import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { DomainError } from '../errors/domain-error';

/** Refuses a body that no parser took: without this, its fields would seem to be missing. */
@Injectable()
export class ContentTypeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const length = request.get('content-length');
    const hasBody = request.get('transfer-encoding') !== undefined || (length !== undefined && Number(length) > 0);
    if (hasBody && !request.operation?.binaryBody && request.is(['json', '+json']) === false) {
      throw new DomainError(
        'unsupported-media',
        'REQUEST.UNSUPPORTED_MEDIA',
        'The body of this operation is JSON: send it with Content-Type application/json.',
      );
    }
    return next.handle();
  }
}
