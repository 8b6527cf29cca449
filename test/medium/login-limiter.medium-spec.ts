import type { Redis } from 'ioredis';
import { LoginDelays } from '../../src/modules/foundation/iam/login/login-delays';
import { LoginLimiter } from '../../src/modules/foundation/iam/login/login-limiter';
import type { SessionsRepository } from '../../src/modules/foundation/iam/sessions/sessions.repository';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { configure } from './harness/test-api';

const ADDRESS = '192.0.2.1';
const REFUSED = { kind: 'rate-limited', code: 'AUTH.TOO_MANY_ATTEMPTS' };
const LIMIT = 3;
/** A network from which every user has recently logged in. */
const HOME = '192.0.2.100';

const redisOf = (limiter: LoginLimiter): Redis => (limiter as unknown as { redis: Redis }).redis;

// Real: Redis. Each test has its own keys.
describe('the limits of logins', () => {
  let limiter: LoginLimiter;
  let wait: jest.SpiedFunction<LoginDelays['wait']>;
  const sessions = { hasLoggedInFrom: jest.fn<Promise<boolean>, [string, string]>() };

  beforeEach(() => {
    // The database is not used: the limits are only in Redis, and the sessions are a stub.
    const config = configure('postgres://nobody@127.0.0.1:1/none', { LOGIN_ATTEMPTS: String(LIMIT) });
    limiter = new LoginLimiter(config, sessions as unknown as SessionsRepository, createLogger('test', 'fatal'));
    // On a busy machine, a shorter timeout would make Redis look unavailable, and nothing would be counted.
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

  /** Deletes the counters of one kind. */
  async function deleteCounters(kind: string): Promise<void> {
    const redis = redisOf(limiter);
    const prefix = redis.options.keyPrefix ?? '';
    const keys = await redis.keys(`${prefix}${kind}${kind === '' ? '' : ':'}*`);
    for (const key of keys) await redis.del(key.slice(prefix.length));
  }

  it('call the login after a valid proof only', async () => {
    expect(await attempt(right)).toBe('done');
    expect(use.mock.calls).toEqual([['proof']]);
    expect(await attempt(wrong)).toBeNull();
    expect(use).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['name', ' SomeBody'],
    ['other name', 'another'],
  ])('refuse any %s unchecked from an address with too many failures', async (_what, username) => {
    await fail(LIMIT);
    const prove = jest.fn(right);
    await expect(attempt(prove, username)).rejects.toMatchObject(REFUSED);
    expect(prove).not.toHaveBeenCalled();
    expect(await attempt(right, username, '192.0.2.2')).toBe('done');
  });

  it('refuse a name at the address of its failures even after the counter of the address expired', async () => {
    await fail(LIMIT);
    await deleteCounters('address');
    await expect(attempt(right, ' SomeBody')).rejects.toMatchObject(REFUSED);
    expect(await attempt(right, 'another')).toBe('done');
  });

  it('treat right and wrong guesses alike if the limit was reached meanwhile', async () => {
    const late = attempt(async () => {
      await fail(LIMIT);
      return 'proof';
    });
    await expect(late).rejects.toMatchObject(REFUSED);
    expect(use).not.toHaveBeenCalled();
    await deleteCounters('');
    const wrongAndLate = attempt(async () => {
      await fail(LIMIT);
      return null;
    });
    await expect(wrongAndLate).rejects.toMatchObject(REFUSED);
  });

  it('admit no more concurrent guesses than the limit of failures', async () => {
    const guesses = await Promise.allSettled(Array.from({ length: 50 }, () => attempt(wrong)));
    expect(guesses.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  });

  describe('for a name with many failures', () => {
    const failElsewhere = async (times: number, username = 'somebody') => {
      for (let count = 0; count < times; count += 1) await fail(1, username, `198.51.100.${count}`);
    };
    const delays = () => wait.mock.calls.map(([, network, ms]) => [network, ms]);

    it('delay logins from a new address, longer with each failure', async () => {
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

    it('delay only failed logins at an address with a recent login', async () => {
      await failElsewhere(LIMIT);
      expect(await attempt(right, 'somebody', HOME)).toBe('done');
      expect(delays()).toEqual([]);
      expect(await attempt(wrong, 'somebody', HOME)).toBeNull();
      expect(delays()).toEqual([[HOME, 250]]);
    });

    it('check nothing during the delay', async () => {
      await failElsewhere(LIMIT);
      wait.mockRejectedValue(new Error('too many'));
      const prove = jest.fn(right);
      await expect(attempt(prove)).rejects.toThrow('too many');
      expect(prove).not.toHaveBeenCalled();
      await expect(attempt(wrong, 'somebody', HOME)).rejects.toThrow('too many');
      expect(await attempt(right, 'another')).toBe('done');
    });
  });

  it('are off while Redis is unavailable', async () => {
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

  it('count logins that are refused after the proof', async () => {
    use.mockResolvedValue(null);
    for (let count = 0; count < LIMIT; count += 1) expect(await attempt(right)).toBeNull();
    await expect(attempt(right)).rejects.toMatchObject(REFUSED);
  });

  it('do not count logins that could not be decided', async () => {
    const broken = () => Promise.reject(new Error('away'));
    for (let count = 0; count < LIMIT; count += 1) await expect(attempt(broken)).rejects.toThrow('away');
    use.mockRejectedValueOnce(new Error('away'));
    await expect(attempt(right)).rejects.toThrow('away');
    expect(await attempt(right)).toBe('done');
  });

  describe('for logins at the page of a provider', () => {
    const begin = (address = ADDRESS) => limiter.start(address, () => Promise.resolve('begun'));
    const beginAll = () => Promise.all(Array.from({ length: 10 * LIMIT }, () => begin()));

    it('are ten times as many, by address', async () => {
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
      expect(await begin('192.0.2.2')).toBe('begun');
      expect(await attempt(right)).toBe('done');
    });

    it('count neither logins that could not start nor completed ones', async () => {
      await beginAll();
      await limiter.complete(ADDRESS);
      await expect(limiter.start(ADDRESS, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
      expect(await begin()).toBe('begun');
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });

    it('do not grow by logins that started elsewhere', async () => {
      await limiter.complete(ADDRESS);
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });
  });

  it('are reset by a success for the name at the address, but not for the address', async () => {
    await fail(LIMIT - 1);
    expect(await attempt(right)).toBe('done');
    await fail(1);
    await expect(attempt(right)).rejects.toMatchObject(REFUSED);
    await deleteCounters('address');
    expect(await attempt(right)).toBe('done');
  });

  it('count the failures of a name over all addresses, despite successes', async () => {
    await fail(LIMIT - 1);
    expect(await attempt(right)).toBe('done');
    await fail(1, 'somebody', '192.0.2.2');
    expect(await attempt(right, 'somebody', '192.0.2.3')).toBe('done');
    expect(wait).toHaveBeenCalledTimes(1);
  });
});
