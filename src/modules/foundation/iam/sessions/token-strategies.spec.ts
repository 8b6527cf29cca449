import { randomBytes, randomUUID } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { sign } from 'jsonwebtoken';
import passport from 'passport';
import type { SigningKey } from '../../../../config/auth.config';
import type { Config } from '../../../../config/config';
import { type Access, Allow } from '../../../../platform/kernel/auth/access';
import type { TokenClaims } from '../../../../platform/http/auth/authentication';
import type { AuthenticatedRequest } from '../../../../platform/http/auth/request-principal';
import { TOKEN_STRATEGIES, TokenGuard } from '../../../../platform/http/auth/token.guard';
import { AccessTokens, tokenHash } from './access-tokens';
import { BasicStrategy, CookieStrategy, JwtStrategy } from './token-strategies';

const OLD: SigningKey = { id: 'old', key: randomBytes(32) };
const NEW: SigningKey = { id: 'new', key: randomBytes(32) };
const CLAIMS = { userId: 7, sessionId: randomUUID() };

function tokensWith(...signingKeys: SigningKey[]): AccessTokens {
  return new AccessTokens({ auth: { signingKeys } } as Config);
}

interface RequestOptions {
  keys?: SigningKey[];
  access?: Access;
  acceptsBasicAuth?: boolean;
  /** Headers that a browser adds. */
  browser?: Record<string, string>;
}

/** Returns the claims that the guard sets on a request with this header. */
async function claimsOf(
  authorization: string | undefined,
  { keys = [NEW], access = Allow.signedIn, acceptsBasicAuth = false, browser = {} }: RequestOptions = {},
): Promise<TokenClaims | undefined> {
  const tokens = tokensWith(...keys);
  // The constructors register the strategies with Passport.
  new JwtStrategy(tokens);
  new BasicStrategy(tokens);
  new CookieStrategy(tokens);
  const guard = new TokenGuard({ get: () => ({ method: 'GET', access, acceptsBasicAuth }) } as unknown as Reflector);
  const headers = { ...browser, ...(authorization === undefined ? {} : { authorization }) };
  const get = (name: string) => headers[name as keyof typeof headers];
  const request = { method: 'GET', headers, get } as unknown as AuthenticatedRequest;
  const context = {
    getHandler: () => null,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
  };
  await guard.canActivate(context as unknown as ExecutionContext);
  return request.claims;
}

const bearer = (token: string) => `Bearer ${token}`;
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

describe('the token of a request', () => {
  afterAll(() => TOKEN_STRATEGIES.forEach((name) => passport.unuse(name)));

  it('yields the claims of its session', async () => {
    const token = tokensWith(NEW).sign(CLAIMS, inSeconds(60));
    const claims = { ...CLAIMS, exp: expect.any(Number), tokenHash: tokenHash(token) };
    await expect(claimsOf(bearer(token))).resolves.toEqual(claims);
  });

  it('is verified by the key that signed it, also after a rotation', async () => {
    const token = tokensWith(OLD).sign(CLAIMS, null);
    const claims = { ...CLAIMS, tokenHash: tokenHash(token) };
    await expect(claimsOf(bearer(token), { keys: [NEW, OLD] })).resolves.toEqual(claims);
    await expect(claimsOf(bearer(token))).rejects.toThrow('The token is not valid.');
  });

  const payload = { sub: '7', sid: CLAIMS.sessionId };
  it.each([
    ['expired', sign(payload, NEW.key, { keyid: 'new', expiresIn: -5 }), 'The token has expired. Log in again.'],
    ['signed by a foreign key', sign(payload, randomBytes(32), { keyid: 'new' }), 'The token is not valid.'],
    ['signed with an unknown key id', sign(payload, NEW.key, { keyid: 'other' }), 'The token is not valid.'],
    ['without a key id', sign(payload, NEW.key), 'The token is not valid.'],
    ['unsigned', `${encoded({ alg: 'none', kid: 'new' })}.${encoded(payload)}.`, 'The token is not valid.'],
    [
      'signed with another algorithm',
      sign(payload, NEW.key, { keyid: 'new', algorithm: 'HS512' }),
      'The token is not valid.',
    ],
    ['without a session', sign({ sub: '7' }, NEW.key, { keyid: 'new' }), 'The token is not valid.'],
    [
      'with an invalid user id',
      sign({ ...payload, sub: '7 OR 1' }, NEW.key, { keyid: 'new' }),
      'The token is not valid.',
    ],
    ['no JWT', 'nonsense', 'The token is not valid.'],
  ])('is refused when it is %s', async (_kind, token, message) => {
    const refusal = { kind: 'unauthenticated', message };
    await expect(claimsOf(bearer(token))).rejects.toMatchObject(refusal);
    await expect(claimsOf(basic(`ada:${token}`), { acceptsBasicAuth: true })).rejects.toMatchObject(refusal);
  });

  it.each([undefined, '', 'Basic', basic('ada:secret')])('is required if the header is %j', async (authorization) => {
    await expect(claimsOf(authorization)).rejects.toThrow('A bearer token is required.');
  });

  it('may be in the cookie of a request from an own page', async () => {
    const token = tokensWith(NEW).sign(CLAIMS, null);
    const browser = { 'sec-fetch-site': 'same-origin', cookie: `session=${token}` };
    await expect(claimsOf(undefined, { browser })).resolves.toEqual({ ...CLAIMS, tokenHash: tokenHash(token) });
    const foreign = { browser: { ...browser, 'sec-fetch-site': 'cross-site' } };
    await expect(claimsOf(undefined, foreign)).rejects.toThrow('A bearer token is required.');
    const forged = tokensWith({ id: 'new', key: randomBytes(32) }).sign(CLAIMS, null);
    const other = { browser: { ...browser, cookie: `session=${forged}` } };
    await expect(claimsOf(undefined, other)).rejects.toThrow('The token is not valid.');
  });

  it('may be the password of HTTP Basic if the operation accepts that', async () => {
    const token = tokensWith(NEW).sign(CLAIMS, null);
    const claims = { ...CLAIMS, tokenHash: tokenHash(token) };
    const header = basic(`ada:${token}`);
    await expect(claimsOf(header, { acceptsBasicAuth: true })).resolves.toEqual({ ...claims, username: 'ada' });
    await expect(claimsOf(header)).rejects.toThrow('A bearer token is required.');
    await expect(claimsOf(bearer(token), { acceptsBasicAuth: true })).resolves.toEqual(claims);
    for (const text of ['', ':', 'ada', 'ada:'])
      await expect(claimsOf(basic(text), { acceptsBasicAuth: true })).rejects.toMatchObject({
        kind: 'unauthenticated',
      });
  });

  it.each([Allow.everyone, Allow.machines, Allow.nodes, Allow.bootstrap])(
    'is ignored for access %p',
    async (access) => {
      await expect(claimsOf(bearer('nonsense'), { access })).resolves.toBeUndefined();
    },
  );
});
