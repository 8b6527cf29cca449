import type { RunMount } from '../../../../../libs/contracts/agent-protocol';
import { storeClash } from '../../../../../libs/spark/mounts';
import { hadoopStore } from '../../../../../libs/spark/store-properties';
import { invalid } from '../../../../platform/kernel/errors/domain-error';

/** A mount as far as it matters to the others of its cluster. */
export interface PlacedMount {
  id: number;
  name: string;
  credentialsId: number;
  /** As a node gets it, except for the credentials, of which only the Azure account matters. */
  mount: Omit<RunMount, 'credentials'> & { account: string | null };
}

/**
 * Throws a 400 that names the first two mounts which cannot be on one cluster, and says why. The node's own rule
 * decides, so that no cluster accepts mounts with which none of its jobs could start. Mount points may lie within each
 * other: a path belongs to the longest (ADR 0008).
 */
export function assertTogether(mounts: readonly PlacedMount[]): void {
  const placed = mounts.map((mount) => ({ ...mount, store: hadoopStore(withStandIns(mount)) }));
  placed.forEach((mount, index) => {
    for (const other of placed.slice(0, index)) {
      const sharesStore = mount.store.scope === other.store.scope;
      const reason =
        sharesStore && mount.credentialsId !== other.credentialsId
          ? `both open ${mount.store.scope}, with different credentials`
          : storeClash(mount.store, other.store);
      if (reason === null) continue;
      throw invalid(
        'MOUNT.CONFLICT',
        `The mounts "${other.name}" and "${mount.name}" cannot be on one cluster: ${reason}.`,
        { mounts: [other, mount].map(({ id, name }) => ({ mount_id: id, name })) },
      );
    }
  });
}

const CREDENTIAL_KEYS = [
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_DEFAULT_REGION', 'S3_ENDPOINT'],
  ...['CLIENT_EMAIL', 'PRIVATE_KEY_ID', 'PRIVATE_KEY', 'TENANT_ID', 'CLIENT_ID', 'CLIENT_SECRET'],
];

/**
 * The mount with placeholder credentials that are equal if they are the same record, so that none have to be decrypted.
 */
function withStandIns({ mount: { account, ...mount }, credentialsId }: PlacedMount): RunMount {
  const standIns = Object.fromEntries(CREDENTIAL_KEYS.map((key) => [key, `credentials ${credentialsId}`]));
  return { ...mount, credentials: { ...standIns, STORAGE_ACCOUNT_NAME: account ?? '' } };
}
