import { LoginPauses } from './login-pauses';

const BUSY = { code: 'AUTH.BUSY', details: { retry_after_seconds: 10 } };

describe('pauses before logins', () => {
  const pauses = new LoginPauses();

  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('are four at a time of one name, whose other attempts wait, and no longer than ten seconds', async () => {
    let ended = 0;
    const held = Array.from({ length: 44 }, (_, index) =>
      pauses.pause('name', `address-${index}`, 5_000).then(() => (ended += 1)),
    );
    const outcomes = Promise.allSettled(held);
    await expect(pauses.pause('name', 'one more', 5_000)).rejects.toMatchObject(BUSY);
    for (const seconds of [5, 10]) {
      await jest.advanceTimersByTimeAsync(4_999);
      expect(ended).toBe(4 * (seconds / 5 - 1));
      await jest.advanceTimersByTimeAsync(1);
      expect(ended).toBe(4 * (seconds / 5));
    }
    await jest.advanceTimersByTimeAsync(5_000);
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect([ended, refused.length]).toEqual([8, 36]);
    expect(refused[0]).toMatchObject({ reason: BUSY });
  });

  it('are 256 of all names together, and free again when they are over', async () => {
    const held = Array.from({ length: 256 }, (_, index) => pauses.pause(`name-${index}`, 'address', 5_000));
    await expect(pauses.pause('another name', 'address', 5_000)).rejects.toMatchObject(BUSY);
    await jest.advanceTimersByTimeAsync(5_000);
    await Promise.all(held);
    const free = pauses.pause('another name', 'address', 5_000);
    await jest.advanceTimersByTimeAsync(5_000);
    await free;
  });
});
