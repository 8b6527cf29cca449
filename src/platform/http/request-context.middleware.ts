import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { CORRELATION_HEADER } from '../../../libs/contracts/agent-protocol';
import { runInContext } from '../kernel/context/request-context';

const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every request a correlation id, its own or a new one, and returns it in the answer. */
export function requestContextMiddleware(request: Request, response: Response, next: NextFunction): void {
  const given = request.get(CORRELATION_HEADER) ?? request.get('x-request-id');
  const correlationId = given && ACCEPTABLE.test(given) ? given : randomUUID();
  response.setHeader(CORRELATION_HEADER, correlationId);
  runInContext({ correlationId, idempotency: null }, next);
}
