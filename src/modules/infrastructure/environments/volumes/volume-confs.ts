import { Field } from '../../../../platform/kernel/dto/fields';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import { DiskTypeInfo } from '../../../foundation/reference-data';
import { VolumeConf } from './entities/volume-conf.entity';

/** Fields that every response with a volume configuration has. */
export class VolumeFields {
  @Field.text({ nullable: true }) description: string | null;
  @Field.boolean() encrypted: boolean;
  @Field.object(() => DiskTypeInfo) disk_type: DiskTypeInfo;
  @Field.int64({ description: 'Size of each disk in GB' }) size: number;
  @Field.int64() machine_volume_num: number;
  @Field.int64() machine_volume_strip_num: number;
  @Field.int64({ nullable: true }) disk_iops: number | null;
  @Field.int64({ nullable: true }) disk_throughput_MB: number | null;
}

/** A volume configuration without audit fields. */
export type VolumeData = Own<VolumeConf>;

/** Returns SQL for {@link VolumeData} as one jsonb value. */
export function volumeJson(alias: string): string {
  return recordJson(alias, VolumeConf);
}

/** Size and performance of a disk. Null leaves a value to the disk type. */
export interface DiskShape {
  /** GB */
  size: number | null;
  iops: number | null;
  throughputMb: number | null;
}

/** Returns the size in GB, which a disk type of fixed size supplies; null if it is missing. */
export function diskSize(size: number | null, disk: DiskTypeInfo): number | null {
  return size ?? (disk.has_fixed_size ? disk.min_size : null);
}

/**
 * Returns the values that a disk keeps when its type changes to `disk`: all if the type stays the same, otherwise the
 * size, unless the new type fixes it, and the performance values that the new type supports.
 */
export function keptShape(typeBefore: number, before: DiskShape, disk: DiskTypeInfo): DiskShape {
  if (typeBefore === disk.disk_type_id) return before;
  const { size, iops, throughputMb } = before;
  const fits = (performance: Partial<DiskShape>) =>
    diskViolation(disk, { size: null, iops: null, throughputMb: null, ...performance }) === null;
  return {
    size: disk.has_fixed_size ? null : size,
    iops: fits({ iops }) ? iops : null,
    throughputMb: fits({ throughputMb }) ? throughputMb : null,
  };
}

/** Returns the first value that the disk type does not accept, with a message; null if all are valid. */
export function diskViolation(
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
    // The disk type does not support setting a value that has no bounds.
    if (min === null && max === null) return { field, message: `Disk type ${disk.name} does not support ${field}.` };
    if ((min ?? 0) <= value && value <= (max ?? Number.MAX_SAFE_INTEGER)) continue;
    const message = `${field} ${value} is outside the range ${min ?? 0} to ${max ?? 'any'} of disk type ${disk.name}.`;
    return { field, message };
  }
  return null;
}
