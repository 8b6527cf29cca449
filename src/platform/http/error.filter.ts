import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AuditTrail } from './audit/audit-trail';
import type { AuthenticatedRequest } from './auth/request-principal';
import { correlationId } from '../kernel/context/request-context';
import { toErrorResponse, type ErrorBody, type Fault } from '../kernel/errors/error-response';
import { LOGGER, type Logger } from '../kernel/logging/logger';
import { drainRequest } from './bodies/drain-request';

/** Converts every thrown error to a response. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly audit: AuditTrail,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<AuthenticatedRequest>();
    const response = host.switchToHttp().getResponse<Response>();
    const header = response.getHeader('x-correlation-id');
    const id = typeof header === 'string' ? header : correlationId();
    const { status, body, fault } = toErrorResponse(thrown, id, request.operation?.errors?.includes(409) ?? false);
    if (fault) this.log(fault, { thrown, body, operation: request.operation?.id });
    request.fault = fault;
    // The rest of the body is read, unless it was the body that took too long.
    if (status === 408) response.setHeader('Connection', 'close');
    else drainRequest(request, response);
    await this.audit.recordRefusal(request, status, body.error_code);
    if (response.headersSent) {
      // A stream failed midway. Closing the connection keeps the client from taking the part for the whole.
      response.destroy();
      return;
    }
    const { retry_after_seconds: retryAfter } = body.details;
    if (typeof retryAfter === 'number') response.setHeader('Retry-After', String(retryAfter));
    if (status === 416) response.setHeader('Content-Range', `bytes */${String(body.details['size'])}`);
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    if (status === 426) response.setHeader('Upgrade', 'websocket');
    response.removeHeader('Content-Disposition');
    response.status(status).json(body);
  }

  private log(fault: Fault, failed: { thrown: unknown; body: ErrorBody; operation: string | undefined }): void {
    const { thrown, body, operation } = failed;
    const { error_code: code, error_message: reason, correlation_id } = body;
    switch (fault) {
      case 'ours':
        this.logger.error({ err: thrown, operation, correlation_id }, 'A request failed');
        return;
      case 'upstream':
        this.logger.warn(
          { code, reason, operation, correlation_id },
          'A request failed because a service that the user chose failed',
        );
        return;
      case 'load':
        this.logger.warn({ code, operation, correlation_id }, 'A request was refused because of load');
    }
  }
}
