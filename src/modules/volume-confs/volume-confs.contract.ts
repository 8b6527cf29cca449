import { Field } from '../../platform/http/fields';
import { DiskTypeInfo } from '../reference-data/reference-data.contract';

/** Fields of a volume configuration that every answer about it has. */
export class VolumeFields {
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean() encrypted: boolean;
  @Field.object(() => DiskTypeInfo) disk_type: DiskTypeInfo;
  @Field.int64({ description: 'GB' }) size: number;
  @Field.int64() machine_volume_num: number;
  @Field.int64() machine_volume_strip_num: number;
  @Field.int64({ nullable: true }) disk_iops: number | null;
  @Field.int64({ nullable: true }) disk_throughput_MB: number | null;
}

/** What the database answers for a volume configuration, without audit. */
export interface VolumeData {
  volume_conf_id: number;
  name: string;
  description: string | null;
  encrypted: boolean;
  size: number;
  disk_type_id: number;
  machine_volume_num: number;
  machine_volume_strip_num: number;
  disk_iops: number | null;
  disk_throughput_mb: number | null;
}
