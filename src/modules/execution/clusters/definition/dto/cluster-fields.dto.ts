import type { Meanings } from '../../../../../platform/kernel/dto/field-meanings';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';

const WORKERS =
  'Workers, 1 to 100: on each instance of a STANDALONE cluster (null or absent for 1), or of a CLUSTER (null or absent for ' +
  'min_instances, or else 1); a PLATFORM cluster ignores it';

/** Meanings of the fields of a cluster, in requests and responses. */
export const CLUSTER_FIELDS = {
  labels:
    'Labels of the machines at their provider, up to 25 besides those of the cloud environment and up to 50 with them. 3 reserved ones are added and count',
  idle_timeout_ms: 'Milliseconds without a job after which the cluster stops; at least 1,000',
  cluster_status:
    'State of the cluster. Only STOPPED can be started, RUNNING stopped, and RUNNING, STOPPED or ERROR destroyed',
  cluster_type:
    'How Spark runs: PLATFORM in local mode on each node, STANDALONE as a Spark cluster of its own on each node, CLUSTER with one master node and worker nodes. It never changes',
  instance_size: 'Number of nodes that the cluster has now',
  is_spot_instance: 'True if the nodes are spot machines, which are cheaper and which the provider may take back',
  enable_public_ip: 'True if each node gets a public IP address',
  block_project_ssh_keys: 'True to block SSH keys of the whole provider account on the nodes',
  min_instances: {
    is: 'Minimum number of nodes, or of workers of a CLUSTER; 1 to 30',
    null: 'if a CLUSTER has a fixed number',
  },
  max_instances: {
    is: 'Maximum number of nodes, or of workers of a CLUSTER; 1 to 30',
    null: 'if a CLUSTER has a fixed number',
  },
  total_ycu: 'Compute units per hour of the current nodes',
  clean_up_timeout: 'Minutes before a surplus node is removed',
  keep_scratch_disk: {
    is: 'True to keep the nodes of a failed start, stopped, for inspection',
    null: 'means false',
  },
  cloud_identity: {
    is: 'Identity of the machines at their provider: an instance profile of AWS, a service account of GCP, or a managed identity of Azure',
    null: 'for none',
  },
  is_turbo_enabled: 'True if queries run with DataFusion Comet, which gets a third of the memory of a job',
  is_cuda_enabled: 'True if queries run with RAPIDS on GPUs of the nodes',
  bootstrap_shell_script: {
    is: 'Shell script that each new node runs before Spark, at most 1,000,000 characters; a failure ends the start in ERROR',
    null: 'for none',
  },
  cluster_conf: 'The machine type and the volume of the nodes',
  cloud_env: 'Where the nodes are created',
  spark_infra_version: 'The version of Spark and of what comes with it',
  metastore_catalog: { is: 'The metastore catalog of its jobs', null: 'if they have none' },
  spark_config: 'Spark settings for its jobs; if they conflict, those of a job win',
  engine_cluster_spark_config: 'How many jobs and workers each node runs',
  object_storage_manager: { is: 'The object storage manager whose files its jobs may use', null: 'if there is none' },
  object_storage_manager_id: {
    is: 'Id of the object storage manager whose files its jobs may use',
    null: 'for none',
  },
  metastore_catalog_id: { is: 'Id of the metastore catalog of its jobs', null: 'for none' },
  mount_ids: 'Ids of the mounts that its jobs see',
  machine_volume_config: { is: 'The disks of each node', null: 'if the machine type alone decides' },
  mounts: 'The mounts that its jobs see',
} as const satisfies Meanings;

const SLOTS = 'Jobs that each node runs at a time, 1 to 1,000';
const PARALLEL_JOBS = { optional: true, min: 1, max: 1000, description: SLOTS };
export const DEFAULT_PARALLEL_JOBS = 5;

@About('How many jobs and workers each node runs.')
export class EngineClusterSparkConfigInput {
  @Field.int64(PARALLEL_JOBS) max_parallel_spark_job_execution_per_instance?: number;
  @Field.int64({ optional: true, nullable: true, min: 1, max: 100, description: WORKERS })
  num_of_workers?: number | null;
}

/** The Spark configuration of a new cluster, which gets a default. */
@About('How many jobs and workers each node of a new cluster runs.')
export class NewEngineClusterSparkConfig extends EngineClusterSparkConfigInput {
  @Field.int64({ ...PARALLEL_JOBS, default: DEFAULT_PARALLEL_JOBS })
  override max_parallel_spark_job_execution_per_instance: number = DEFAULT_PARALLEL_JOBS;
}

@About('How many jobs and workers each node runs.')
export class EngineClusterSparkConfig {
  @Field.int64({ description: SLOTS }) max_parallel_spark_job_execution_per_instance: number;
  @Field.int64({
    nullable: true,
    description:
      'Workers on each instance of a STANDALONE cluster, or workers of a CLUSTER; null for the default, and for a PLATFORM cluster',
  })
  num_of_workers: number | null;
  @Field.int64({
    optional: true,
    nullable: true,
    description: 'The same as num_of_workers, but only for a STANDALONE cluster; null for the default',
  })
  standalone_workers_number?: number | null;
}
