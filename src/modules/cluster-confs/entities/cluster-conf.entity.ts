import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** The machine that each node of a cluster gets, and its disks. */
@Entity('cluster_confs')
@Unique('uq_cluster_confs_tenant_id', ['tenantId', 'clusterConfId'])
@Index('uq_cluster_confs_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_cluster_confs_list', ['tenantId', 'clusterConfId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_cluster_confs_name_part', 'name', { where: CURRENT })
@Index('ix_cluster_confs_machine_type', ['tenantId', 'machineTypeId', 'clusterConfId'], { where: CURRENT })
@Index('ix_cluster_confs_volume_conf', ['tenantId', 'volumeConfId'])
@ForeignKey('VolumeConf', ['tenantId', 'volumeConfId'], ['tenantId', 'volumeConfId'], {
  name: 'fk_cluster_confs_volume_conf',
})
export class ClusterConf extends TenantColumns {
  @Col.identity('cluster_conf_id', 'pk_cluster_confs') clusterConfId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('MachineType', { name: 'fk_cluster_confs_machine_type' })
  @Col.int('machine_type_id')
  machineTypeId: number;
  @Col.bigint('volume_conf_id', { nullable: true }) volumeConfId: string | null;
}
