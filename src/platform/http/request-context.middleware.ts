import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { CORRELATION_HEADER } from '../../../libs/contracts/agent-protocol';
import { runInContext } from '../kernel/context/request-context';

const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every request a correlation id, that of the client or a new one, and returns it in the response. */
export function requestContextMiddleware(request: Request, response: Response, next: NextFunction): void {
  const sent = request.get(CORRELATION_HEADER) ?? request.get('x-request-id');
  const correlationId = sent && ACCEPTABLE.test(sent) ? sent : randomUUID();
  response.setHeader(CORRELATION_HEADER, correlationId);
  runInContext({ correlationId, idempotency: null }, next);
}
