import { Check, Entity, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

@Entity('volume_confs')
@Unique('uq_volume_confs_tenant_id', ['tenant_id', 'volume_conf_id'])
@Index('uq_volume_confs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_volume_confs_list', ['tenant_id', 'volume_conf_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_volume_confs_name_part', 'name', { where: CURRENT })
@Check('ck_volume_confs_numbers', 'machine_volume_num >= 1 AND machine_volume_strip_num >= 1 AND size >= 1')
@RecordKind({ code: 'VOLUME_CONF', label: 'volume configuration' })
export class VolumeConf extends TenantColumns {
  @Col.identity() volume_conf_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @Col.bool() encrypted: boolean;
  /** GB */
  @Col.bigint() size: number;
  @Col.int() disk_type_id: number;
  @Col.bigint() machine_volume_num: number;
  @Col.bigint() machine_volume_strip_num: number;
  @Col.bigint({ nullable: true }) disk_iops: number | null;
  @Col.bigint({ nullable: true }) disk_throughput_mb: number | null;
}
