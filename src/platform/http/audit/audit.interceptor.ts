import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { mergeMap, type Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { AuditTrail } from './audit-trail';
import { auditDraftOf } from './audited-request';

/**
 * Hands what the audit log will say about a request to the transaction of its effect, and ensures that there is a row.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(private readonly audit: AuditTrail) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const draft = auditDraftOf(context.switchToHttp().getRequest<AuthenticatedRequest>());
    if (!draft) return next.handle();
    return next.handle().pipe(
      mergeMap(async (answer: unknown) => {
        await this.audit.recordSuccess(draft, answer);
        return answer;
      }),
    );
  }
}
