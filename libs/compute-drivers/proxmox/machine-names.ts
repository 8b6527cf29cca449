import { createHash } from 'node:crypto';
import type { OwnershipLabels } from '../compute-driver';

/** Range of the machines' ids. It is high, so that users who take the next free id do not get one of it. */
const [FIRST_ID, ID_COUNT] = [100_000_000, 800_000_000];
/** Candidate ids of a node. The next one is used if another machine has the one before. */
const CANDIDATES = 4;

/** Returns the same ids for each call, so that only one of two concurrent calls can create the machine. */
export function idsOf(nodeToken: string): number[] {
  return Array.from(
    { length: CANDIDATES },
    (_, n) => FIRST_ID + (parseInt(digest(`${n}:${nodeToken}`).slice(0, 12), 16) % ID_COUNT),
  );
}

export function isIdOf(nodeToken: string, vmid: number): boolean {
  return idsOf(nodeToken).includes(vmid);
}

export function nameOf({ installationId, nodeToken }: OwnershipLabels): string {
  return prefixOf(installationId) + digest(nodeToken).slice(0, 16);
}

/** Returns the prefix of the names of all machines of an installation. */
export function prefixOf(installationId: string): string {
  return `platform-${installationHash(installationId)}-`;
}

/** Identifies the installation in the name of a seed image. */
export function installationHash(installationId: string): string {
  return digest(installationId).slice(0, 8);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
