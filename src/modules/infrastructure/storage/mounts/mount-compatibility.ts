import type { RunMount } from '../../../../../libs/contracts/agent-protocol';
import { storeClash } from '../../../../../libs/spark/mounts';
import { hadoopStore } from '../../../../../libs/spark/store-properties';
import { invalid } from '../../../../platform/kernel/errors/domain-error';

/** A mount with the properties that can conflict with other mounts of a cluster. */
export interface LocatedMount {
  id: number;
  name: string;
  credentialsId: number;
  /** The mount as nodes receive it, without credentials except for the Azure account. */
  mount: Omit<RunMount, 'credentials'> & { account: string | null };
}

/**
 * Throws 400 for the first two mounts that cannot be on one cluster, with the reason. It applies the rule of the nodes,
 * so that no cluster accepts mounts with which its jobs could not start. Mount points may be nested: a path belongs to
 * the longest mount point (ADR 0008).
 */
export function assertCompatible(mounts: readonly LocatedMount[]): void {
  const withStores = mounts.map((mount) => ({ ...mount, store: hadoopStore(withPlaceholders(mount)) }));
  withStores.forEach((mount, index) => {
    for (const other of withStores.slice(0, index)) {
      const sharesStore = mount.store.scope === other.store.scope;
      const reason =
        sharesStore && mount.credentialsId !== other.credentialsId
          ? `both use ${mount.store.scope}, with different credentials`
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

/** Sets placeholder credentials, equal for the same credentials record, so that nothing has to be decrypted. */
function withPlaceholders({ mount: { account, ...mount }, credentialsId }: LocatedMount): RunMount {
  const placeholders = Object.fromEntries(CREDENTIAL_KEYS.map((key) => [key, `credentials ${credentialsId}`]));
  return { ...mount, credentials: { ...placeholders, STORAGE_ACCOUNT_NAME: account ?? '' } };
}
