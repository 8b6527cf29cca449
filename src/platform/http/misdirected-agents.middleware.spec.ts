import type { Request, Response } from 'express';
import { toErrorResponse } from '../kernel/errors/error-response';
import type { Logger } from '../kernel/logging/logger';
import { misdirectedAgentsMiddleware } from './misdirected-agents.middleware';

describe('misdirectedAgentsMiddleware', () => {
  afterEach(() => jest.restoreAllMocks());

  it('refuses each call, and warns once a minute', () => {
    let now = 5_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const warn = jest.fn();
    const middleware = misdirectedAgentsMiddleware({ warn } as unknown as Logger);
    const call = () => {
      const next = jest.fn<void, [unknown]>();
      const request = { originalUrl: '/agent/v1/poll?token=x', ip: '10.0.0.9' } as Request;
      middleware(request, {} as Response, next);
      return toErrorResponse(next.mock.calls[0]?.[0], 'test', false);
    };
    for (now of [5_000, 5_001, 64_999, 65_000]) expect(call()).toMatchObject({ status: 421, fault: null });
    expect(warn).toHaveBeenCalledTimes(2);
    expect(warn).toHaveBeenCalledWith(
      { path: '/agent/v1/poll', address: '10.0.0.9' },
      expect.stringContaining('AGENT_API_URL'),
    );
  });
});
