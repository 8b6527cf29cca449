import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import {
  COMPUTE_TYPES,
  type LookupRecords,
  MachineTypeInfo,
  type MachineTypeRecord,
  type ReferenceData,
} from '../../../foundation/reference-data';
import { type VolumeData, VolumeFields, volumeJson } from '../volumes/volume-confs';
import { ClusterConf } from './entities/cluster-conf.entity';

/** The volume configuration of a cluster configuration. */
@About('A reference to a volume configuration.')
export class VolumeSummary extends VolumeFields {
  @Field.id() volume_conf_id: number;
  @Field.text({ description: 'Name of the volume configuration, unique in the tenant' }) name: string;
  @Field.int64({ description: 'The same as machine_volume_num' }) disk_num: number;
  @Field.int64({ description: 'The same as size' }) disk_size: number;
}

/** A cluster configuration inside another record. */
@About('A reference to a cluster configuration.')
export class ClusterConfRef {
  @Field.id() cluster_conf_id: number;
  @Field.text({ description: 'Name of the cluster configuration, unique in the tenant' }) cluster_conf_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(COMPUTE_TYPES, { description: 'Workload that the machine type is meant for' })
  machine_type_category: string;
  @Field.object(() => MachineTypeInfo, { description: 'The machine type of each node' }) machine_type: MachineTypeInfo;
  @Field.object(() => VolumeSummary, {
    nullable: true,
    description: 'The disks of each node; null if there is no volume configuration',
  })
  machine_volume_conf: VolumeSummary | null;
}

export interface ClusterConfRefs {
  volume_conf: VolumeData | null;
}

/** A cluster configuration with its volume, without audit fields. */
export type ClusterConfData = Own<ClusterConf> & ClusterConfRefs;

/** Returns SQL for {@link ClusterConfData} as one jsonb value. Needs {@link clusterConfJoins} with the same aliases. */
export function clusterConfJson(cc = 'cc', vc = 'vc'): string {
  return recordJson(cc, ClusterConf, { nested: { volume_conf: volumeOfClusterConf(vc) } });
}

/** Returns SQL for the volume as one jsonb value, or null if there is none. Needs {@link clusterConfJoins}. */
export function volumeOfClusterConf(vc = 'vc'): string {
  return `CASE WHEN ${vc}.volume_conf_id IS NOT NULL THEN ${volumeJson(vc)} END`;
}

/** Returns SQL that joins the volume. `cc` is the alias of the cluster configuration. */
export function clusterConfJoins(cc = 'cc', vc = 'vc'): string {
  return `LEFT JOIN volume_confs ${vc} ON ${vc}.tenant_id = ${cc}.tenant_id AND ${vc}.volume_conf_id = ${cc}.volume_conf_id`;
}

export function clusterConfRef(data: ClusterConfData, referenceData: ReferenceData): ClusterConfRef {
  const machine = machineTypeOf(data, referenceData);
  return {
    cluster_conf_id: data.cluster_conf_id,
    cluster_conf_name: data.name,
    description: data.description,
    machine_type_category: machine.category,
    machine_type: machine.info,
    machine_volume_conf: data.volume_conf && volumeSummary(data.volume_conf, referenceData),
  };
}

/** Throws if the machine type does not exist. */
export function machineTypeOf(
  data: Pick<ClusterConfData, 'machine_type_id'>,
  records: LookupRecords,
): MachineTypeRecord {
  return requireRecord(records.machineType(data.machine_type_id), 'machine type', data.machine_type_id);
}

function volumeSummary(volume: VolumeData, referenceData: ReferenceData): VolumeSummary {
  const { disk_type_id, disk_throughput_mb, ...rest } = volume;
  return {
    ...rest,
    disk_type: requireRecord(referenceData.diskType(disk_type_id), 'disk type', disk_type_id),
    disk_throughput_MB: disk_throughput_mb,
    disk_num: volume.machine_volume_num,
    disk_size: volume.size,
  };
}
