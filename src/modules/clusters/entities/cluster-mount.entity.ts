import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

const KEY = { type: 'bigint', primaryKeyConstraintName: 'pk_cluster_mounts' } as const;

/** A mount that is attached to a cluster. */
@Entity('cluster_mounts')
@Index('ix_cluster_mounts_mount', ['tenantId', 'mountId'])
@ForeignKey('Cluster', ['tenantId', 'clusterId'], ['tenantId', 'clusterId'], { name: 'fk_cluster_mounts_cluster' })
@ForeignKey('Mount', ['tenantId', 'mountId'], ['tenantId', 'mountId'], { name: 'fk_cluster_mounts_mount' })
export class ClusterMount {
  @PrimaryColumn({ ...KEY, type: 'uuid', name: 'tenant_id' }) tenantId: string;
  @PrimaryColumn({ ...KEY, name: 'cluster_id' }) clusterId: string;
  @PrimaryColumn({ ...KEY, name: 'mount_id' }) mountId: string;
}
