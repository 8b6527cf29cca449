import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import type { Mount } from './entities/mount.entity';

/** A mount where it is attached, and whether it was deleted since. */
export type AttachedMount = Mount & { deleted: boolean };

/** Asks the domain that attaches mounts where they are attached. */
export abstract class MountUse {
  /** Throws a 404 unless the tenant has the cluster. */
  abstract assertCluster(scope: TenantScope, clusterId: number): Promise<void>;

  /** Admits the mounts that the cluster does not have. */
  abstract notAttachedTo(clusterId: number): ResourceFilter<Mount>;

  /** Answers the ids of all mounts of each cluster that the mount is attached to. */
  abstract besides(tx: Tx, scope: TenantScope, mountId: number): Promise<number[][]>;
}
