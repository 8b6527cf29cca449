import { invalid } from '../../platform/errors/domain-error';
import type { StoreCloudProviderName } from '../object-storage-managers/object-storage-managers.contract';

/** A mount as far as it matters to the others of its cluster. */
export interface PlacedMount {
  id: number;
  name: string;
  provider: StoreCloudProviderName;
  bucket: string;
  /** Storage account; null but for Azure. */
  account: string | null;
  credentialsId: number;
  encryptionTypeId: number | null;
  extraConfigs: Readonly<Record<string, string>>;
}

/** Throws a 400 that names the first two mounts which cannot be on one cluster, and says why. */
export function assertTogether(mounts: readonly PlacedMount[]): void {
  mounts.forEach((mount, index) => {
    for (const other of mounts.slice(0, index)) {
      const reason = conflictOf(other, mount);
      if (reason === null) continue;
      throw invalid(
        'MOUNT.CONFLICT',
        `The mounts "${other.name}" and "${mount.name}" cannot be on one cluster: ${reason}.`,
        { mounts: [other, mount].map(({ id, name }) => ({ mount_id: id, name })) },
      );
    }
  });
}

/** Mount points may lie within each other: a path belongs to the longest (ADR 0008). */
function conflictOf(a: PlacedMount, b: PlacedMount): string | null {
  return storeConflictOf(a, b) ?? propertyConflictOf(a, b);
}

/** Hadoop keeps credentials of S3 by bucket, of Azure by account and of Google once. */
function storeConflictOf(a: PlacedMount, b: PlacedMount): string | null {
  const share = a.credentialsId === b.credentialsId;
  if (isS3(a) && isS3(b) && a.bucket === b.bucket) {
    if (!share) return `both open the bucket ${a.bucket}, with different credentials`;
    if (a.encryptionTypeId !== b.encryptionTypeId) return `both open the bucket ${a.bucket}, with different encryption`;
  }
  if (share || a.provider !== b.provider) return null;
  if (a.provider === 'GCP') return 'all mounts of Google Cloud Storage need the same credentials';
  if (a.provider === 'Azure' && a.account === b.account) {
    return `both open the storage account ${a.account}, with different credentials`;
  }
  return null;
}

function propertyConflictOf(a: PlacedMount, b: PlacedMount): string | null {
  const key = Object.keys(a.extraConfigs).find((name) => {
    const other = b.extraConfigs[name];
    return other !== undefined && other !== a.extraConfigs[name];
  });
  return key === undefined ? null : `their extra_configs give ${key} different values`;
}

function isS3({ provider }: PlacedMount): boolean {
  return provider === 'AWS' || provider === 'OnPrem';
}
