import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { decode, sign } from 'jsonwebtoken';
import { Config } from '../../../../config/config';
import { conflict } from '../../../../platform/kernel/errors/domain-error';

/** The claims of a token. Claims with `keyId`, `issuedAt` and `nonce` always sign to the same token. */
export interface SignedClaims {
  userId: number;
  sessionId: string;
  /** Id of the signing key; defaults to the first key. */
  keyId?: string;
  /** Start of the session in seconds since 1970; defaults to now. */
  issuedAt?: number;
  /** Makes the token unpredictable from what is known of the session; defaults to a random value. */
  nonce?: string;
}

/** SHA-256 of the token, hex. The database stores this instead of the token. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function tokenNonce(): string {
  return randomBytes(12).toString('base64url');
}

/** Signs access tokens with the first configured key, and finds the key that verifies a token. */
@Injectable()
export class AccessTokens {
  /**
   * Keys by their ids, the signing one first. Bytes would cost each request much more than a key does, because jsonwebtoken
   * would first try to read them as a public key.
   */
  private readonly keys: ReadonlyMap<string, KeyObject>;

  constructor(config: Config) {
    this.keys = new Map(config.auth.signingKeys.map(({ id, key }) => [id, createSecretKey(key)]));
  }

  get signingKeyId(): string {
    const [id] = this.keys.keys();
    if (id === undefined) throw new Error('No signing key is configured');
    return id;
  }

  /**
   * @param expiresAt null for a token that never expires; its session can still be revoked
   * @throws a conflict if the key named by the claims has been removed
   */
  sign(claims: SignedClaims, expiresAt: Date | null): string {
    const { keyId = this.signingKeyId } = claims;
    const key = this.keys.get(keyId);
    if (!key)
      throw conflict('TOKEN.KEY_REMOVED', 'The key that signed this token has been removed. Create a new token.');
    return sign(
      {
        sub: String(claims.userId),
        sid: claims.sessionId,
        jti: claims.nonce ?? tokenNonce(),
        ...(claims.issuedAt === undefined ? {} : { iat: claims.issuedAt }),
        ...(expiresAt ? { exp: Math.ceil(expiresAt.getTime() / 1000) } : {}),
      },
      key,
      { algorithm: 'HS256', keyid: keyId },
    );
  }

  /** Returns the key that verifies a token, or undefined if its key id is unknown. */
  keyOf(token: string): KeyObject | undefined {
    const id = keyIdOf(token);
    return id === undefined ? undefined : this.keys.get(id);
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}
