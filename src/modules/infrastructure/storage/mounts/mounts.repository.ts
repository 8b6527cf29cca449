import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import type { AuthorNames } from '../../../../platform/kernel/dto/answers';
import { firstRow, rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { type ResourceFilter, ResourceRepository } from '../../../../platform/http/resources/resource-repository';
import { type CredentialsConfData, credentialsConfJson } from '../../environments';
import { Mount } from './entities/mount.entity';

export type MountRow = Mount & AuthorNames & { credentials_conf: CredentialsConfData };

/** Mounts, and (only reading `cluster_mounts`) where they are attached. A deleted mount stays where it was attached. */
@Injectable()
export class MountsRepository extends ResourceRepository<Mount, MountRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Mount,
      further: `${credentialsConfJson('mc')} AS credentials_conf`,
      joins: `JOIN credentials_confs mc ON mc.tenant_id = t.tenant_id
        AND mc.credentials_conf_id = t.credentials_conf_id`,
    });
  }

  /** Those that the cluster does not have; all without one. */
  notAttachedTo(clusterId: number | undefined): ResourceFilter<Mount> {
    return (conditions) =>
      conditions.addIf(
        clusterId !== undefined,
        `NOT EXISTS (SELECT 1 FROM cluster_mounts cm
           WHERE cm.tenant_id = t.tenant_id AND cm.mount_id = t.mount_id AND cm.cluster_id = ?)`,
        clusterId,
      );
  }

  /** Mounts attached to a cluster, by mount point, and whether each was deleted. */
  async ofCluster(tx: Tx, tenantId: string, clusterId: number): Promise<(Mount & { deleted: boolean })[]> {
    return rows<Mount & { deleted: boolean }>(
      tx,
      `SELECT t.*, t.to_date < 'infinity' AS deleted FROM mounts t
         JOIN cluster_mounts cm ON cm.tenant_id = t.tenant_id AND cm.mount_id = t.mount_id
       WHERE ${ofTenant('cm', '$1')} AND cm.cluster_id = $2 ORDER BY t.mount_point, t.mount_id`,
      [tenantId, clusterId],
    );
  }

  /** For each cluster that the mount is attached to, the ids of all its mounts. */
  async besides(tx: Tx, scope: TenantScope, mountId: number): Promise<number[][]> {
    const clusters = await rows<{ mount_ids: number[] }>(
      tx,
      `SELECT jsonb_agg(cm.mount_id) AS mount_ids FROM cluster_mounts own
         JOIN cluster_mounts cm ON cm.tenant_id = own.tenant_id AND cm.cluster_id = own.cluster_id
       WHERE ${ofTenant('own', '$1')} AND own.mount_id = $2 GROUP BY cm.cluster_id`,
      [scope.tenantId, mountId],
    );
    return clusters.map(({ mount_ids }) => mount_ids);
  }

  /** 404 unless the tenant has the cluster. */
  async assertCluster(scope: TenantScope, clusterId: number): Promise<void> {
    const cluster = await firstRow(
      this.dataSource.manager,
      `SELECT 1 FROM clusters t WHERE ${ofTenant('t', '$1')} AND cluster_id = $2`,
      [scope.tenantId, clusterId],
    );
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
  }
}
