import type { NextFunction, Response } from 'express';
import { isForNodes } from '../kernel/auth/access';
import type { AuthenticatedRequest } from './auth/request-principal';
import type { Logger } from '../kernel/logging/logger';

/** Logs every request with its operation, caller, outcome and duration. Requests of agents have the level `debug`. */
export function requestLogMiddleware(logger: Logger) {
  return (request: AuthenticatedRequest, response: Response, next: NextFunction): void => {
    const started = process.hrtime.bigint();
    response.once('close', () => {
      const level = levelOf(request, response);
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          method: request.method,
          path: request.originalUrl.split('?', 1)[0],
          operation: request.operation?.id,
          user_id: request.principal?.userId,
          tenant_id: request.principal?.tenantId,
          status: response.statusCode,
          completed: response.writableFinished || response.statusCode === 101,
          duration_ms: Number(process.hrtime.bigint() - started) / 1e6,
          correlation_id: response.getHeader('x-correlation-id'),
        },
        'request',
      );
    });
    next();
  };
}

function levelOf(
  { fault, operation }: AuthenticatedRequest,
  { statusCode }: Response,
): 'error' | 'warn' | 'info' | 'debug' {
  if (fault === 'upstream' || fault === 'load') return 'warn';
  if (statusCode >= 500) return 'error';
  return operation && isForNodes(operation.access) ? 'debug' : 'info';
}
