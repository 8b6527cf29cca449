import type { Values } from '../../../../platform/kernel/persistence/sql';
import type { CloudEnvData, ClusterConfData } from '../../../infrastructure/environments';
import type { LookupRecords } from '../../../foundation/reference-data';
import { changedDisks, diskColumns, requestedDisks } from './cluster-disks';
import type { ClusterDraft } from './cluster-rules';
import type { ClusterType } from '../model/cluster-state';
import type { ClusterRow } from './cluster-definitions.repository';
import { DEFAULT_PARALLEL_JOBS } from './dto/cluster-fields.dto';
import type { CreateCluster, UpdateCluster } from './dto/cluster-input.dto';
import type { Cluster } from '../model/entities/cluster.entity';

const DEFAULT_STANDALONE_WORKERS = 1;

/** Returns the num_of_workers that a cluster of the type stores: the type may have a default, or no workers. */
function workersOf(clusterType: ClusterType, requested: number | null): number | null {
  switch (clusterType) {
    case 'PLATFORM':
      return null;
    case 'STANDALONE':
      return requested ?? DEFAULT_STANDALONE_WORKERS;
    case 'CLUSTER':
      return requested;
  }
}

export interface ClusterParts {
  cloudEnv: CloudEnvData;
  clusterConf: ClusterConfData;
  metastoreCatalog: ClusterDraft['metastoreCatalog'];
}

export function newDraft(body: CreateCluster, parts: ClusterParts): ClusterDraft {
  const clusterType = body.cluster_type as ClusterType;
  return {
    clusterType,
    ...parts,
    sparkInfraVersionId: body.spark_infra_version_id,
    isTurboEnabled: body.is_turbo_enabled,
    isCudaEnabled: body.is_cuda_enabled,
    isSpotInstance: body.is_spot_instance,
    minInstances: body.min_instances ?? null,
    maxInstances: body.max_instances ?? null,
    maxParallelJobs:
      body.engine_cluster_spark_config?.max_parallel_spark_job_execution_per_instance ?? DEFAULT_PARALLEL_JOBS,
    numOfWorkers: workersOf(clusterType, body.engine_cluster_spark_config?.num_of_workers ?? null),
    disks: requestedDisks(body),
  };
}

/** Returns the draft of a cluster after an update: the values of the request, with the present ones as defaults. */
export function changedDraft(
  row: ClusterRow,
  body: UpdateCluster,
  parts: ClusterParts,
  records: LookupRecords,
): ClusterDraft {
  const engine = body.engine_cluster_spark_config ?? {};
  const merged = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value);
  return {
    clusterType: row.cluster_type,
    ...parts,
    sparkInfraVersionId: body.spark_infra_version_id ?? row.spark_infra_version_id,
    isTurboEnabled: body.is_turbo_enabled ?? row.is_turbo_enabled,
    isCudaEnabled: body.is_cuda_enabled ?? row.is_cuda_enabled,
    isSpotInstance: body.is_spot_instance ?? row.is_spot_instance,
    minInstances: merged(body.min_instances, row.min_instances),
    maxInstances: merged(body.max_instances, row.max_instances),
    maxParallelJobs: engine.max_parallel_spark_job_execution_per_instance ?? row.max_parallel_jobs,
    numOfWorkers: workersOf(row.cluster_type, merged(engine.num_of_workers, row.num_of_workers)),
    disks: changedDisks(row, body, records),
  };
}

export function newClusterColumns(
  body: CreateCluster,
  draft: ClusterDraft,
  labels: Record<string, string>,
): Values<Cluster> {
  return {
    name: body.name,
    description: body.description,
    idle_timeout_ms: body.idle_timeout_ms,
    clean_up_timeout: body.clean_up_timeout,
    cluster_type: draft.clusterType,
    spark_config: body.spark_config ?? {},
    ...restrictedColumns(body, draft, labels),
    max_parallel_jobs: draft.maxParallelJobs,
  };
}

/** Returns the columns that may change only while a cluster has no nodes. Omitted fields keep their value. */
export function restrictedColumns(
  body: CreateCluster | UpdateCluster,
  draft: ClusterDraft,
  labels: Record<string, string>,
): Values<Cluster> {
  return {
    labels,
    is_spot_instance: draft.isSpotInstance,
    is_turbo_enabled: draft.isTurboEnabled,
    is_cuda_enabled: draft.isCudaEnabled,
    enable_public_ip: body.enable_public_ip,
    block_project_ssh_keys: body.block_project_ssh_keys,
    bootstrap_shell_script: body.bootstrap_shell_script,
    cloud_env_id: body.cloud_env_id,
    cluster_conf_id: body.cluster_conf_id,
    object_storage_manager_id: body.object_storage_manager_id,
    metastore_catalog_id: body.metastore_catalog_id,
    spark_infra_version_id: body.spark_infra_version_id,
    max_parallel_jobs: body.engine_cluster_spark_config?.max_parallel_spark_job_execution_per_instance,
    num_of_workers: draft.numOfWorkers,
    min_instances: draft.minInstances,
    max_instances: draft.maxInstances,
    keep_scratch_disk: body.keep_scratch_disk,
    cloud_identity: body.cloud_identity,
    ...diskColumns(draft.disks),
  };
}
