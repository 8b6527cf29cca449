import { Check, Entity, ForeignKey, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';
import { CLUSTER_STATUSES, CLUSTER_TYPES } from '../cluster-state';

const list = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ');

/** A cluster instance. `to_date` is set while it is disabled. */
@Entity('clusters')
@Unique('uq_clusters_tenant_id', ['tenantId', 'clusterId'])
@Index('uq_clusters_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_clusters_list', ['tenantId', 'clusterId', 'name'])
@PartOfNameIndex('ix_clusters_name_part', 'name')
@Index('ix_clusters_status', ['status'])
@Index('ix_clusters_cloud_env', ['tenantId', 'cloudEnvId'])
@Index('ix_clusters_cluster_conf', ['tenantId', 'clusterConfId'])
@Index('ix_clusters_object_storage_manager', ['tenantId', 'objectStorageManagerId'])
@ForeignKey('ObjectStorageManager', ['tenantId', 'objectStorageManagerId'], ['tenantId', 'objectStorageManagerId'], {
  name: 'fk_clusters_object_storage_manager',
})
@Check('ck_clusters_status', `status IN (${list(CLUSTER_STATUSES)})`)
@Check('ck_clusters_type', `cluster_type IN (${list(CLUSTER_TYPES)})`)
@Check(
  'ck_clusters_instances',
  'min_instances >= 1 AND max_instances BETWEEN 1 AND 30 AND min_instances <= max_instances',
)
@Check('ck_clusters_parallel', 'max_parallel_jobs >= 1 AND num_of_workers >= 1 AND number_of_disks >= 1')
export class Cluster extends TenantColumns {
  @Col.identity('cluster_id') clusterId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @Col.json('labels') labels: unknown;
  @Col.bigint('idle_timeout_ms') idleTimeoutMs: string;
  @Col.text('status', { default: 'STOPPED' }) status: string;
  @Col.text('cluster_type') clusterType: string;
  @Col.bool('is_spot_instance') isSpotInstance: boolean;
  @Col.bool('is_turbo_enabled') isTurboEnabled: boolean;
  @Col.bool('is_cuda_enabled') isCudaEnabled: boolean;
  @Col.bool('enable_public_ip') enablePublicIp: boolean;
  @Col.bool('block_project_ssh_keys') blockProjectSshKeys: boolean;
  @Col.text('bootstrap_shell_script', { nullable: true }) bootstrapShellScript: string | null;
  @Col.bigint('cloud_env_id') cloudEnvId: string;
  @ManyToOne('CloudEnv')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_clusters_cloud_env' },
    { name: 'cloud_env_id', referencedColumnName: 'cloudEnvId', foreignKeyConstraintName: 'fk_clusters_cloud_env' },
  ])
  cloudEnv: unknown;
  @Col.bigint('object_storage_manager_id', { nullable: true }) objectStorageManagerId: string | null;
  @Col.bigint('cluster_conf_id') clusterConfId: string;
  @ManyToOne('ClusterConf')
  @JoinColumn([
    { name: 'tenant_id', referencedColumnName: 'tenantId', foreignKeyConstraintName: 'fk_clusters_cluster_conf' },
    {
      name: 'cluster_conf_id',
      referencedColumnName: 'clusterConfId',
      foreignKeyConstraintName: 'fk_clusters_cluster_conf',
    },
  ])
  clusterConf: unknown;
  @Col.int('spark_infra_version_id') sparkInfraVersionId: number;
  @ManyToOne('SparkInfraVersion')
  @JoinColumn({ name: 'spark_infra_version_id', foreignKeyConstraintName: 'fk_clusters_spark_infra_version' })
  sparkInfraVersion: unknown;
  @Col.json('spark_config') sparkConfig: unknown;
  @Col.int('max_parallel_jobs') maxParallelJobs: number;
  @Col.int('num_of_workers', { nullable: true }) numOfWorkers: number | null;
  @Col.int('min_instances', { nullable: true }) minInstances: number | null;
  @Col.int('max_instances', { nullable: true }) maxInstances: number | null;
  /** Minutes. */
  @Col.bigint('clean_up_timeout') cleanUpTimeout: string;
  @Col.bool('keep_scratch_disk', { nullable: true }) keepScratchDisk: boolean | null;
  @Col.text('cloud_identity', { nullable: true }) cloudIdentity: string | null;
  /** The disk columns override the volume of the cluster configuration, or stand for one. */
  @Col.int('disk_type_id', { nullable: true }) diskTypeId: number | null;
  @ManyToOne('DiskType', { nullable: true })
  @JoinColumn({ name: 'disk_type_id', foreignKeyConstraintName: 'fk_clusters_disk_type' })
  diskType: unknown;
  @Col.bigint('disk_iops', { nullable: true }) diskIops: string | null;
  @Col.bigint('disk_throughput_mb', { nullable: true }) diskThroughputMb: string | null;
  @Col.bigint('disk_size', { nullable: true }) diskSize: string | null;
  @Col.int('number_of_disks', { nullable: true }) numberOfDisks: number | null;
  /** Sealed; what its Spark processes prove to each other while it is up. */
  @Col.bytes('spark_secret', { nullable: true }) sparkSecret: Buffer | null;
  /** The operation under way or last ended; its steps change the cluster only while this names it. */
  @Col.bigint('workflow_job_instance_id', { nullable: true }) workflowJobInstanceId: string | null;
  /** Last time a job began or ended, or the cluster came up; idle_timeout_ms counts from here. */
  @Col.time('last_active_at', { nullable: true }) lastActiveAt: Date | null;
}
