import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface RsaPair {
  publicKey: KeyObject;
  /** PKCS #8, PEM. */
  privateKey: string;
}

let shared: RsaPair | null = null;

/** Returns a new key pair, which takes a second on a slow machine. */
export function newRsaPair(): RsaPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: createPublicKey(publicKey), privateKey };
}

/** Returns the key pair that a whole test file shares. */
export function rsaPair(): RsaPair {
  return (shared ??= newRsaPair());
}
