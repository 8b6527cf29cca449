import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example, FieldsMean } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS } from '../../../../foundation/reference-data';
import { CLUSTER_STATUSES, CLUSTER_TYPES } from '../../model/cluster-state';
import { CLUSTER_FIELDS, EngineClusterSparkConfigInput, NewEngineClusterSparkConfig } from './cluster-fields.dto';
import { SparkConfig } from '../../model/dto/spark-config.dto';

const DISK_TYPE =
  'The disk fields override the volume of the cluster configuration; without a volume they describe the disks, and need a type';

export class ClusterSelector extends RecordSelectorQuery('cluster') {}

/** Body of start, stop, destroy, disable and enable. */
@Example({ cluster_name: 'example-cluster' })
@About(
  'Names a cluster. One of cluster_id and cluster_name is required; if both are sent, they must identify the same cluster.',
)
export class ClusterRefBody extends RecordSelectorQuery('cluster') {}

export class ClusterListQuery extends PageQuery {
  @Param.someOf(CLUSTER_STATUSES, { description: 'Only clusters in one of these states' }) cluster_status?: string[];
  @Param.id({ description: 'Only clusters with this cluster configuration' }) cluster_conf_id?: number;
  @Param.text({ description: 'Only clusters with the cluster configuration of this name' }) cluster_conf_name?: string;
  @Param.boolean({ description: 'true lists enabled clusters, false disabled ones; both if absent' }) enable?: boolean;
  @Param.someOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only clusters of these providers, ignoring case',
  })
  cloud_providers?: string[];
  @Param.someOf(CLUSTER_TYPES, { description: 'Only clusters of these types' }) cluster_types?: string[];
  @Param.ids({ description: 'Only clusters with one of these Spark versions' }) spark_infra_version_ids?: number[];
  @Param.ids({ description: 'Only clusters whose nodes have one of these machine types' }) machine_type_ids?: number[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class ClusterSearchQuery extends ClusterListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) cluster_name: string;
}

export class DriverMemoryQuery {
  @Param.int64({ optional: false, min: 1, description: 'Memory of the machine in GB, at least 1' })
  machine_memory: number;
  @Param.int64({ optional: false, min: 1, description: 'Jobs that the machine runs at a time, at least 1' })
  max_parallel_spark_job_execution_per_instance: number;
}

const DEFAULT_IDLE_TIMEOUT_MS = 7_200_000;
const DEFAULT_CLEAN_UP_MINUTES = 240;
/** Limits of the minimum and the maximum number of instances. */
export const INSTANCES = { optional: true, min: 1, max: 30 };
const IDLE_TIMEOUT = { optional: true, min: 1000 };
const CLEAN_UP_TIMEOUT = { optional: true, min: 0 };

/** Fields that create and update share, each optional. */
@FieldsMean(CLUSTER_FIELDS)
export class ClusterSettings {
  @Field.description() description?: string | null;
  @Field.int64(IDLE_TIMEOUT) idle_timeout_ms?: number;
  @Field.map({ optional: true }) labels?: Record<string, unknown>;
  @Field.boolean({ optional: true }) is_turbo_enabled?: boolean;
  @Field.boolean({ optional: true }) is_cuda_enabled?: boolean;
  @Field.boolean({ optional: true }) block_project_ssh_keys?: boolean;
  @Field.text({ optional: true, nullable: true, maxLength: 1_000_000 }) bootstrap_shell_script?: string | null;
  @Field.id({ optional: true, nullable: true }) object_storage_manager_id?: number | null;
  @Field.object(() => SparkConfig, { optional: true }) spark_config?: SparkConfig;
  @Field.id({ optional: true, nullable: true }) metastore_catalog_id?: number | null;
  @Field.ids({ optional: true }) mount_ids?: number[];
  @Field.object(() => EngineClusterSparkConfigInput, { optional: true })
  engine_cluster_spark_config?: EngineClusterSparkConfigInput;
  @Field.int64({ ...INSTANCES, nullable: true }) min_instances?: number | null;
  @Field.int64({ ...INSTANCES, nullable: true }) max_instances?: number | null;
  @Field.int64(CLEAN_UP_TIMEOUT) clean_up_timeout?: number;
  @Field.boolean({ optional: true, nullable: true }) keep_scratch_disk?: boolean | null;
  @Field.text({ optional: true, nullable: true, maxLength: 1000 }) cloud_identity?: string | null;
  @Field.int64({
    optional: true,
    min: 1,
    description: 'I/O operations per second (IOPS) of each disk, if its type supports a choice',
  })
  disk_iops?: number;
  @Field.int64({
    optional: true,
    min: 1,
    description: 'Throughput of each disk in MB/s, if its type supports a choice',
  })
  disk_throughput_MB?: number;
  @Field.int64({
    optional: true,
    min: 1,
    description: 'Size of each disk in GB; required without a volume unless the type fixes it',
  })
  size?: number;
  @Field.int64({
    optional: true,
    min: 1,
    max: 100,
    description: 'Number of disks of each node, 1 to 100; absent for that of the volume, or 1 without one',
  })
  number_of_disks?: number;
}

@Example({
  name: 'example-cluster',
  cluster_type: 'PLATFORM',
  cloud_env_id: 1,
  cluster_conf_id: 1,
  spark_infra_version_id: 6,
  min_instances: 1,
  max_instances: 1,
  is_spot_instance: false,
  enable_public_ip: false,
})
@FieldsMean(CLUSTER_FIELDS)
@About(
  'The new cluster. All parts must be of one provider and one architecture. PLATFORM and STANDALONE need min_instances and max_instances.',
)
export class CreateCluster extends ClusterSettings {
  @Field.name() name: string;
  @Field.boolean() is_spot_instance: boolean;
  @Field.boolean() enable_public_ip: boolean;
  @Field.id() cloud_env_id: number;
  @Field.id() cluster_conf_id: number;
  @Field.id() spark_infra_version_id: number;
  @Field.oneOf(CLUSTER_TYPES) cluster_type: string;
  @Field.id({ optional: true, description: DISK_TYPE }) disk_type_id?: number;
  @Field.int64({ ...IDLE_TIMEOUT, default: DEFAULT_IDLE_TIMEOUT_MS })
  override idle_timeout_ms: number = DEFAULT_IDLE_TIMEOUT_MS;
  @Field.boolean({ default: false }) override is_turbo_enabled: boolean = false;
  @Field.boolean({ default: false }) override is_cuda_enabled: boolean = false;
  @Field.boolean({ default: true }) override block_project_ssh_keys: boolean = true;
  @Field.ids({ default: [] }) override mount_ids: number[] = [];
  @Field.object(() => NewEngineClusterSparkConfig, { optional: true })
  override engine_cluster_spark_config?: NewEngineClusterSparkConfig;
  @Field.int64({ ...CLEAN_UP_TIMEOUT, default: DEFAULT_CLEAN_UP_MINUTES })
  override clean_up_timeout: number = DEFAULT_CLEAN_UP_MINUTES;
}

@Example({ description: 'Changed by an example' })
@FieldsMean(CLUSTER_FIELDS)
@About(
  'Changes to a cluster; at least one. Absent fields keep their values. name, description, idle_timeout_ms, clean_up_timeout and spark_config can change in every state, everything else only in DESTROYED or ERROR.',
)
export class UpdateCluster extends ClusterSettings {
  @Field.name({ optional: true }) name?: string;
  @Field.boolean({ optional: true }) is_spot_instance?: boolean;
  @Field.boolean({ optional: true }) enable_public_ip?: boolean;
  @Field.id({ optional: true }) cloud_env_id?: number;
  @Field.id({ optional: true }) cluster_conf_id?: number;
  @Field.id({ optional: true }) spark_infra_version_id?: number;
  @Field.id({
    optional: true,
    nullable: true,
    description: `${DISK_TYPE}. A new type keeps the speeds that it supports; null clears all disk fields that the request does not send`,
  })
  disk_type_id?: number | null;
}
