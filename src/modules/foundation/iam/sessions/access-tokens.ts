import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { decode, sign } from 'jsonwebtoken';
import type { SigningKey } from '../../../../config/auth.config';
import { Config } from '../../../../config/config';
import { conflict } from '../../../../platform/kernel/errors/domain-error';

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

/** What the database keeps of a token: SHA-256 of its text, hex. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function tokenNonce(): string {
  return randomBytes(12).toString('base64url');
}

/** Signs access tokens, and knows the keys that verify them. The first key signs, all verify. */
@Injectable()
export class AccessTokens {
  constructor(private readonly config: Config) {}

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

  /** The key that verifies a token, by the id that it names; undefined for a token of another key. */
  keyOf(token: string): Buffer | undefined {
    const id = keyIdOf(token);
    return this.config.auth.signingKeys.find((key) => key.id === id)?.key;
  }

  private signingKey(id?: string): SigningKey {
    const keys = this.config.auth.signingKeys;
    const key = id === undefined ? keys[0] : keys.find((candidate) => candidate.id === id);
    if (key) return key;
    if (id === undefined) throw new Error('There is no key to sign with');
    throw conflict('TOKEN.KEY_REMOVED', 'The key that signed this token has been removed. Make another token.');
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}
