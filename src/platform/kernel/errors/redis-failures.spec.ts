import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { RedisFailures } from './redis-failures';

describe('RedisFailures', () => {
  let lines: Record<string, unknown>[];
  let failures: RedisFailures;
  const connection = () => {
    const redis = new EventEmitter();
    failures.watch(redis as Redis);
    return redis;
  };

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    failures = new RedisFailures(
      pino({}, { write: (text) => void lines.push(JSON.parse(text) as Record<string, unknown>) }),
    );
  });

  afterEach(() => jest.useRealTimers());

  it('log the reason at once, and then every ten seconds for all connections together', () => {
    const [one, other] = [connection(), connection()];
    for (let second = 0; second < 15; second += 1) {
      one.emit('error', new Error('connect ECONNREFUSED 127.0.0.1:1'));
      other.emit('error', new Error('connect ECONNREFUSED 127.0.0.1:1'));
      jest.advanceTimersByTime(1_000);
    }
    expect(lines).toMatchObject([
      { code: 'REDIS.UNREACHABLE', left_out: 0, reason: expect.stringContaining('ECONNREFUSED') },
      { code: 'REDIS.UNREACHABLE', left_out: 19 },
    ]);
  });

  it('distinguish a refused login from an unreachable host, and log when Redis works again', () => {
    const redis = connection();
    redis.emit('ready');
    redis.emit('error', new Error('WRONGPASS invalid username-password pair or user is disabled.'));
    redis.emit('ready');
    redis.emit('ready');
    expect(lines.map(({ msg, code, variable }) => [msg, code, variable])).toEqual([
      ['Redis refuses the login', 'REDIS.LOGIN_REFUSED', 'REDIS_URL'],
      ['Redis works again', undefined, undefined],
    ]);
  });
});
