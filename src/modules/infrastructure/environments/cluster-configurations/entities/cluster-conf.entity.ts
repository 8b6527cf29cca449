import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** The machine type and disks of a cluster's nodes. */
@Entity('cluster_confs')
@Unique('uq_cluster_confs_tenant_id', ['tenant_id', 'cluster_conf_id'])
@Index('uq_cluster_confs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_cluster_confs_list', ['tenant_id', 'cluster_conf_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_cluster_confs_name_part', 'name', { where: CURRENT })
@Index('ix_cluster_confs_machine_type', ['tenant_id', 'machine_type_id', 'cluster_conf_id'], { where: CURRENT })
@Index('ix_cluster_confs_volume_conf', ['tenant_id', 'volume_conf_id'])
@ForeignKey('VolumeConf', ['tenant_id', 'volume_conf_id'], ['tenant_id', 'volume_conf_id'], {
  name: 'fk_cluster_confs_volume_conf',
})
@RecordKind({ code: 'CLUSTER_CONF', label: 'cluster configuration' })
export class ClusterConf extends TenantColumns {
  @Col.identity('pk_cluster_confs') cluster_conf_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('MachineType', { name: 'fk_cluster_confs_machine_type' })
  @Col.int()
  machine_type_id: number;
  @Col.bigint({ nullable: true }) volume_conf_id: number | null;
}
