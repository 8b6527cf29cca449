import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { firstRow, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { MountUse } from '../../../infrastructure/storage';

/** Reads the clusters that use mounts. A deleted mount stays attached to its clusters. */
@Injectable()
export class ClusterMountUse extends MountUse {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async assertCluster(scope: TenantScope, clusterId: number): Promise<void> {
    const cluster = await firstRow(
      this.dataSource.manager,
      `SELECT 1 FROM clusters t WHERE ${ofTenant('t', '$1')} AND cluster_id = $2`,
      [scope.tenantId, clusterId],
    );
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
  }

  notAttachedTo(clusterId: number): ReturnType<MountUse['notAttachedTo']> {
    return (conditions) =>
      conditions.add(
        `NOT EXISTS (SELECT 1 FROM cluster_mounts cm
           WHERE cm.tenant_id = t.tenant_id AND cm.mount_id = t.mount_id AND cm.cluster_id = ?)`,
        clusterId,
      );
  }

  async mountIdsByCluster(tx: Tx, scope: TenantScope, mountId: number): Promise<number[][]> {
    const clusters = await rows<{ mount_ids: number[] }>(
      tx,
      `SELECT jsonb_agg(cm.mount_id) AS mount_ids FROM cluster_mounts own
         JOIN cluster_mounts cm ON cm.tenant_id = own.tenant_id AND cm.cluster_id = own.cluster_id
       WHERE ${ofTenant('own', '$1')} AND own.mount_id = $2 GROUP BY cm.cluster_id`,
      [scope.tenantId, mountId],
    );
    return clusters.map(({ mount_ids }) => mount_ids);
  }
}
