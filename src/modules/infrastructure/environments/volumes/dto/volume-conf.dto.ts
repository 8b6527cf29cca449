import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS } from '../../../../foundation/reference-data';
import { VolumeFields } from '../volume-confs';

export class VolumeConfSelector extends RecordSelectorQuery('volume_conf') {}

export class VolumeConfListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
}

export class VolumeConfSearchQuery extends VolumeConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) volume_conf_name: string;
}

@Example({
  name: 'example-volume',
  disk_type_id: 10,
  size: 100,
  encrypted: false,
  machine_volume_num: 1,
  machine_volume_strip_num: 1,
})
@About('The disks of a machine.')
export class CreateVolumeConf {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.boolean() encrypted: boolean;
  @Field.int64({
    optional: true,
    min: 1,
    description: 'Size of each disk in GB, within the bounds of the type; may be absent if the type has a fixed size',
  })
  size?: number;
  @Field.id() disk_type_id: number;
  @Field.int64({ min: 1 }) machine_volume_num: number;
  @Field.int64({ min: 1 }) machine_volume_strip_num: number;
  @Field.int64({
    optional: true,
    nullable: true,
    min: 1,
    description:
      'I/O operations per second of each disk, within the bounds of the type; null or absent for what the type gives',
  })
  disk_iops?: number | null;
  @Field.int64({ optional: true, nullable: true, min: 1 }) disk_throughput_MB?: number | null;
}

@Example({ description: 'Changed by an example' })
@About('Changes to a volume configuration; at least one. Absent fields keep their values.')
export class UpdateVolumeConf {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.boolean({ optional: true }) encrypted?: boolean;
  @Field.int64({ optional: true, min: 1 }) machine_volume_num?: number;
  @Field.int64({ optional: true, min: 1 }) machine_volume_strip_num?: number;
  @Field.int64({ optional: true, min: 1, description: 'Size of each disk in GB, within the bounds of the type' })
  size?: number;
  @Field.id({ optional: true }) disk_type_id?: number;
  @Field.int64({ optional: true, nullable: true, min: 1 }) disk_iops?: number | null;
  @Field.int64({ optional: true, nullable: true, min: 1 }) disk_throughput_MB?: number | null;
}

@About('A volume configuration: number, type, size and speed of the disks of a machine.')
export class VolumeConfRead extends IntersectionType(VolumeFields, ReadAudit) {
  @Field.id() volume_conf_id: number;
  @Field.text({ description: 'Name of the volume configuration, unique in the tenant' }) volume_conf_name: string;
}

@About('A volume configuration as returned by a write. Ids and the size are decimal strings.')
export class VolumeConfWrite extends WriteAudit {
  @Field.idText() volume_conf_id: string;
  @Field.text({ description: 'Name of the volume configuration, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean() encrypted: boolean;
  @Field.idText({ description: 'Size of each disk in GB' }) size: string;
  @Field.idText() disk_type_id: string;
  @Field.text({ description: 'Name of the disk type' }) disk_type_name: string;
  @Field.int64() machine_volume_num: number;
  @Field.int64() machine_volume_strip_num: number;
  @Field.int64({ nullable: true }) disk_iops: number | null;
  @Field.int64({ nullable: true }) disk_throughput_MB: number | null;
}
