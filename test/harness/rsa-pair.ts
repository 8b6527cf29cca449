import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface RsaPair {
  publicKey: KeyObject;
  /** PKCS #8, PEM. */
  privateKey: string;
}

let shared: RsaPair | null = null;

/** A pair that no other has; a slow machine takes a second for it. */
export function newRsaPair(): RsaPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: createPublicKey(publicKey), privateKey };
}

/** The pair of a whole file of tests. */
export function rsaPair(): RsaPair {
  return (shared ??= newRsaPair());
}
