import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, RequestHandler, Response } from 'express';
import { decode, sign, TokenExpiredError } from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import passport from 'passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import type { SigningKey } from '../../../config/auth.config';
import { Config } from '../../../config/config';
import { conflict, unauthenticated } from '../../../platform/errors/domain-error';

/** What a token says: who, by which session, until when in seconds since 1970 (absent for one without end). */
export interface TokenClaims {
  userId: number;
  sessionId: string;
  exp?: number;
  /** Of the text that was presented, as {@link tokenHash} makes it. */
  tokenHash: string;
}

/** What a token is made of. With key, moment and nonce given, the same claims always give the same text. */
export interface SignedClaims {
  userId: number;
  sessionId: string;
  /** The key that signs; the first when left out. */
  keyId?: string;
  /** Seconds since 1970, of the moment at which the session begins; now when left out. */
  issuedAt?: number;
  /** Makes the text one that nobody can work out from what is known of the session; random when left out. */
  nonce?: string;
}

const CACHED_TOKENS = 10_000;
const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EXPIRED = 'The token has expired. Log in again.';
const bearerToken = ExtractJwt.fromAuthHeaderAsBearerToken();

/** What the database keeps of a token: SHA-256 of its text, hex. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function tokenNonce(): string {
  return randomBytes(12).toString('base64url');
}

/** Signs access tokens and checks those of requests. The first key signs, all verify. */
@Injectable()
export class AccessTokens {
  private readonly strategy: Strategy;
  private readonly verified = new LRUCache<string, TokenClaims>({ max: CACHED_TOKENS });

  constructor(private readonly config: Config) {
    const keys = new Map(config.auth.signingKeys.map(({ id, key }) => [id, key]));
    this.strategy = new Strategy(
      {
        jwtFromRequest: bearerToken,
        algorithms: ['HS256'],
        secretOrKeyProvider: (_request, token: string, done) => {
          const key = keys.get(keyIdOf(token) ?? '');
          done(key ? null : new Error('unknown key'), key);
        },
      },
      (payload: unknown, done) => done(null, claimsOf(payload) ?? false),
    );
  }

  /** Id of the key that signs now. */
  get signingKeyId(): string {
    return this.signingKey().id;
  }

  /**
   * @param expiresAt null for a token without end; its session can still be ended
   * @throws a conflict when the key that the claims name is not known any more
   */
  sign(claims: SignedClaims, expiresAt: Date | null): string {
    const key = this.signingKey(claims.keyId);
    return sign(
      {
        sub: String(claims.userId),
        sid: claims.sessionId,
        jti: claims.nonce ?? tokenNonce(),
        ...(claims.issuedAt === undefined ? {} : { iat: claims.issuedAt }),
        ...(expiresAt ? { exp: Math.ceil(expiresAt.getTime() / 1000) } : {}),
      },
      key.key,
      { algorithm: 'HS256', keyid: key.id },
    );
  }

  /** The claims of the request's bearer token; throws `unauthenticated` when it is missing, expired or not ours. */
  async verify(request: Request): Promise<TokenClaims> {
    const token = bearerToken(request);
    if (!token) throw unauthenticated('A bearer token is required.');
    const known = this.verified.get(token);
    const claims = known ?? (await this.check(request, token));
    if (claims.exp !== undefined && claims.exp * 1000 <= Date.now()) throw unauthenticated(EXPIRED);
    if (!known) this.verified.set(token, claims);
    return claims;
  }

  private signingKey(id?: string): SigningKey {
    const keys = this.config.auth.signingKeys;
    const key = id === undefined ? keys[0] : keys.find((candidate) => candidate.id === id);
    if (key) return key;
    if (id === undefined) throw new Error('There is no key to sign with');
    throw conflict('TOKEN.KEY_REMOVED', 'The key that signed this token has been removed. Make another token.');
  }

  private check(request: Request, token: string): Promise<TokenClaims> {
    return new Promise((resolve, reject) => {
      const answer = (error: unknown, claims?: Omit<TokenClaims, 'tokenHash'> | false | null, info?: unknown) => {
        if (error) reject(error instanceof Error ? error : new Error(JSON.stringify(error)));
        else if (claims) resolve({ ...claims, tokenHash: tokenHash(token) });
        else reject(unauthenticated(info instanceof TokenExpiredError ? EXPIRED : 'The token is not valid.'));
      };
      // The callback form leaves the response to us, so passport gets none to write to.
      const authenticate = passport.authenticate(this.strategy, { session: false }, answer) as RequestHandler;
      void authenticate(request, {} as Response, reject);
    });
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}

function claimsOf(payload: unknown): Omit<TokenClaims, 'tokenHash'> | null {
  const { sub, sid, exp } = payload as { sub?: unknown; sid?: unknown; exp?: number };
  if (typeof sub !== 'string' || !/^\d{1,15}$/.test(sub) || typeof sid !== 'string' || !SESSION_ID.test(sid))
    return null;
  return { userId: Number(sub), sessionId: sid, ...(exp === undefined ? {} : { exp }) };
}
