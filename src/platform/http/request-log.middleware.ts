import type { NextFunction, Response } from 'express';
import { isForNodes } from '../kernel/auth/access';
import type { AuthenticatedRequest } from './auth/request-principal';
import type { Logger } from '../kernel/logging/logger';

/** Logs every request with its operation, caller, outcome and duration. Requests of agents have the level `debug`. */
export function requestLogMiddleware(logger: Logger) {
  // None of the fields below is a secret or has fields of its own, and the search for secrets took half the time of a line.
  const requests = logger.child({}, { redact: { paths: [] } });
  return (request: AuthenticatedRequest, response: Response, next: NextFunction): void => {
    const started = performance.now();
    response.once('close', () => {
      const level = levelOf(request, response);
      if (!requests.isLevelEnabled(level)) return;
      requests[level](
        {
          method: request.method,
          path: request.originalUrl.split('?', 1)[0],
          operation: request.operation?.id,
          user_id: request.principal?.userId,
          tenant_id: request.principal?.tenantId,
          status: response.statusCode,
          completed: response.writableFinished || response.statusCode === 101,
          duration_ms: performance.now() - started,
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
