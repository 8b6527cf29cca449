import { EventEmitter } from 'node:events';
import type { ArgumentsHost } from '@nestjs/common';
import type { Response } from 'express';
import { pino } from 'pino';
import type { AuditTrail } from './audit/audit-trail';
import type { AuthenticatedRequest } from './auth/request-principal';
import { DomainError, notFound } from '../kernel/errors/domain-error';
import { ErrorFilter } from './error.filter';
import { requestLogMiddleware } from './request-log.middleware';

const ID = 'the-request';

/** Returns the log lines of a request that ends in the error. */
async function logOf(error: Error): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const options = { formatters: { level: (level: string) => ({ level }) } };
  const logger = pino(options, { write: (line: string) => void lines.push(line) });
  const request = {
    method: 'GET',
    originalUrl: '/files?a',
    complete: true,
    operation: { id: 'listFiles', access: { kind: 'tenant' } },
  };
  const response = Object.assign(new EventEmitter(), {
    statusCode: 200,
    status: (code: number) => Object.assign(response, { statusCode: code }),
    getHeader: (name: string) => (name === 'x-correlation-id' ? ID : undefined),
    setHeader: () => response,
    removeHeader: () => {},
    json: () => response,
  });
  requestLogMiddleware(logger)(request as AuthenticatedRequest, response as unknown as Response, () => {});
  const audit = { recordRefusal: () => Promise.resolve() } as unknown as AuditTrail;
  const host = { switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }) };
  await new ErrorFilter(logger, audit).catch(error, host as unknown as ArgumentsHost);
  response.emit('close');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log of a request that fails', () => {
  it('warns of a service that the user chose, without a stack', async () => {
    const cause = new Error('connect ECONNREFUSED');
    const error = new DomainError(
      'upstream',
      'OBJECT_STORAGE.UNAVAILABLE',
      'The store cannot be reached.',
      {},
      { cause },
    );
    const [failure, request, ...more] = await logOf(error);
    expect(failure).toMatchObject({
      level: 'warn',
      code: 'OBJECT_STORAGE.UNAVAILABLE',
      reason: 'The store cannot be reached.',
      operation: 'listFiles',
      correlation_id: ID,
    });
    expect(JSON.stringify(failure)).not.toMatch(/stack|error-log\.spec|ECONNREFUSED/);
    expect(request).toMatchObject({ level: 'warn', status: 500, operation: 'listFiles', correlation_id: ID });
    expect(more).toEqual([]);
  });

  it.each([
    ['a bug', new TypeError('x is not a function'), 500],
    ['the database', Object.assign(new Error('terminating connection'), { code: '57P01' }), 503],
  ])('has %s as an error with its stack', async (_what, error, status) => {
    const [failure, request, ...more] = await logOf(error);
    expect(failure).toMatchObject({ level: 'error', operation: 'listFiles', correlation_id: ID });
    expect(failure?.['err']).toMatchObject({
      message: error.message,
      stack: expect.stringContaining('error-log.spec'),
    });
    expect(request).toMatchObject({ level: 'error', status });
    expect(more).toEqual([]);
  });

  it('has only the outcome of a refusal', async () => {
    expect(await logOf(notFound('FILE.NOT_FOUND', 'There is no such file.'))).toEqual([
      expect.objectContaining({ level: 'info', status: 404 }),
    ]);
  });
});
