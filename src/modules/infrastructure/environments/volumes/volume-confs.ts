import { Field } from '../../../../platform/kernel/dto/fields';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import { DiskTypeInfo } from '../../../foundation/reference-data';
import { VolumeConf } from './entities/volume-conf.entity';

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

/** A volume configuration without audit. */
export type VolumeData = Own<VolumeConf>;

/** SQL of {@link VolumeData} as one jsonb value. */
export function volumeJson(alias: string): string {
  return recordJson(alias, VolumeConf);
}

/** Size and speeds of a disk; null where the type decides. */
export interface DiskShape {
  /** GB */
  size: number | null;
  iops: number | null;
  throughputMb: number | null;
}

/** The size in GB, which a type of fixed size supplies; null if one must be given. */
export function diskSize(size: number | null, disk: DiskTypeInfo): number | null {
  return size ?? (disk.has_fixed_size ? disk.min_size : null);
}

/**
 * What a disk keeps when its type becomes `disk`: everything if it already has that type, otherwise the size, unless
 * the new type decides it, and the speeds that the new type supports.
 */
export function keptShape(typeBefore: number, before: DiskShape, disk: DiskTypeInfo): DiskShape {
  if (typeBefore === disk.disk_type_id) return before;
  const { size, iops, throughputMb } = before;
  const fits = (speeds: Partial<DiskShape>) =>
    diskMisfit(disk, { size: null, iops: null, throughputMb: null, ...speeds }) === null;
  return {
    size: disk.has_fixed_size ? null : size,
    iops: fits({ iops }) ? iops : null,
    throughputMb: fits({ throughputMb }) ? throughputMb : null,
  };
}

/** The first field that the disk type does not accept, and why in a sentence; null if all fit. */
export function diskMisfit(
  disk: DiskTypeInfo,
  { size, iops, throughputMb }: DiskShape,
): { field: 'size' | 'disk_iops' | 'disk_throughput_MB'; message: string } | null {
  const bounds = [
    ['size', size, disk.min_size, disk.max_size],
    ['disk_iops', iops, disk.min_iops, disk.max_iops],
    ['disk_throughput_MB', throughputMb, disk.min_throughput, disk.max_throughput],
  ] as const;
  for (const [field, value, min = null, max = null] of bounds) {
    if (value === null) continue;
    // A speed without bounds cannot be set for disks of this type.
    if (min === null && max === null) return { field, message: `Disk type ${disk.name} takes no ${field}.` };
    if ((min ?? 0) <= value && value <= (max ?? Number.MAX_SAFE_INTEGER)) continue;
    const message = `${field} ${value} is outside the range ${min ?? 0} to ${max ?? 'any'} of disk type ${disk.name}.`;
    return { field, message };
  }
  return null;
}
