import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import type { Mount } from './entities/mount.entity';

/** A mount where it is attached, and whether it was deleted since. */
export type AttachedMount = Mount & { deleted: boolean };

/** Where mounts are attached, asked of the domain that attaches them. */
export abstract class MountUse {
  /** 404 unless the tenant has the cluster. */
  abstract assertCluster(scope: TenantScope, clusterId: number): Promise<void>;

  /** Mounts that the cluster does not have. */
  abstract notAttachedTo(clusterId: number): ResourceFilter<Mount>;

  /** For each cluster that the mount is attached to, the ids of all its mounts. */
  abstract besides(tx: Tx, scope: TenantScope, mountId: number): Promise<number[][]>;
}
