import { randomBytes, randomUUID } from 'node:crypto';
import { decode, sign } from 'jsonwebtoken';
import type { SigningKey } from '../../../../config/auth.config';
import type { Config } from '../../../../config/config';
import { AccessTokens } from './access-tokens';

const OLD: SigningKey = { id: 'old', key: randomBytes(32) };
const NEW: SigningKey = { id: 'new', key: randomBytes(32) };
const CLAIMS = { userId: 7, sessionId: randomUUID() };

function tokensWith(...signingKeys: SigningKey[]): AccessTokens {
  return new AccessTokens({ auth: { signingKeys } } as Config);
}

describe('AccessTokens', () => {
  it('signs with the first key', () => {
    const token = tokensWith(NEW, OLD).sign(CLAIMS, null);
    expect(decode(token, { complete: true })?.header).toMatchObject({ alg: 'HS256', kid: 'new' });
  });

  it('finds the key of a token after a rotation, until the key is removed', () => {
    const token = tokensWith(OLD).sign(CLAIMS, null);
    expect(tokensWith(NEW, OLD).keyOf(token)?.export()).toEqual(OLD.key);
    expect(tokensWith(NEW).keyOf(token)).toBeUndefined();
  });

  it.each([sign({}, NEW.key), 'nonsense', ''])('finds no key for %j', (token) => {
    expect(tokensWith(NEW).keyOf(token)).toBeUndefined();
  });

  it('signs the same claims to the same token after a rotation, until the key is removed', () => {
    const claims = { ...CLAIMS, keyId: 'old', issuedAt: 1_790_000_000, nonce: 'n' };
    const expiresAt = new Date(Date.now() + 60_000);
    const token = tokensWith(OLD).sign(claims, expiresAt);
    expect(tokensWith(NEW, OLD).sign(claims, expiresAt)).toBe(token);
    expect(tokensWith(NEW, OLD).signingKeyId).toBe('new');
    const { nonce: _, ...rest } = claims;
    expect(tokensWith(OLD).sign(rest, expiresAt)).not.toBe(tokensWith(OLD).sign(rest, expiresAt));
    expect(() => tokensWith(NEW).sign(claims, expiresAt)).toThrow(
      expect.objectContaining({ code: 'TOKEN.KEY_REMOVED' }),
    );
  });
});
