import { Check, Entity, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

@Entity('volume_confs')
@Unique('uq_volume_confs_tenant_id', ['tenantId', 'volumeConfId'])
@Index('uq_volume_confs_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_volume_confs_list', ['tenantId', 'volumeConfId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_volume_confs_name_part', 'name', { where: CURRENT })
@Check('ck_volume_confs_numbers', 'machine_volume_num >= 1 AND machine_volume_strip_num >= 1 AND size >= 1')
export class VolumeConf extends TenantColumns {
  @Col.identity('volume_conf_id') volumeConfId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @Col.bool('encrypted') encrypted: boolean;
  /** GB */
  @Col.bigint('size') size: string;
  @Col.int('disk_type_id') diskTypeId: number;
  @Col.bigint('machine_volume_num') machineVolumeNum: string;
  @Col.bigint('machine_volume_strip_num') machineVolumeStripNum: string;
  @Col.bigint('disk_iops', { nullable: true }) diskIops: string | null;
  @Col.bigint('disk_throughput_mb', { nullable: true }) diskThroughputMb: string | null;
}
