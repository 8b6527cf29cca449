import type { DataSource } from 'typeorm';
import type { AuthenticatedRequest } from '../auth/request-principal';
import { runInContext } from '../../kernel/context/request-context';
import type { OperationOptions } from '../operation-options';
import type { Logger } from '../../kernel/logging/logger';
import { AuditTrail } from './audit-trail';

const START = { id: 'startCluster', method: 'POST', path: '/cluster/start', access: { kind: 'tenant', roles: null } };
const REQUEST = {
  operation: START as unknown as OperationOptions,
  principal: { userId: 7, username: 'ada', tenantId: null, sessionId: 's', sessionKind: 'login', roles: new Set() },
  params: {},
  query: { cluster_id: '5' },
  get: () => undefined,
} as unknown as AuthenticatedRequest;

function trailOver(query: () => Promise<unknown>) {
  const error = jest.fn();
  const trail = new AuditTrail({ manager: { query } } as unknown as DataSource, { error } as unknown as Logger);
  const refuse = (request = REQUEST) =>
    runInContext({ correlationId: 'c', idempotency: null }, () =>
      trail.recordRefusal(request, 403, 'AUTH.ROLE_REQUIRED'),
    );
  return { refuse, error };
}

describe('AuditTrail', () => {
  afterEach(() => jest.useRealTimers());

  it('waits for its row, but not forever, and drops a row if too many are waiting', async () => {
    jest.useFakeTimers();
    let wake: (() => void)[] = [];
    const { refuse, error } = trailOver(() => new Promise((resolve) => wake.push(() => resolve(undefined))));
    let answered = 0;
    for (let i = 0; i < 100; i += 1) void refuse().then(() => (answered += 1));
    await jest.advanceTimersByTimeAsync(1_999);
    expect([answered, wake.length]).toEqual([0, 100]);
    await refuse();
    expect(wake).toHaveLength(100);
    expect(error).toHaveBeenCalledWith(expect.anything(), expect.stringContaining('dropped'));
    await jest.advanceTimersByTimeAsync(1);
    expect(answered).toBe(100);
    for (const resolve of wake) resolve();
    await jest.advanceTimersByTimeAsync(0);
    wake = [];
    const next = refuse();
    expect(wake).toHaveLength(1);
    wake[0]?.();
    await next;
  });

  it('logs a row that the database refuses, and continues', async () => {
    const { refuse, error } = trailOver(() => Promise.reject(new Error('down')));
    await expect(refuse()).resolves.toBeUndefined();
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({
        audit: expect.objectContaining({ operation: 'startCluster', subject: { cluster_id: 5 } }),
      }),
      'An audit event was not written',
    );
  });

  it.each<[string, object]>([
    ['a read', { operation: { ...START, method: 'GET' } }],
    ['a node agent', { operation: { ...START, access: { kind: 'node' } } }],
    ['nobody known', { principal: undefined }],
    ['no operation', { operation: undefined }],
  ])('writes nothing for %s', async (_what, change) => {
    const query = jest.fn();
    await trailOver(query).refuse({ ...REQUEST, ...change } as AuthenticatedRequest);
    expect(query).not.toHaveBeenCalled();
  });
});
