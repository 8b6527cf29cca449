import { invalidField, notFound } from '../../../../platform/kernel/errors/domain-error';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import type { DiskTypeInfo, LookupRecords, ReferenceData } from '../../../foundation/reference-data';
import {
  diskViolation,
  type DiskShape,
  diskSize,
  keptShape,
  type VolumeData,
} from '../../../infrastructure/environments';
import type { CreateCluster, UpdateCluster } from './dto/cluster-input.dto';
import type { DiskColumns } from '../model/entities/cluster.entity';

/** The disk fields of the cluster itself; null if the volume of its configuration decides. */
export interface OwnDisks extends DiskShape {
  typeId: number | null;
  number: number | null;
}

/** The disks of each node: the cluster's own fields, with those of the volume as defaults. */
export interface ClusterDisks {
  volume: VolumeData | null;
  type: DiskTypeInfo;
  number: number;
  /** GB */
  size: number;
  iops: number | null;
  throughputMb: number | null;
}

const NONE: OwnDisks = { typeId: null, size: null, iops: null, throughputMb: null, number: null };

export function ownDisks(row: DiskColumns): OwnDisks {
  return {
    typeId: row.disk_type_id,
    size: row.disk_size,
    iops: row.disk_iops,
    throughputMb: row.disk_throughput_mb,
    number: row.number_of_disks,
  };
}

export function diskColumns(own: OwnDisks): DiskColumns {
  return {
    disk_type_id: own.typeId,
    disk_iops: own.iops,
    disk_throughput_mb: own.throughputMb,
    disk_size: own.size,
    number_of_disks: own.number,
  };
}

/** Returns the disk fields of a request, with the kept values as defaults. */
export function requestedDisks(body: CreateCluster | UpdateCluster, kept: OwnDisks = NONE): OwnDisks {
  return {
    typeId: body.disk_type_id === undefined ? kept.typeId : body.disk_type_id,
    size: body.size ?? kept.size,
    iops: body.disk_iops ?? kept.iops,
    throughputMb: body.disk_throughput_MB ?? kept.throughputMb,
    number: body.number_of_disks ?? kept.number,
  };
}

/**
 * Returns the disk fields after an update. Another disk type keeps the values that it supports; null clears all fields.
 */
export function changedDisks(
  row: DiskColumns & { cluster_conf: { volume_conf: VolumeData | null } },
  body: UpdateCluster,
  records: LookupRecords,
): OwnDisks {
  const before = ownDisks(row);
  const { disk_type_id: typeId } = body;
  if (typeId === undefined) return requestedDisks(body, before);
  if (typeId === null) return requestedDisks(body);
  const typeBefore = before.typeId ?? row.cluster_conf.volume_conf?.disk_type_id;
  const disk = records.diskType(typeId);
  // An unknown disk type is reported by the check of the whole draft.
  if (typeBefore === undefined || !disk) return requestedDisks(body, before);
  return requestedDisks(body, { ...before, ...keptShape(typeBefore, before, disk) });
}

/** Returns the disks of each node; null if nothing describes any, or not enough. */
export function clusterDisks(own: OwnDisks, volume: VolumeData | null, records: LookupRecords): ClusterDisks | null {
  const typeId = own.typeId ?? volume?.disk_type_id;
  if (typeId === undefined) return null;
  const type = requireRecord(records.diskType(typeId), 'disk type', typeId);
  const shape = shapeOf(own, volume, type);
  const size = diskSize(shape.size, type);
  if (size === null) return null;
  return { volume, type, ...shape, size, number: own.number ?? volume?.machine_volume_num ?? 1 };
}

/**
 * Throws a 400 or 404 that says which disk field does not fit the others, the disk type or the provider.
 * @param before the own disk type of a cluster that exists, which may be closed
 */
export function checkDisks(
  own: OwnDisks,
  volume: VolumeData | null,
  cloudProviderId: number,
  referenceData: ReferenceData,
  before: number | null | undefined,
): void {
  const typeId = own.typeId ?? volume?.disk_type_id;
  if (typeId === undefined) {
    if (Object.values(own).every((field) => field === null)) return;
    throw invalidField(
      'disk_type_id',
      'CLUSTER.DISK_TYPE_REQUIRED',
      'The cluster configuration has no volume, so the disks of the cluster need a disk_type_id. To clear all disk fields, update it to null.',
    );
  }
  const records = own.typeId === null ? referenceData : referenceData.selectable(typeId, before);
  const type = records.diskType(typeId);
  if (!type) throw notFound('DISK_TYPE.NOT_FOUND', `There is no disk type with id ${typeId}.`);
  if (type.cloud_provider.cloud_provider_id !== cloudProviderId) {
    throw invalidField('disk_type_id', 'CLUSTER.PROVIDER_MISMATCH', 'The disk type belongs to another cloud provider.');
  }
  const size = diskSize(shapeOf(own, volume, type).size, type);
  if (size === null) {
    throw invalidField(
      'size',
      'CLUSTER.DISK_SIZE_REQUIRED',
      `The cluster configuration has no volume, so disks of type ${type.name} need a size in GB.`,
    );
  }
  // The volume's own values were checked when it was written. Bounds may have changed since.
  const chosenSize = own.typeId === null ? own.size : size;
  const violation = diskViolation(type, { size: chosenSize, iops: own.iops, throughputMb: own.throughputMb });
  if (violation) throw invalidField(violation.field, 'CLUSTER.DISK_OUT_OF_BOUNDS', violation.message);
}

/** Returns the cluster's own size and speeds, with the volume's as defaults as far as the disk type supports them. */
function shapeOf(own: OwnDisks, volume: VolumeData | null, type: DiskTypeInfo): DiskShape {
  const { disk_type_id: typeId, size, disk_iops: iops, disk_throughput_mb: throughputMb } = volume ?? NO_VOLUME;
  const kept = keptShape(typeId ?? type.disk_type_id, { size, iops, throughputMb }, type);
  return {
    size: own.size ?? kept.size,
    iops: own.iops ?? kept.iops,
    throughputMb: own.throughputMb ?? kept.throughputMb,
  };
}

const NO_VOLUME = { disk_type_id: null, size: null, disk_iops: null, disk_throughput_mb: null };
