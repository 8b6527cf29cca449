import { Injectable } from '@nestjs/common';
import type { RunMount } from '../../../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { AttachedMountsService, type MountRead, MountsService } from '../../../infrastructure/storage';
import { STORAGE_TYPE_ID, type StorageTypeName } from '../../../foundation/reference-data';
import { ClusterMountsRepository } from './cluster-mounts.repository';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import type { ClusterRow } from './cluster-definitions.repository';
import type { ClusterMountPage, ClusterMountsQuery } from './dto/cluster-mount.dto';

@Injectable()
export class ClusterMountsService {
  constructor(
    private readonly repository: ClusterMountsRepository,
    private readonly clusters: ClusterRowsRepository,
    private readonly mounts: MountsService,
    private readonly attached: AttachedMountsService,
  ) {}

  async list(scope: TenantScope, query: ClusterMountsQuery): Promise<ClusterMountPage> {
    const { cluster_id: clusterId, mount_id: mountId, storage_types: storageTypes } = query;
    if (clusterId === undefined && mountId === undefined) {
      throw invalid('REQUEST.SELECTOR_MISSING', 'One of cluster_id or mount_id is required.');
    }
    if (clusterId !== undefined) await this.clusters.identify(scope, { id: clusterId });
    if (mountId !== undefined) await this.mounts.get(scope, { id: mountId });
    const storageTypeIds = storageTypes?.map((name) => STORAGE_TYPE_ID[name as StorageTypeName]);
    const { data, result_set } = await this.repository.list(scope, { clusterId, mountId, storageTypeIds }, query);
    const mounts = await this.mounts.readAll(scope, [...new Set(data.map(({ mount_id }) => mount_id))]);
    const cluster_mounts = data.flatMap(({ cluster_id, mount_id, name, status }) => {
      const mount = mounts.get(mount_id);
      return mount ? [{ cluster: { cluster_id, name, cluster_status: status }, mount }] : [];
    });
    return { cluster_mounts, result_set };
  }

  /**
   * Attaches exactly these mounts to the cluster. Returns their ids in order. Throws a 404 for a mount that the tenant
   * does not have, and a 400 for two that cannot be on one cluster.
   */
  async replace(tx: Tx, scope: TenantScope, clusterId: number, mountIds: readonly number[]): Promise<number[]> {
    await this.attached.lock(tx, scope, mountIds);
    await this.repository.replace(tx, scope, clusterId, mountIds);
    return [...mountIds].sort((a, b) => a - b);
  }

  /** Locks the mounts of a cluster that is enabled again. All of them must exist and still fit together. */
  async hold(tx: Tx, scope: TenantScope, mountIds: readonly number[]): Promise<void> {
    await this.attached.lock(tx, scope, mountIds);
  }

  /**
   * Returns the mounts of a cluster as its nodes open them, credentials included: see {@link
   * AttachedMountsService.open}.
   */
  async openedFor(tx: Tx, tenantId: string, clusterId: number): Promise<RunMount[]> {
    return this.attached.open(tx, tenantId, clusterId, await this.repository.ofCluster(tx, tenantId, clusterId));
  }

  async of(scope: TenantScope, clusters: readonly ClusterRow[]): Promise<Map<number, MountRead>> {
    return this.mounts.readAll(scope, [...new Set(clusters.flatMap(({ mount_ids }) => mount_ids))]);
  }
}
