import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

/**
 * Hashing works on the threads on which files are read and names resolved, four in a process: half of them stay free,
 * and a machine with a single core does one at a time. A hash takes some 20 ms.
 */
const hashing = new FairBulkhead({
  code: 'AUTH.BUSY',
  atOnce: Math.min(2, availableParallelism()),
  waiting: 64,
  waitingOfOne: 32,
  patienceMs: 5_000,
});

/** A signed-in user as a party that asks; who is not signed in yet is one by the address. */
export function partyOf({ userId }: { userId: number }): string {
  return `user:${userId}`;
}

/**
 * The library's defaults are argon2id at the strength that OWASP recommends. Throws 503 `AUTH.BUSY` when too many
 * passwords wait.
 * @param party who asks, whose turn it is then
 */
export function hashPassword(password: string, party: string): Promise<string> {
  return hashing.run(party, () => hash(password));
}

let nobodysHash: Promise<string> | null = null;

/**
 * Whether the password is the account's. Without a hash, as for an unknown user, it takes the same time and is false,
 * so that the time does not tell who has an account. Throws like {@link hashPassword}.
 * @param readStored reads the hash when it is this password's turn: what is refused in a flood costs no statement
 */
export function passwordMatches(
  readStored: () => Promise<string | null>,
  password: string,
  party: string,
): Promise<boolean> {
  return hashing.run(party, async () => {
    const stored = await readStored();
    const decoy = await (nobodysHash ??= hash('the password of nobody'));
    const matches = await verify(stored ?? decoy, password);
    return matches && stored !== null;
  });
}
