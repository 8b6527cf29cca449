import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { FairBulkhead } from '../../../../platform/kernel/process/fair-bulkhead';

/**
 * Hashing uses the libuv thread pool, four threads that also read files and resolve names. Half of them stay free; a
 * machine with one core hashes one at a time. A hash takes about 20 ms.
 */
const hashing = new FairBulkhead({
  code: 'AUTH.BUSY',
  maxConcurrent: Math.min(2, availableParallelism()),
  maxQueued: 64,
  maxQueuedPerParty: 32,
  queueTimeoutMs: 5_000,
});

/** Returns the bulkhead party of a signed-in user. Before login, the client's network is the party. */
export function partyOf({ userId }: { userId: number }): string {
  return `user:${userId}`;
}

/**
 * Hashes with the library's defaults: argon2id at the strength that OWASP recommends. Throws 503 `AUTH.BUSY` if too
 * many passwords are queued.
 * @param party the requester, for fair queuing
 */
export function hashPassword(password: string, party: string): Promise<string> {
  return hashing.run(party, () => hash(password));
}

let decoyHash: Promise<string> | null = null;

/**
 * Returns true if the password matches the stored hash. Without a hash, as for an unknown user, it takes the same time
 * and returns false, so that response times do not reveal accounts. Throws like {@link hashPassword}.
 * @param readStored runs after queuing, so that attempts refused in a flood cost no database query
 */
export function passwordMatches(
  readStored: () => Promise<string | null>,
  password: string,
  party: string,
): Promise<boolean> {
  return hashing.run(party, async () => {
    const stored = await readStored();
    const decoy = await (decoyHash ??= hash('the password of nobody'));
    const matches = await verify(stored ?? decoy, password);
    return matches && stored !== null;
  });
}
