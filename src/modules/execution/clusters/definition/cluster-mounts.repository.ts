import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import { pagedRows } from '../../../../platform/kernel/persistence/paged-rows';
import { Conditions, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { AttachedMount } from '../../../infrastructure/storage';
import type { ClusterMount } from '../model/entities/cluster-mount.entity';
import type { Cluster } from '../model/entities/cluster.entity';

type ClusterMountRow = Pick<ClusterMount, 'cluster_id' | 'mount_id'> & Pick<Cluster, 'name' | 'status'>;

export interface ClusterMountFilter {
  clusterId: number | undefined;
  mountId: number | undefined;
  storageTypeIds: readonly number[] | undefined;
}

/** Ids of the mounts attached to the cluster `t`, including deleted ones, as a jsonb array. */
export const MOUNT_IDS = `(SELECT coalesce(jsonb_agg(cm.mount_id ORDER BY cm.mount_id), '[]') FROM cluster_mounts cm
  WHERE cm.tenant_id = t.tenant_id AND cm.cluster_id = t.cluster_id)`;

@Injectable()
export class ClusterMountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns a page of attached mounts, newest clusters and mounts first. */
  async list(scope: TenantScope, filter: ClusterMountFilter, page: PageRequest): Promise<Page<ClusterMountRow>> {
    const { clusterId, mountId, storageTypeIds } = filter;
    const conditions = new Conditions()
      .add(ofTenant('t'), scope.tenantId)
      .addIf(
        storageTypeIds !== undefined,
        `EXISTS (SELECT 1 FROM mounts m WHERE m.tenant_id = t.tenant_id AND m.mount_id = t.mount_id
           AND m.storage_type_id = ANY(?))`,
        storageTypeIds,
      )
      .addIf(clusterId !== undefined, 't.cluster_id = ?', clusterId)
      .addIf(mountId !== undefined, 't.mount_id = ?', mountId);
    return pagedRows<ClusterMountRow>(
      this.dataSource.manager,
      {
        table: 'cluster_mounts',
        key: ['tenant_id', 'cluster_id', 'mount_id'],
        columns: 't.cluster_id, t.mount_id, c.name, c.status',
        joins: 'JOIN clusters c ON c.tenant_id = t.tenant_id AND c.cluster_id = t.cluster_id',
        conditions,
        order: 't.cluster_id DESC, t.mount_id DESC',
      },
      page,
    );
  }

  async ofCluster(tx: Tx, tenantId: string, clusterId: number): Promise<AttachedMount[]> {
    return rows<AttachedMount>(
      tx,
      `SELECT t.*, t.to_date < 'infinity' AS deleted FROM mounts t
         JOIN cluster_mounts cm ON cm.tenant_id = t.tenant_id AND cm.mount_id = t.mount_id
       WHERE ${ofTenant('cm', '$1')} AND cm.cluster_id = $2 ORDER BY t.mount_point, t.mount_id`,
      [tenantId, clusterId],
    );
  }

  /** Attaches exactly these mounts to the cluster. */
  async replace(tx: Tx, scope: TenantScope, clusterId: number, mountIds: readonly number[]): Promise<void> {
    const place = [scope.tenantId, clusterId, mountIds];
    await tx.query(
      `DELETE FROM cluster_mounts t WHERE ${ofTenant('t', '$1')} AND t.cluster_id = $2 AND t.mount_id <> ALL($3::bigint[])`,
      place,
    );
    await tx.query(
      `INSERT INTO cluster_mounts (tenant_id, cluster_id, mount_id) SELECT $1, $2, unnest($3::bigint[])
       ON CONFLICT DO NOTHING`,
      place,
    );
  }
}
