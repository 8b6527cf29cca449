import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { RequestBodies } from './request-bodies';

/**
 * Reads the body of a JSON operation. Guards run before interceptors, so the body of a refused caller is never read. Raw
 * bodies remain streams.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  constructor(private readonly bodies: RequestBodies) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (request.method !== 'GET' && !request.operation?.binaryBody) {
      request.body = await this.bodies.json(request);
    }
    return next.handle();
  }
}
