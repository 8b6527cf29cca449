import type { Redis } from 'ioredis';
import { LoginDelays } from '../../src/modules/foundation/iam/login/login-delays';
import { LoginLimiter } from '../../src/modules/foundation/iam/login/login-limiter';
import type { SessionsRepository } from '../../src/modules/foundation/iam/sessions/sessions.repository';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { configure } from './harness/test-api';

const ADDRESS = '192.0.2.1';
const REFUSED = { kind: 'rate-limited', code: 'AUTH.TOO_MANY_ATTEMPTS' };
const LIMIT = 3;
/** Everybody has recently logged in from there. */
const HOME = '192.0.2.100';

const redisOf = (limiter: LoginLimiter): Redis => (limiter as unknown as { redis: Redis }).redis;

// Real: Redis. Each test has keys of its own there.
describe('the limits of logins', () => {
  let limiter: LoginLimiter;
  let wait: jest.SpiedFunction<LoginDelays['wait']>;
  const sessions = { hasLoggedInFrom: jest.fn<Promise<boolean>, [string, string]>() };

  beforeEach(() => {
    // No database is reached: the limits are kept in Redis alone, and the sessions are told.
    const config = configure('postgres://nobody@127.0.0.1:1/none', { LOGIN_ATTEMPTS: String(LIMIT) });
    limiter = new LoginLimiter(config, sessions as unknown as SessionsRepository, createLogger('test', 'fatal'));
    // On a machine that is busy for longer, Redis would seem to be away, and nothing be counted.
    redisOf(limiter).options.commandTimeout = 60_000;
    sessions.hasLoggedInFrom.mockReset().mockImplementation((_name, network) => Promise.resolve(network === HOME));
    wait = jest.spyOn(LoginDelays.prototype, 'wait').mockResolvedValue();
  });

  afterEach(() => limiter.onApplicationShutdown());

  const right = () => Promise.resolve('proof');
  const wrong = () => Promise.resolve(null);
  const use = jest.fn();

  beforeEach(() => use.mockReset().mockResolvedValue('done'));

  const attempt = (prove: () => Promise<string | null>, username = 'somebody', address = ADDRESS) =>
    limiter.attempt({ username, network: address }, prove, use);

  async function fail(times: number, username = 'somebody', address = ADDRESS): Promise<void> {
    for (let count = 0; count < times; count += 1) expect(await attempt(wrong, username, address)).toBeNull();
  }

  /** Lets the counts of one kind run out. */
  async function forget(kind: string): Promise<void> {
    const redis = redisOf(limiter);
    const prefix = redis.options.keyPrefix ?? '';
    const keys = await redis.keys(`${prefix}${kind}${kind === '' ? '' : ':'}*`);
    for (const key of keys) await redis.del(key.slice(prefix.length));
  }

  it('use what was proven, and not what was not', async () => {
    expect(await attempt(right)).toBe('done');
    expect(use.mock.calls).toEqual([['proof']]);
    expect(await attempt(wrong)).toBeNull();
    expect(use).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['name', ' SomeBody'],
    ['other name', 'another'],
  ])('refuse even to look at any %s from an address that has failed too often', async (_what, username) => {
    await fail(LIMIT);
    const prove = jest.fn(right);
    await expect(attempt(prove, username)).rejects.toMatchObject(REFUSED);
    expect(prove).not.toHaveBeenCalled();
    expect(await attempt(right, username, '192.0.2.2')).toBe('done');
  });

  it('refuse a name from where it failed when the count of the address has run out before', async () => {
    await fail(LIMIT);
    await forget('address');
    await expect(attempt(right, ' SomeBody')).rejects.toMatchObject(REFUSED);
    expect(await attempt(right, 'another')).toBe('done');
  });

  it('do not tell a right guess from a wrong one when the limit was reached meanwhile', async () => {
    const late = attempt(async () => {
      await fail(LIMIT);
      return 'proof';
    });
    await expect(late).rejects.toMatchObject(REFUSED);
    expect(use).not.toHaveBeenCalled();
    await forget('');
    const wrongAndLate = attempt(async () => {
      await fail(LIMIT);
      return null;
    });
    await expect(wrongAndLate).rejects.toMatchObject(REFUSED);
  });

  it('of many guesses at once answer no more than may be wrong', async () => {
    const guesses = await Promise.allSettled(Array.from({ length: 50 }, () => attempt(wrong)));
    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  });

  describe('of a name that has failed often', () => {
    const failElsewhere = async (times: number, username = 'somebody') => {
      for (let count = 0; count < times; count += 1) await fail(1, username, `198.51.100.${count}`);
    };
    const delays = () => wait.mock.calls.map(([, network, ms]) => [network, ms]);

    it('hold up who comes from a new address, longer the more failures there were', async () => {
      await failElsewhere(LIMIT);
      expect(await attempt(right)).toBe('done');
      expect(delays()).toEqual([[ADDRESS, 250]]);
      await failElsewhere(LIMIT);
      wait.mockClear();
      expect(await attempt(right)).toBe('done');
      expect(delays()).toEqual([[ADDRESS, 500]]);
      await failElsewhere(20 * LIMIT);
      wait.mockClear();
      expect(await attempt(right)).toBe('done');
      expect(delays()).toEqual([[ADDRESS, 5000]]);
    });

    it('hold up nobody who has logged in from there lately, and whoever guesses there', async () => {
      await failElsewhere(LIMIT);
      expect(await attempt(right, 'somebody', HOME)).toBe('done');
      expect(delays()).toEqual([]);
      expect(await attempt(wrong, 'somebody', HOME)).toBeNull();
      expect(delays()).toEqual([[HOME, 250]]);
    });

    it('look at nothing while it is held up', async () => {
      await failElsewhere(LIMIT);
      wait.mockRejectedValue(new Error('too many'));
      const prove = jest.fn(right);
      await expect(attempt(prove)).rejects.toThrow('too many');
      expect(prove).not.toHaveBeenCalled();
      await expect(attempt(wrong, 'somebody', HOME)).rejects.toThrow('too many');
      expect(await attempt(right, 'another')).toBe('done');
    });
  });

  it('are none while Redis is away', async () => {
    const config = configure('postgres://nobody@127.0.0.1:1/none', {
      REDIS_URL: 'redis://127.0.0.1:1',
      LOGIN_ATTEMPTS: '1',
    });
    const alone = new LoginLimiter(config, sessions as unknown as SessionsRepository, createLogger('test', 'silent'));
    try {
      const claimant = { username: 'somebody', network: ADDRESS };
      for (let count = 0; count < 2; count += 1) expect(await alone.attempt(claimant, wrong, use)).toBeNull();
      expect(await alone.attempt(claimant, right, use)).toBe('done');
      expect(await alone.start(ADDRESS, () => Promise.resolve('begun'))).toBe('begun');
    } finally {
      alone.onApplicationShutdown();
    }
  });

  it('count what is refused after the proof', async () => {
    use.mockResolvedValue(null);
    for (let count = 0; count < LIMIT; count += 1) expect(await attempt(right)).toBeNull();
    await expect(attempt(right)).rejects.toMatchObject(REFUSED);
  });

  it('do not count what could not be decided', async () => {
    const broken = () => Promise.reject(new Error('away'));
    for (let count = 0; count < LIMIT; count += 1) await expect(attempt(broken)).rejects.toThrow('away');
    use.mockRejectedValueOnce(new Error('away'));
    await expect(attempt(right)).rejects.toThrow('away');
    expect(await attempt(right)).toBe('done');
  });

  describe('at the page of a provider', () => {
    const begin = (address = ADDRESS) => limiter.start(address, () => Promise.resolve('begun'));
    const beginAll = () => Promise.all(Array.from({ length: 10 * LIMIT }, () => begin()));

    it('are ten times as many, by address', async () => {
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
      expect(await begin('192.0.2.2')).toBe('begun');
      expect(await attempt(right)).toBe('done');
    });

    it('count neither what could not begin nor what has ended', async () => {
      await beginAll();
      await limiter.complete(ADDRESS);
      await expect(limiter.start(ADDRESS, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
      expect(await begin()).toBe('begun');
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });

    it('are not more for whom logins end that began elsewhere', async () => {
      await limiter.complete(ADDRESS);
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });
  });

  it('are those of the name there anew after a success, but not of the address', async () => {
    await fail(LIMIT - 1);
    expect(await attempt(right)).toBe('done');
    await fail(1);
    await expect(attempt(right)).rejects.toMatchObject(REFUSED);
    await forget('address');
    expect(await attempt(right)).toBe('done');
  });

  it('count a name from everywhere, successes or not', async () => {
    await fail(LIMIT - 1);
    expect(await attempt(right)).toBe('done');
    await fail(1, 'somebody', '192.0.2.2');
    expect(await attempt(right, 'somebody', '192.0.2.3')).toBe('done');
    expect(wait).toHaveBeenCalledTimes(1);
  });
});
