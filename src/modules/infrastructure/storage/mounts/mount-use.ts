import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import type { Mount } from './entities/mount.entity';

/** A mount that is attached to a cluster; it may have been deleted since. */
export type AttachedMount = Mount & { deleted: boolean };

/** Port to the domain that attaches mounts to clusters. */
export abstract class MountUse {
  /** Throws 404 unless the tenant has the cluster. */
  abstract assertCluster(scope: TenantScope, clusterId: number): Promise<void>;

  /** Filters out mounts that are attached to the cluster. */
  abstract notAttachedTo(clusterId: number): ResourceFilter<Mount>;

  /** For each cluster that the mount is attached to, returns the ids of all its mounts. */
  abstract mountIdsByCluster(tx: Tx, scope: TenantScope, mountId: number): Promise<number[][]>;
}
