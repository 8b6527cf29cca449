import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy, type StrategyOptionsWithRequest } from 'passport-jwt';
import type { TokenClaims } from '../../../../platform/http/auth/authentication';
import { basicCredentials, basicToken, bearerToken, cookieToken } from '../../../../platform/http/auth/presented-token';
import { AccessTokens, tokenHash } from './access-tokens';

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads an access token from `Authorization: Bearer`. Passport registers strategies by name for the whole process, so
 * they depend only on the signing keys.
 */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(tokens: AccessTokens) {
    super(verification(tokens, bearerToken));
  }

  validate(request: Request, payload: unknown): TokenClaims | false {
    return claimsOf(payload, bearerToken(request));
  }
}

/** Reads an access token from the password of HTTP Basic, for clients without bearer tokens. */
@Injectable()
export class BasicStrategy extends PassportStrategy(Strategy, 'basic') {
  constructor(tokens: AccessTokens) {
    super(verification(tokens, basicToken));
  }

  validate(request: Request, payload: unknown): TokenClaims | false {
    const claims = claimsOf(payload, basicToken(request));
    return claims && { ...claims, username: basicCredentials(request.headers.authorization)?.username ?? '' };
  }
}

/** Reads an access token from the session cookie of the console. */
@Injectable()
export class CookieStrategy extends PassportStrategy(Strategy, 'cookie') {
  constructor(tokens: AccessTokens) {
    super(verification(tokens, cookieToken));
  }

  validate(request: Request, payload: unknown): TokenClaims | false {
    return claimsOf(payload, cookieToken(request));
  }
}

function verification(
  tokens: AccessTokens,
  jwtFromRequest: (request: Request) => string | null,
): StrategyOptionsWithRequest {
  return {
    jwtFromRequest,
    passReqToCallback: true,
    algorithms: ['HS256'],
    secretOrKeyProvider: (_request, token: string, done) => {
      const key = tokens.keyOf(token);
      // The types know only bytes, but Passport hands the key on to jsonwebtoken, which takes both.
      done(key ? null : new Error('The token names an unknown key'), key as unknown as Buffer | undefined);
    },
  };
}

function claimsOf(payload: unknown, token: string | null): TokenClaims | false {
  const { sub, sid, exp } = payload as { sub?: unknown; sid?: unknown; exp?: number };
  if (token === null || typeof sub !== 'string' || !/^\d{1,15}$/.test(sub)) return false;
  if (typeof sid !== 'string' || !SESSION_ID.test(sid)) return false;
  return {
    userId: Number(sub),
    sessionId: sid,
    tokenHash: tokenHash(token),
    ...(exp === undefined ? {} : { exp }),
  };
}
