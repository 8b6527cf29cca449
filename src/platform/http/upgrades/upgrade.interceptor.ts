import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { type UpgradeHandler, Upgrades } from './upgrades';

/** Accepts the WebSocket unless the operation refuses it. */
@Injectable()
export class UpgradeInterceptor implements NestInterceptor {
  constructor(private readonly upgrades: Upgrades) {}

  intercept(context: ExecutionContext, next: CallHandler<UpgradeHandler>): Observable<void> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<AuthenticatedRequest>(), http.getResponse<Response>()];
    const upgrade = this.upgrades.take(request, response);
    return next.handle().pipe(map((handler) => this.upgrades.accept(request, response, upgrade, handler)));
  }
}
