import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { mergeMap, type Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { AuditTrail } from './audit-trail';
import { auditDraftOf } from './audited-request';

/** Passes the draft of a request's audit row to the transaction of its effect, and ensures that the row is written. */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(private readonly audit: AuditTrail) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const draft = auditDraftOf(context.switchToHttp().getRequest<AuthenticatedRequest>());
    if (!draft) return next.handle();
    return next.handle().pipe(
      mergeMap(async (response: unknown) => {
        await this.audit.recordSuccess(draft, response);
        return response;
      }),
    );
  }
}
