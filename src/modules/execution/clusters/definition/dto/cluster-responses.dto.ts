import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About, FieldsMean } from '../../../../../platform/kernel/dto/schemas';
import { CloudEnvInfo, ClusterConfRef } from '../../../../infrastructure/environments';
import { MetastoreCatalogRef } from '../../../../infrastructure/metastores';
import { MountRead, ObjectStorageManagerRef } from '../../../../infrastructure/storage';
import { DiskTypeInfo, SparkInfraVersionRef } from '../../../../foundation/reference-data';
import { CLUSTER_STATUSES, CLUSTER_TYPES, NODE_STATUSES } from '../../model/cluster-state';
import { CLUSTER_FIELDS, EngineClusterSparkConfig } from './cluster-fields.dto';
import { STOP_DESTROYS } from '../../lifecycle/dto/cluster-operations.dto';
import { SparkConfig } from '../../model/dto/spark-config.dto';

const OWN_DISKS = 'null if the cluster configuration has no volume and the cluster alone describes the disks';

/** The disks of each node: the cluster's own disk fields, with those of the volume configuration as defaults. */
@About("The disks of each node: the cluster's own disk fields, with those of the volume configuration as defaults.")
export class ClusterVolume {
  @Field.id({ nullable: true, description: OWN_DISKS }) volume_conf_id: number | null;
  @Field.text({ nullable: true, description: OWN_DISKS }) name: string | null;
  @Field.int64() machine_volume_num: number;
  @Field.int64() machine_volume_strip_num: number;
  @Field.int64({ description: 'Number of disks of each node' }) number_of_disks: number;
  @Field.int64({ description: 'Size of each disk in GB' }) size: number;
  @Field.int64({ nullable: true }) disk_iops: number | null;
  @Field.int64({ nullable: true }) disk_throughput_MB: number | null;
  @Field.object(() => DiskTypeInfo) disk_type: DiskTypeInfo;
}

@About('The type of the disks of a cluster as returned by a write. Ids are decimal strings.')
export class ClusterDiskTypeWrite {
  @Field.idText() disk_type_id: string;
  @Field.text({ description: 'Name of the disk type' }) disk_name: string;
  @Field.idText() cloud_provider_id: string;
  @Field.boolean({ description: 'True if disks of this type have a fixed size' }) has_fixed_size: boolean;
  @Field.int64({ description: 'Minimum size in GB' }) min_size: number;
  @Field.int64({ description: 'Maximum size in GB' }) max_size: number;
}

@About('The disks of each node of a cluster as returned by a write. Ids and the size are decimal strings.')
export class ClusterVolumeWrite {
  @Field.idText({ nullable: true, description: OWN_DISKS }) machine_volume_config_id: string | null;
  @Field.text({ nullable: true, description: OWN_DISKS }) machine_volume_config_name: string | null;
  @Field.text({ nullable: true, description: 'Description of the volume configuration; null if there is none' })
  machine_volume_config_description: string | null;
  @Field.idText({ description: 'Size of each disk in GB' }) size: string;
  @Field.boolean() encrypted: boolean;
  @Field.int64({ description: 'Number of disks of the volume configuration; number_of_disks is what applies' })
  machine_volume_conf_num: number;
  @Field.int64({ description: 'Number of disks that are striped to one; 1 leaves each on its own' })
  machine_volume_conf_strip: number;
  @Field.int64({ description: 'Number of disks of each node' }) number_of_disks: number;
  @Field.int64({ nullable: true }) disk_iops: number | null;
  @Field.int64({ nullable: true }) disk_throughput_MB: number | null;
  @Field.object(() => ClusterDiskTypeWrite) disk_type: ClusterDiskTypeWrite;
}

@About('One node of a cluster.')
export class ClusterNodeRead {
  @Field.int64() node_number: number;
  @Field.oneOf(NODE_STATUSES) node_status: string;
  @Field.id({ description: 'Identifies this state in the log and error operations' }) node_status_id: number;
  @Field.text({ optional: true, nullable: true, description: 'IP address of the node; null until it is known' })
  node_ip?: string | null;
  @Field.int32({
    nullable: true,
    description: 'Drivers that wait for runs on the node; null if it keeps none ready, or does not run',
    example: 1,
  })
  warm_drivers: number | null;
  @Field.timestamp({ description: 'When the node entered its state' }) from_date: Date;
  @Field.validityEnd({ description: 'Always `infinity`, because the state is the current one; null means the same' })
  to_date: Date | 'infinity' | null;
}

@About('State of an execution of a workflow.')
export class WorkflowInstanceStatus {
  @Field.id() workflow_job_instance_id: number;
  @Field.id() workflow_job_id: number;
  @Field.text({
    description: 'INIT, SENT and RECEIVED before it starts, then EXECUTING; DONE, ERROR and TERMINATED are final',
  })
  status: string;
  @Field.timestamp({ description: 'When the workflow was requested' }) from_date: Date;
  @Field.validityEnd({
    description: 'When the workflow ended, in ISO 8601; `infinity` until then; null means the same',
  })
  to_date: Date | 'infinity' | null;
}

@About('The latest workflow of a cluster.')
export class ClusterWorkflowDetails {
  @Field.object(() => WorkflowInstanceStatus, { description: 'State of the workflow' })
  workflow_job_instance_status: WorkflowInstanceStatus;
}

@FieldsMean(CLUSTER_FIELDS)
@About('A cluster: Spark nodes that can be started, stopped and destroyed again and again, with their current state.')
export class ClusterRead extends ReadAudit {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.map({ values: 'string' }) labels: Record<string, string>;
  @Field.int64() idle_timeout_ms: number;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
  @Field.oneOf(CLUSTER_TYPES) cluster_type: string;
  @Field.int64() instance_size: number;
  @Field.objects(() => ClusterNodeRead, { description: 'The current nodes, by their numbers' })
  nodes: ClusterNodeRead[];
  @Field.boolean() is_spot_instance: boolean;
  @Field.boolean({ description: STOP_DESTROYS }) stop_destroys_nodes: boolean;
  @Field.boolean() enable_public_ip: boolean;
  @Field.boolean() block_project_ssh_keys: boolean;
  @Field.int64({ nullable: true }) min_instances: number | null;
  @Field.int64({ nullable: true }) max_instances: number | null;
  @Field.number() total_ycu: number;
  @Field.int64() clean_up_timeout: number;
  @Field.boolean({ nullable: true }) keep_scratch_disk: boolean | null;
  @Field.text({ nullable: true }) cloud_identity: string | null;
  @Field.boolean() is_turbo_enabled: boolean;
  @Field.boolean() is_cuda_enabled: boolean;
  @Field.text({ nullable: true }) bootstrap_shell_script: string | null;
  @Field.object(() => ClusterConfRef) cluster_conf: ClusterConfRef;
  @Field.object(() => CloudEnvInfo) cloud_env: CloudEnvInfo;
  @Field.object(() => SparkInfraVersionRef) spark_infra_version: SparkInfraVersionRef;
  @Field.object(() => MetastoreCatalogRef, { nullable: true }) metastore_catalog: MetastoreCatalogRef | null;
  @Field.object(() => SparkConfig) spark_config: SparkConfig;
  @Field.object(() => EngineClusterSparkConfig) engine_cluster_spark_config: EngineClusterSparkConfig;
  @Field.object(() => ObjectStorageManagerRef, { nullable: true })
  object_storage_manager: ObjectStorageManagerRef | null;
  @Field.object(() => ClusterVolume, { nullable: true }) machine_volume_config: ClusterVolume | null;
  @Field.objects(() => MountRead) mounts: MountRead[];
  @Field.object(() => ClusterWorkflowDetails, {
    optional: true,
    nullable: true,
    description: 'The latest workflow of the cluster; null or absent if there was none',
  })
  workflow_job_instance_details?: ClusterWorkflowDetails | null;
  @Field.uuid() tenant_id: string;
}

@About('The provider of a cluster.')
class SummaryProvider {
  @Field.id() cloud_provider_id: number;
  @Field.text({ description: 'Name of the provider' }) name: string;
}

@About('The cloud environment of a cluster.')
class SummaryCloudEnv {
  @Field.id() cloud_env_id: number;
  @Field.text({ description: 'Name of the cloud environment' }) name: string;
  @Field.object(() => SummaryProvider) cloud_provider: SummaryProvider;
}

/** A cluster embedded in another record. */
@FieldsMean(CLUSTER_FIELDS)
@About('A reference to a cluster.')
export class ClusterSummary {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster, unique in the tenant' }) name: string;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
  @Field.oneOf(CLUSTER_TYPES) cluster_type: string;
  @Field.int64() instance_size: number;
  @Field.int64({ nullable: true }) min_instances: number | null;
  @Field.int64({ nullable: true }) max_instances: number | null;
  @Field.boolean() is_turbo_enabled: boolean;
  @Field.boolean() is_cuda_enabled: boolean;
  @Field.boolean() is_spot_instance: boolean;
  @Field.number() total_ycu: number;
  @Field.object(() => ClusterConfRef) cluster_conf: ClusterConfRef;
  @Field.object(() => SummaryCloudEnv) cloud_env: SummaryCloudEnv;
  @Field.object(() => SparkInfraVersionRef) spark_infra_version: SparkInfraVersionRef;
  @Field.object(() => EngineClusterSparkConfig) engine_cluster_spark_config: EngineClusterSparkConfig;
  @Field.object(() => MetastoreCatalogRef, { nullable: true }) metastore_catalog: MetastoreCatalogRef | null;
}

@FieldsMean(CLUSTER_FIELDS)
@About('A cluster as returned by a write. Ids, idle_timeout_ms and clean_up_timeout are decimal strings.')
export class ClusterWrite extends WriteAudit {
  @Field.idText() cluster_id: string;
  @Field.text({ description: 'Name of the cluster, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() cloud_env_id: string;
  @Field.idText() idle_timeout_ms: string;
  @Field.map({ values: 'string' }) labels: Record<string, string>;
  @Field.boolean() is_spot_instance: boolean;
  @Field.boolean() enable_public_ip: boolean;
  @Field.boolean() is_turbo_enabled: boolean;
  @Field.boolean() is_cuda_enabled: boolean;
  @Field.boolean() block_project_ssh_keys: boolean;
  @Field.text({ nullable: true }) bootstrap_shell_script: string | null;
  @Field.idText({ nullable: true }) object_storage_manager_id: string | null;
  @Field.idText() cluster_conf_id: string;
  @Field.object(() => SparkConfig) spark_config: SparkConfig;
  @Field.idText({ nullable: true }) metastore_catalog_id: string | null;
  @Field.idTexts() mount_ids: string[];
  @Field.idText() spark_infra_version_id: string;
  @Field.object(() => EngineClusterSparkConfig) engine_cluster_spark_config: EngineClusterSparkConfig;
  @Field.oneOf(CLUSTER_TYPES) cluster_type: string;
  @Field.int64({ nullable: true }) min_instances: number | null;
  @Field.int64({ nullable: true }) max_instances: number | null;
  @Field.idText() clean_up_timeout: string;
  @Field.boolean({ nullable: true }) keep_scratch_disk: boolean | null;
  @Field.text({ nullable: true }) cloud_identity: string | null;
  @Field.object(() => ClusterVolumeWrite, { nullable: true }) machine_volume_config: ClusterVolumeWrite | null;
  @Field.uuid() tenant_id: string;
}
