import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

const KEY = { type: 'bigint', primaryKeyConstraintName: 'pk_cluster_mounts' } as const;

@Entity('cluster_mounts')
@Index('ix_cluster_mounts_mount', ['tenant_id', 'mount_id'])
@ForeignKey('Cluster', ['tenant_id', 'cluster_id'], ['tenant_id', 'cluster_id'], { name: 'fk_cluster_mounts_cluster' })
@ForeignKey('Mount', ['tenant_id', 'mount_id'], ['tenant_id', 'mount_id'], { name: 'fk_cluster_mounts_mount' })
export class ClusterMount {
  @PrimaryColumn({ ...KEY, type: 'uuid' }) tenant_id: string;
  @PrimaryColumn({ ...KEY }) cluster_id: number;
  @PrimaryColumn({ ...KEY }) mount_id: number;
}
