import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import type { Response } from 'express';
import { pino } from 'pino';
import { parseTrusted } from '../../../libs/json/parse-json';
import { loggerOptions } from '../kernel/logging/logger';
import { Allow } from '../kernel/auth/access';
import type { AuthenticatedRequest } from './auth/request-principal';
import { requestLogMiddleware } from './request-log.middleware';

const lines: string[] = [];
const stream = new Writable({
  write: (line: Buffer, _encoding, done) => {
    lines.push(line.toString());
    done();
  },
});
const logger = pino(loggerOptions('api', 'info'), stream);

/** Logs a request that has been answered, and returns the lines. */
function logged(request: object, response: object = {}): string[] {
  lines.length = 0;
  const answer = Object.assign(new EventEmitter(), {
    statusCode: 200,
    writableFinished: true,
    getHeader: () => 'its-id',
    ...response,
  });
  requestLogMiddleware(logger)(
    { method: 'GET', originalUrl: '/', ...request } as AuthenticatedRequest,
    answer as unknown as Response,
    () => undefined,
  );
  answer.emit('close');
  return lines;
}

describe('the log of a request', () => {
  it('has the fields of all lines, and those of the request in their order', () => {
    const operation = { id: 'readCluster', access: Allow.tenant() };
    const principal = { userId: 7, tenantId: 'a-tenant' };
    const [line = ''] = logged({ originalUrl: '/api/v1/cluster?cluster_id=1', operation, principal });
    const { time, duration_ms: durationMs, ...fields } = parseTrusted<Record<string, unknown>>(line);
    expect(Object.entries(fields)).toEqual(
      Object.entries({
        level: 'info',
        service: 'api',
        pid: process.pid,
        correlation_id: 'its-id',
        method: 'GET',
        path: '/api/v1/cluster',
        operation: 'readCluster',
        user_id: 7,
        tenant_id: 'a-tenant',
        status: 200,
        completed: true,
        msg: 'request',
      }),
    );
    expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(durationMs).toBeGreaterThanOrEqual(0);
  });

  it('is one line, whatever the path contains', () => {
    const path = '/"},\n{"level":"error"}\u2028\u0000\\';
    const written = logged({ originalUrl: path });
    expect(written).toHaveLength(1);
    expect(written[0]?.trimEnd()).not.toContain('\n');
    expect(parseTrusted<{ path: string }>(written[0] ?? '').path).toBe(path);
  });

  it.each([
    ['error', {}, { statusCode: 500 }],
    ['warn', { fault: 'upstream' }, { statusCode: 502 }],
    ['info', {}, { statusCode: 404 }],
  ])('has the level %s for %j with %j', (level, request, response) => {
    expect(parseTrusted<{ level: string }>(logged(request, response)[0] ?? '').level).toBe(level);
  });

  it('has no lines for requests of agents unless debugged', () => {
    expect(logged({ operation: { id: 'poll', access: Allow.nodes } })).toEqual([]);
  });
});

describe('other lines', () => {
  it('still have their secrets censored', () => {
    requestLogMiddleware(logger);
    lines.length = 0;
    logger.info({ body: { password: 'hunter2' } }, 'other');
    expect(lines[0]).not.toContain('hunter2');
  });
});
