import { createHmac } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Config } from '../../config/config';
import type { AuthenticatedRequest } from './auth/request-principal';
import { currentContext } from '../kernel/context/request-context';
import { invalid } from '../kernel/errors/domain-error';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Hands the `Idempotency-Key` of a POST to the transaction of its effect. Operations without a signed-in user
 * (login) have no effect worth repeating and ignore it.
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
      // The tenant is part of what the request means: the same body in another tenant is another request.
      const meaning = JSON.stringify([principal.tenantId, request.originalUrl, request.body ?? null]);
      current.idempotency = {
        key,
        userId: principal.userId,
        operation: operation.id,
        requestHash: this.hash(meaning),
      };
    }
    return next.handle();
  }

  /**
   * Keyed: a body may contain a password, which could be guessed from a plain hash in the database. A request repeated
   * across a change of the signing key is refused as a different one, not run twice.
   */
  private hash(meaning: string): string {
    const [key] = this.config.auth.signingKeys;
    if (!key) throw new Error('There is no signing key');
    return createHmac('sha256', key.key).update(`idempotency ${meaning}`).digest('hex');
  }
}
