import { LoginLimiter } from '../../src/modules/iam/login/login-limiter';
import { createLogger } from '../../src/platform/logging/logger';
import { configure } from './harness/test-api';

const ADDRESS = '192.0.2.1';
const REFUSED = { kind: 'rate-limited', code: 'AUTH.TOO_MANY_ATTEMPTS' };
const LIMIT = 3;

// Real: Redis. Each test has keys of its own there.
describe('the limits of logins', () => {
  let limiter: LoginLimiter;

  beforeEach(() => {
    // No database is reached: the limits are kept in Redis alone.
    const config = configure('postgres://nobody@127.0.0.1:1/none', { LOGIN_ATTEMPTS: String(LIMIT) });
    limiter = new LoginLimiter(config, createLogger('test', 'fatal'));
  });

  afterEach(() => limiter.onApplicationShutdown());

  const right = () => Promise.resolve('proof');
  const wrong = () => Promise.resolve(null);
  const use = jest.fn();

  beforeEach(() => use.mockReset().mockResolvedValue('done'));

  const attempt = (prove: () => Promise<string | null>, username = 'somebody', address = ADDRESS) =>
    limiter.attempt(username, address, prove, use);

  async function fail(times: number, username = 'somebody', address = ADDRESS): Promise<void> {
    for (let count = 0; count < times; count += 1) expect(await attempt(wrong, username, address)).toBeNull();
  }

  it('use what was proven, and not what was not', async () => {
    expect(await attempt(right)).toBe('done');
    expect(use.mock.calls).toEqual([['proof']]);
    expect(await attempt(wrong)).toBeNull();
    expect(use).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['the user name, in whatever spelling', ' SomeBody', '192.0.2.2'],
    ['the address', 'another', ADDRESS],
  ])('refuse even to look once %s has failed too often', async (_what, username, address) => {
    await fail(LIMIT);
    const prove = jest.fn(right);
    await expect(attempt(prove, username, address)).rejects.toMatchObject(REFUSED);
    expect(prove).not.toHaveBeenCalled();
    expect(await attempt(right, 'another', '192.0.2.2')).toBe('done');
  });

  it('do not tell a right guess from a wrong one when the limit was reached meanwhile', async () => {
    const late = attempt(async () => {
      await fail(LIMIT);
      return 'proof';
    });
    await expect(late).rejects.toMatchObject(REFUSED);
    expect(use).not.toHaveBeenCalled();
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
    const begin = (address = ADDRESS) => limiter.begin(address, () => Promise.resolve('begun'));
    const beginAll = () => Promise.all(Array.from({ length: 10 * LIMIT }, () => begin()));

    it('are ten times as many, by address', async () => {
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
      expect(await begin('192.0.2.2')).toBe('begun');
      expect(await attempt(right)).toBe('done');
    });

    it('count neither what could not begin nor what has ended', async () => {
      await beginAll();
      await limiter.ended(ADDRESS);
      await expect(limiter.begin(ADDRESS, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
      expect(await begin()).toBe('begun');
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });

    it('are not more for whom logins end that began elsewhere', async () => {
      await limiter.ended(ADDRESS);
      await beginAll();
      await expect(begin()).rejects.toMatchObject(REFUSED);
    });
  });

  it('are those of the user name anew after a success, but not of the address', async () => {
    await fail(LIMIT - 1);
    expect(await attempt(right)).toBe('done');
    await fail(1);
    await expect(attempt(right, 'somebody')).rejects.toMatchObject(REFUSED);
    expect(await attempt(right, 'somebody', '192.0.2.2')).toBe('done');
  });
});
