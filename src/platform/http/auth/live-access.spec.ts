import { type DomainError, forbidden } from '../../kernel/errors/domain-error';
import type { Logger } from '../../kernel/logging/logger';
import type { PgListener } from '../../kernel/notifications/pg-listener';
import { LiveAccess } from './live-access';
import type { AuthenticatedRequest } from './request-principal';

describe('LiveAccess', () => {
  const recheck = jest.fn<Promise<(DomainError | null)[]>, [readonly AuthenticatedRequest[]]>();
  const logger = { error: jest.fn() };
  let wake: () => void;
  let live: LiveAccess;
  const ended: string[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    ended.length = 0;
    recheck.mockReset().mockImplementation((requests) => Promise.resolve(requests.map(() => null)));
    const listener = {
      on: (_channel: string, listen: () => void) => {
        wake = listen;
        return () => undefined;
      },
    };
    live = new LiveAccess(listener as unknown as PgListener, logger as unknown as Logger);
    live.onModuleInit();
    live.setChecker({ recheck });
  });

  afterEach(() => jest.useRealTimers());

  const open = () => live.watch({} as AuthenticatedRequest, ({ code }) => ended.push(code));

  it('checks nothing while no request is open', async () => {
    const unwatch = open();
    unwatch();
    wake();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(recheck).not.toHaveBeenCalled();
  });

  it('checks all open requests twice a second, and ends a refused one once', async () => {
    open();
    open();
    recheck.mockResolvedValue([null, forbidden('NO.MORE', '')]);
    await jest.advanceTimersByTimeAsync(500);
    expect(recheck.mock.calls.map(([requests]) => requests.length)).toEqual([2]);
    expect(ended).toEqual(['NO.MORE']);
    await jest.advanceTimersByTimeAsync(500);
    expect(recheck.mock.calls.map(([requests]) => requests.length)).toEqual([2, 1]);
  });

  it('checks at once when it is notified, but at most ten times a second', async () => {
    open();
    await jest.advanceTimersByTimeAsync(200);
    wake();
    await jest.advanceTimersByTimeAsync(0);
    expect(recheck).toHaveBeenCalledTimes(1);
    for (let count = 0; count < 1_000; count += 1) {
      wake();
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(recheck.mock.calls.length).toBeLessThanOrEqual(12);
  });

  it('checks again if it is notified during a check', async () => {
    open();
    let answer: (refusals: null[]) => void = () => undefined;
    recheck.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(500);
    wake();
    answer([null]);
    await jest.advanceTimersByTimeAsync(100);
    expect(recheck).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['fail', () => Promise.reject(new Error('no database'))],
    ['do not end', () => new Promise<never>(() => undefined)],
  ])('lets requests continue for a while, but not forever, if checks %s', async (_what, failing) => {
    open();
    recheck.mockImplementation(failing);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(11_000);
    expect(ended).toEqual(['AUTH.UNCHECKED']);
  });
});
