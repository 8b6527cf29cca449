import { hash, verify } from '@node-rs/argon2';

/** The library's defaults are argon2id at the strength that OWASP recommends. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

let nobodysHash: Promise<string> | null = null;

/**
 * Whether the password is the account's. Without a hash, as for an unknown user, it takes the same time and is false,
 * so that the time does not tell who has an account.
 */
export async function passwordMatches(stored: string | null, password: string): Promise<boolean> {
  const decoy = await (nobodysHash ??= hashPassword('the password of nobody'));
  const matches = await verify(stored ?? decoy, password);
  return matches && stored !== null;
}
