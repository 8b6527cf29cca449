import { createHmac } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Config } from '../../config/config';
import type { AuthenticatedRequest } from './auth/request-principal';
import { currentContext } from '../kernel/context/request-context';
import { invalid } from '../kernel/errors/domain-error';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Passes the `Idempotency-Key` of a POST to the transaction of its effect. Operations without a signed-in user (login)
 * ignore it, because they may simply be repeated.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly config: Config) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const key = request.get('idempotency-key');
    const current = currentContext();
    if (request.method === 'POST' && key !== undefined && request.principal && request.operation && current) {
      if (!KEY.test(key))
        throw invalid('REQUEST.INVALID', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
      const { principal, operation } = request;
      // The same body in another tenant is a different request, so the tenant is part of the hash.
      const content = JSON.stringify([principal.tenantId, request.originalUrl, request.body ?? null]);
      current.idempotency = {
        key,
        userId: principal.userId,
        operation: operation.id,
        requestHash: this.hash(content),
      };
    }
    return next.handle();
  }

  /**
   * Returns a keyed hash, because a body may contain a password that could be guessed from a plain hash in the database. If
   * the signing key has changed, a repeated request is refused as a different one; it is never run twice.
   */
  private hash(content: string): string {
    const [key] = this.config.auth.signingKeys;
    if (!key) throw new Error('There is no signing key');
    return createHmac('sha256', key.key).update(`idempotency ${content}`).digest('hex');
  }
}
