import { Check, Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  oneOf,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { HoldsItsParts, KeepsInUse, RecordKind } from '../../../../../platform/http/resources/record-kind';
import { CLUSTER_STATUSES, CLUSTER_TYPES, type ClusterStatus, type ClusterType } from '../cluster-state';
import type { SparkConfig } from '../dto/spark-config.dto';

/** A cluster instance. `to_date` is set while it is disabled. */
@Entity('clusters')
@Unique('uq_clusters_tenant_id', ['tenant_id', 'cluster_id'])
@Index('uq_clusters_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_clusters_list', ['tenant_id', 'cluster_id', 'name'])
@PartOfNameIndex('ix_clusters_name_part', 'name')
@Index('ix_clusters_status', ['status'])
@Index('ix_clusters_cloud_env', ['tenant_id', 'cloud_env_id'])
@Index('ix_clusters_cluster_conf', ['tenant_id', 'cluster_conf_id'])
@Index('ix_clusters_object_storage_manager', ['tenant_id', 'object_storage_manager_id'])
@ForeignKey(
  'ObjectStorageManager',
  ['tenant_id', 'object_storage_manager_id'],
  ['tenant_id', 'object_storage_manager_id'],
  {
    name: 'fk_clusters_object_storage_manager',
  },
)
@Index('ix_clusters_metastore_catalog', ['tenant_id', 'metastore_catalog_id'])
@ForeignKey('MetastoreCatalog', ['tenant_id', 'metastore_catalog_id'], ['tenant_id', 'metastore_catalog_id'], {
  name: 'fk_clusters_metastore_catalog',
})
@Check('ck_clusters_status', oneOf('status', CLUSTER_STATUSES))
@Check('ck_clusters_type', oneOf('cluster_type', CLUSTER_TYPES))
@Check(
  'ck_clusters_instances',
  'min_instances >= 1 AND max_instances BETWEEN 1 AND 30 AND min_instances <= max_instances',
)
@Check('ck_clusters_parallel', 'max_parallel_jobs >= 1 AND num_of_workers >= 1 AND number_of_disks >= 1')
@ForeignKey('CloudEnv', ['tenant_id', 'cloud_env_id'], ['tenant_id', 'cloud_env_id'], { name: 'fk_clusters_cloud_env' })
@ForeignKey('ClusterConf', ['tenant_id', 'cluster_conf_id'], ['tenant_id', 'cluster_conf_id'], {
  name: 'fk_clusters_cluster_conf',
})
@RecordKind({ code: 'CLUSTER', label: 'cluster' })
@HoldsItsParts({
  free: ['DESTROYED', 'ERROR'],
  toFree: 'Each must be DESTROYED or in ERROR first.',
  toRelease: 'Destroy each of them first, then assign it another one or disable it.',
  owns: { table: 'cluster_nodes', column: 'cluster_id' },
  toDisown: 'They may still have machines there, which could no longer be removed. Destroy the clusters first.',
})
@KeepsInUse({
  kept: 'Tenant',
  column: 'tenant_id',
  // Disabled clusters count too.
  condition: `t.status <> 'DESTROYED'`,
  columns: 't.cluster_id, t.name, t.status',
  code: 'TENANT.IN_USE',
  named: ({ name, status }) => `"${String(name)}" (${String(status)})`,
  message: (names) => `The tenant has the clusters ${names}. Destroy them first.`,
  details: (clusters) => ({ clusters }),
})
export class Cluster extends TenantColumns {
  @Col.identity() cluster_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @Col.json() labels: Record<string, string>;
  @Col.bigint() idle_timeout_ms: number;
  @Col.text({ default: 'STOPPED' }) status: ClusterStatus;
  @Col.text() cluster_type: ClusterType;
  @Col.bool() is_spot_instance: boolean;
  @Col.bool() is_turbo_enabled: boolean;
  @Col.bool() is_cuda_enabled: boolean;
  @Col.bool() enable_public_ip: boolean;
  @Col.bool() block_project_ssh_keys: boolean;
  @Col.text({ nullable: true }) bootstrap_shell_script: string | null;
  @Col.bigint() cloud_env_id: number;
  @Col.bigint({ nullable: true }) object_storage_manager_id: number | null;
  @Col.bigint({ nullable: true }) metastore_catalog_id: number | null;
  @Col.bigint() cluster_conf_id: number;
  @ForeignKey('SparkInfraVersion', { name: 'fk_clusters_spark_infra_version' })
  @Col.int()
  spark_infra_version_id: number;
  @Col.json() spark_config: SparkConfig;
  @Col.int() max_parallel_jobs: number;
  @Col.int({ nullable: true }) num_of_workers: number | null;
  @Col.int({ nullable: true }) min_instances: number | null;
  @Col.int({ nullable: true }) max_instances: number | null;
  /** Minutes. */
  @Col.bigint() clean_up_timeout: number;
  @Col.bool({ nullable: true }) keep_scratch_disk: boolean | null;
  @Col.text({ nullable: true }) cloud_identity: string | null;
  /** The disk columns override the volume of the cluster configuration, or replace it. */
  @ForeignKey('DiskType', { name: 'fk_clusters_disk_type' })
  @Col.int({ nullable: true })
  disk_type_id: number | null;
  @Col.bigint({ nullable: true }) disk_iops: number | null;
  @Col.bigint({ nullable: true }) disk_throughput_mb: number | null;
  @Col.bigint({ nullable: true }) disk_size: number | null;
  @Col.int({ nullable: true }) number_of_disks: number | null;
  /** Sealed secret with which its Spark processes authenticate to each other while the cluster is up. */
  @Col.bytes({ nullable: true }) spark_secret: Buffer | null;
  /** The operation under way, or the last one. Its steps change the cluster only while this column names it. */
  @Col.bigint({ nullable: true }) workflow_job_instance_id: number | null;
  /** The resize or replacement of nodes under way, or cancelled and not yet ended; null if there is none. */
  @Col.bigint({ nullable: true }) resize_instance_id: number | null;
  /** No nodes are added before this time. The pause grows with the number of failures in a row. */
  @Col.time({ nullable: true }) grow_after: Date | null;
  @Col.int({ default: 0 }) grow_failures: number;
  /** Since when the provider has had no spot machine for the cluster. */
  @Col.time({ nullable: true }) spot_missing_since: Date | null;
  /** Time from the plan of its latest node until that was ready. */
  @Col.int({ nullable: true }) node_start_ms: number | null;
  /** Mean time for which recent jobs had their slots, milliseconds; null before the first has ended. */
  @Col.float({ nullable: true }) recent_run_ms: number | null;
  /** CLUSTER: since when the other workers have room for the load of one of them. */
  @Col.time({ nullable: true }) spare_worker_since: Date | null;
  /** The resize by a user that is not carried out yet; null if there is none. */
  @Col.json({ nullable: true }) resize_request: ResizeRequest | null;
  /** When a job last began or ended, the cluster came up or a user resized it; idle_timeout_ms counts from here. */
  @Col.time({ nullable: true }) last_active_at: Date | null;
}

/** The cause of the nodes that a resize adds or removes. */
export interface ResizeRequest {
  user_id: number;
  /** The minimum before it, and then the number of instances that it has made ready. Nodes short of this number are lost ones. */
  min_before: number;
}

/** Columns of the disks that a cluster describes itself; null if the volume of its configuration decides. */
export type DiskColumns = Pick<
  Cluster,
  'disk_type_id' | 'disk_iops' | 'disk_throughput_mb' | 'disk_size' | 'number_of_disks'
>;
