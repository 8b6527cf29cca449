import { LoginDelays } from './login-delays';

const BUSY = { code: 'AUTH.BUSY', details: { retry_after_seconds: 10 } };

describe('LoginDelays', () => {
  const delays = new LoginDelays();

  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('delays four attempts of a user name at a time and lets the others wait up to ten seconds', async () => {
    let completed = 0;
    const attempts = Array.from({ length: 44 }, (_, index) =>
      delays.wait('name', `address-${index}`, 5_000).then(() => (completed += 1)),
    );
    const outcomes = Promise.allSettled(attempts);
    await expect(delays.wait('name', 'one more', 5_000)).rejects.toMatchObject(BUSY);
    for (const seconds of [5, 10]) {
      await jest.advanceTimersByTimeAsync(4_999);
      expect(completed).toBe(4 * (seconds / 5 - 1));
      await jest.advanceTimersByTimeAsync(1);
      expect(completed).toBe(4 * (seconds / 5));
    }
    await jest.advanceTimersByTimeAsync(5_000);
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect([completed, refused.length]).toEqual([8, 36]);
    expect(refused[0]).toMatchObject({ reason: BUSY });
  });

  it('refuses more than 256 attempts over all user names until some are done', async () => {
    const attempts = Array.from({ length: 256 }, (_, index) => delays.wait(`name-${index}`, 'address', 5_000));
    await expect(delays.wait('another name', 'address', 5_000)).rejects.toMatchObject(BUSY);
    await jest.advanceTimersByTimeAsync(5_000);
    await Promise.all(attempts);
    const free = delays.wait('another name', 'address', 5_000);
    await jest.advanceTimersByTimeAsync(5_000);
    await free;
  });
});
