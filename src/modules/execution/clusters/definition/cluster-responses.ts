import { fieldsOf, idText, openEnded, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { toWire } from '../../../../platform/kernel/product/product-name';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { cloudEnvInfo, clusterConfRef, machineTypeOf } from '../../../infrastructure/environments';
import { metastoreCatalogRef } from '../../../infrastructure/metastores';
import { type MountRead, objectStorageManagerRef } from '../../../infrastructure/storage';
import type { ReferenceData } from '../../../foundation/reference-data';
import { type ClusterDisks, clusterDisks, ownDisks } from './cluster-disks';
import type { ClusterRow } from './cluster-definitions.repository';
import {
  type ClusterRead,
  ClusterSummary,
  type ClusterVolume,
  type ClusterVolumeWrite,
  type ClusterWrite,
} from './dto/cluster-responses.dto';
import { stopDestroysNodes } from '../lifecycle/operation-rules';
import { SPARK_CONFIG_KEYS, type SparkConfig } from '../model/dto/spark-config.dto';

/** Striping factor of disks that no volume configuration describes: each disk is on its own. */
const NOT_STRIPED = 1;

/** Returns a cluster in the form of read operations. */
export function readCluster(
  row: ClusterRow,
  mounts: ReadonlyMap<number, MountRead>,
  referenceData: ReferenceData,
): ClusterRead {
  const ycu = machineTypeOf(row.cluster_conf, referenceData).info.machine_price_ycu;
  return {
    cluster_id: row.cluster_id,
    ...common(row),
    idle_timeout_ms: row.idle_timeout_ms,
    stop_destroys_nodes: stopDestroysNodes({ ...row, environment: row.cloud_env }),
    cluster_status: row.status,
    instance_size: row.nodes.length,
    nodes: row.nodes.map((node) => ({
      node_number: node.node_number,
      node_status: node.status,
      node_status_id: node.node_state_id,
      node_ip: node.ip_address,
      warm_drivers: node.warm_drivers,
      from_date: new Date(node.start_time),
      to_date: 'infinity',
    })),
    total_ycu: Math.round(ycu * row.nodes.length * 100) / 100,
    clean_up_timeout: row.clean_up_timeout,
    cluster_conf: clusterConfRef(row.cluster_conf, referenceData),
    cloud_env: cloudEnvInfo(row.cloud_env, referenceData),
    spark_infra_version: requireRecord(
      referenceData.sparkInfraVersion(row.spark_infra_version_id),
      'Spark infra version',
      row.spark_infra_version_id,
    ),
    metastore_catalog: row.metastore_catalog && metastoreCatalogRef(row.metastore_catalog, referenceData),
    object_storage_manager:
      row.object_storage_manager && objectStorageManagerRef(row.object_storage_manager, referenceData),
    machine_volume_config: volumeOf(row, referenceData),
    mounts: row.mount_ids.flatMap((id) => mounts.get(id) ?? []),
    workflow_job_instance_details: workflowOf(row),
    ...readAudit(row),
  };
}

/** Returns a cluster in the form that other records embed. */
export function summarizeCluster(row: ClusterRow, referenceData: ReferenceData): ClusterSummary {
  const cluster = readCluster(row, new Map(), referenceData);
  const { cloud_env_id, cloud_env_name, cloud_provider } = cluster.cloud_env;
  const { cloud_provider_id, name } = cloud_provider;
  const cloudEnv = { cloud_env_id, name: cloud_env_name, cloud_provider: { cloud_provider_id, name } };
  return fieldsOf(ClusterSummary, { ...cluster, cloud_env: cloudEnv });
}

/** Returns a cluster in the form of write operations. */
export function writeCluster(row: ClusterRow, referenceData: ReferenceData): ClusterWrite {
  return {
    cluster_id: idText(row.cluster_id),
    ...common(row),
    cloud_env_id: idText(row.cloud_env_id),
    idle_timeout_ms: idText(row.idle_timeout_ms),
    object_storage_manager_id: idText(row.object_storage_manager_id),
    cluster_conf_id: idText(row.cluster_conf_id),
    metastore_catalog_id: idText(row.metastore_catalog_id),
    mount_ids: row.mount_ids.map((id) => idText(id)),
    spark_infra_version_id: idText(row.spark_infra_version_id),
    clean_up_timeout: idText(row.clean_up_timeout),
    machine_volume_config: volumeWriteOf(row, referenceData),
    ...writeAudit(row),
  };
}

function common(row: ClusterRow) {
  return {
    name: row.name,
    description: row.description,
    labels: row.labels,
    cluster_type: toWire(row.cluster_type),
    is_spot_instance: row.is_spot_instance,
    is_turbo_enabled: row.is_turbo_enabled,
    is_cuda_enabled: row.is_cuda_enabled,
    enable_public_ip: row.enable_public_ip,
    block_project_ssh_keys: row.block_project_ssh_keys,
    bootstrap_shell_script: row.bootstrap_shell_script,
    spark_config: sparkConfigOf(row.spark_config),
    engine_cluster_spark_config: {
      max_parallel_spark_job_execution_per_instance: row.max_parallel_jobs,
      num_of_workers: row.num_of_workers,
      ...(row.cluster_type === 'STANDALONE' ? { standalone_workers_number: row.num_of_workers } : {}),
    },
    min_instances: row.min_instances,
    max_instances: row.max_instances,
    keep_scratch_disk: row.keep_scratch_disk,
    cloud_identity: row.cloud_identity,
    tenant_id: row.tenant_id,
  };
}

/** Returns every key, because clients expect all of them. */
function sparkConfigOf(config: SparkConfig): SparkConfig {
  return Object.fromEntries(SPARK_CONFIG_KEYS.map((key) => [key, config[key] ?? null]));
}

function workflowOf(row: ClusterRow): ClusterRead['workflow_job_instance_details'] {
  if (row.workflow_job_instance_id === null || row.workflow_job_id === null) return null;
  return {
    workflow_job_instance_status: {
      workflow_job_instance_id: row.workflow_job_instance_id,
      workflow_job_id: row.workflow_job_id,
      status: row.workflow_state ?? '',
      from_date: row.workflow_from ?? row.from_date,
      to_date: openEnded(row.workflow_to ?? Infinity) ?? 'infinity',
    },
  };
}

function disksOf(row: ClusterRow, referenceData: ReferenceData): ClusterDisks | null {
  return clusterDisks(ownDisks(row), row.cluster_conf.volume_conf, referenceData);
}

function volumeOf(row: ClusterRow, referenceData: ReferenceData): ClusterVolume | null {
  const disks = disksOf(row, referenceData);
  if (!disks) return null;
  const { volume } = disks;
  return {
    volume_conf_id: volume?.volume_conf_id ?? null,
    name: volume?.name ?? null,
    ...partsOf(disks),
    size: disks.size,
    disk_type: disks.type,
    machine_volume_num: volume?.machine_volume_num ?? disks.number,
    machine_volume_strip_num: volume?.machine_volume_strip_num ?? NOT_STRIPED,
  };
}

function volumeWriteOf(row: ClusterRow, referenceData: ReferenceData): ClusterVolumeWrite | null {
  const disks = disksOf(row, referenceData);
  if (!disks) return null;
  const { volume, type } = disks;
  return {
    machine_volume_config_id: idText(volume?.volume_conf_id ?? null),
    machine_volume_config_name: volume?.name ?? null,
    machine_volume_config_description: volume?.description ?? null,
    size: idText(disks.size),
    encrypted: volume?.encrypted ?? false,
    ...partsOf(disks),
    machine_volume_conf_num: volume?.machine_volume_num ?? disks.number,
    machine_volume_conf_strip: volume?.machine_volume_strip_num ?? NOT_STRIPED,
    disk_type: {
      disk_type_id: idText(type.disk_type_id),
      disk_name: type.name,
      cloud_provider_id: idText(type.cloud_provider.cloud_provider_id),
      has_fixed_size: type.has_fixed_size,
      min_size: type.min_size,
      max_size: type.max_size,
    },
  };
}

function partsOf(disks: ClusterDisks) {
  return { number_of_disks: disks.number, disk_iops: disks.iops, disk_throughput_MB: disks.throughputMb };
}
