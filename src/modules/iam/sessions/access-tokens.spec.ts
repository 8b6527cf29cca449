import { randomBytes, randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { decode, sign } from 'jsonwebtoken';
import type { SigningKey } from '../../../config/auth.config';
import type { Config } from '../../../config/config';
import { AccessTokens, tokenHash } from './access-tokens';

const OLD: SigningKey = { id: 'old', key: randomBytes(32) };
const NEW: SigningKey = { id: 'new', key: randomBytes(32) };
const CLAIMS = { userId: 7, sessionId: randomUUID() };

function tokensWith(...signingKeys: SigningKey[]): AccessTokens {
  return new AccessTokens({ auth: { signingKeys } } as Config);
}

function requestWith(token?: string): Request {
  return { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } } as Request;
}

function inSeconds(seconds: number): Date {
  return new Date(Date.now() + seconds * 1000);
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

describe('AccessTokens', () => {
  it('signs with the first key and reads what it signed', async () => {
    const tokens = tokensWith(NEW, OLD);
    const token = tokens.sign(CLAIMS, inSeconds(60));
    expect(decode(token, { complete: true })?.header).toMatchObject({ alg: 'HS256', kid: 'new' });
    const claims = { ...CLAIMS, exp: expect.any(Number), tokenHash: tokenHash(token) };
    await expect(tokens.verify(requestWith(token))).resolves.toEqual(claims);
    await expect(tokens.verify(requestWith(token))).resolves.toEqual(claims);
  });

  it('reads the tokens of an older key after a rotation', async () => {
    const token = tokensWith(OLD).sign(CLAIMS, null);
    await expect(tokensWith(NEW, OLD).verify(requestWith(token))).resolves.toEqual({
      ...CLAIMS,
      tokenHash: tokenHash(token),
    });
    await expect(tokensWith(NEW).verify(requestWith(token))).rejects.toThrow('The token is not valid.');
  });

  it('makes the same token of the same claims again, also after a rotation, until its key is gone', () => {
    const claims = { ...CLAIMS, keyId: 'old', issuedAt: 1_790_000_000, nonce: 'n' };
    const expiresAt = inSeconds(60);
    const token = tokensWith(OLD).sign(claims, expiresAt);
    expect(tokensWith(NEW, OLD).sign(claims, expiresAt)).toBe(token);
    expect(tokensWith(NEW, OLD).signingKeyId).toBe('new');
    const { nonce: _, ...rest } = claims;
    expect(tokensWith(OLD).sign(rest, expiresAt)).not.toBe(tokensWith(OLD).sign(rest, expiresAt));
    expect(() => tokensWith(NEW).sign(claims, expiresAt)).toThrow(
      expect.objectContaining({ code: 'TOKEN.KEY_REMOVED' }),
    );
  });

  it('refuses a known token once it has expired', async () => {
    const tokens = tokensWith(NEW);
    const request = requestWith(tokens.sign(CLAIMS, inSeconds(60)));
    await tokens.verify(request);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 120_000);
    await expect(tokens.verify(request)).rejects.toThrow('The token has expired. Log in again.');
  });

  const payload = { sub: '7', sid: CLAIMS.sessionId };
  it.each([
    ['expired', sign(payload, NEW.key, { keyid: 'new', expiresIn: -5 }), 'The token has expired. Log in again.'],
    ['signed by a foreign key', sign(payload, randomBytes(32), { keyid: 'new' }), 'The token is not valid.'],
    ['of an unknown key', sign(payload, NEW.key, { keyid: 'other' }), 'The token is not valid.'],
    ['without a key id', sign(payload, NEW.key), 'The token is not valid.'],
    ['unsigned', `${encoded({ alg: 'none', kid: 'new' })}.${encoded(payload)}.`, 'The token is not valid.'],
    ['of another algorithm', sign(payload, NEW.key, { keyid: 'new', algorithm: 'HS512' }), 'The token is not valid.'],
    ['without a session', sign({ sub: '7' }, NEW.key, { keyid: 'new' }), 'The token is not valid.'],
    ['with an odd user', sign({ ...payload, sub: '7 OR 1' }, NEW.key, { keyid: 'new' }), 'The token is not valid.'],
    ['no token at all', 'nonsense', 'The token is not valid.'],
  ])('refuses one that is %s', async (_kind, token, message) => {
    await expect(tokensWith(NEW).verify(requestWith(token))).rejects.toMatchObject({
      kind: 'unauthenticated',
      message,
    });
  });

  it('asks for a token when there is none', async () => {
    await expect(tokensWith(NEW).verify(requestWith())).rejects.toThrow('A bearer token is required.');
  });
});
