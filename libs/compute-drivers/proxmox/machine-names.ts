import { createHash } from 'node:crypto';
import type { OwnershipLabels } from '../compute-driver';

/** Ids of machines: high ones, which nobody gets who takes the next free one. */
const [FIRST_ID, ID_COUNT] = [100_000_000, 800_000_000];
/** How many ids a node may have, the next where the one before is somebody else's machine. */
const CANDIDATES = 4;

/** The same ids each time, so that two who make a node at once want the same one, which only one of them gets. */
export function idsOf(nodeToken: string): number[] {
  return Array.from(
    { length: CANDIDATES },
    (_, n) => FIRST_ID + (parseInt(digest(`${n}:${nodeToken}`).slice(0, 12), 16) % ID_COUNT),
  );
}

export function isIdOf(nodeToken: string, vmid: number): boolean {
  return idsOf(nodeToken).includes(vmid);
}

/** The name of a node's machine. */
export function nameOf({ installationId, nodeToken }: OwnershipLabels): string {
  return prefixOf(installationId) + digest(nodeToken).slice(0, 16);
}

/** What the names of all machines of an installation begin with. */
export function prefixOf(installationId: string): string {
  return `platform-${installationHash(installationId)}-`;
}

/** What tells the installation in the name of an image. */
export function installationHash(installationId: string): string {
  return digest(installationId).slice(0, 8);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
