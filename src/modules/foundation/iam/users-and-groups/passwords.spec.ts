import * as argon2 from '@node-rs/argon2';
import { hashPassword, passwordMatches } from './passwords';

jest.mock('@node-rs/argon2', () => {
  const real = jest.requireActual<typeof argon2>('@node-rs/argon2');
  return { hash: jest.fn(real.hash), verify: jest.fn(real.verify) };
});

describe('passwords', () => {
  it('are checked and hashed two at a time over all parties', async () => {
    let [running, maxRunning] = [0, 0];
    const counted = async <T>(work: () => Promise<T>): Promise<T> => {
      maxRunning = Math.max(maxRunning, (running += 1));
      return work().finally(() => (running -= 1));
    };
    const { hash, verify } = jest.requireActual<typeof argon2>('@node-rs/argon2');
    const stored = await hashPassword('a password', 'somebody');
    jest.mocked(argon2.hash).mockImplementation((...call) => counted(() => hash(...call)));
    jest.mocked(argon2.verify).mockImplementation((...call) => counted(() => verify(...call)));
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, index) =>
        passwordMatches(() => Promise.resolve(stored), 'a password', `address-${index}`),
      ),
      ...Array.from({ length: 10 }, () => passwordMatches(() => Promise.resolve(null), 'a password', 'one address')),
      ...Array.from({ length: 10 }, () => hashPassword('a password', 'administrator').then(() => 'hashed')),
    ]);
    const expected = [true, false, 'hashed'].flatMap((answer) => Array.from({ length: 10 }, () => answer));
    expect(answers).toEqual(expected);
    expect(maxRunning).toBeGreaterThan(0);
    expect(maxRunning).toBeLessThanOrEqual(2);
  });
});
