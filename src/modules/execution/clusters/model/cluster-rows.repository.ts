import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { appendState, type History, type StateEntry } from '../../../../platform/kernel/history/state-history';
import { describeSelector, type RecordSelector } from '../../../../platform/kernel/dto/selector';
import { firstRow, NOW, returning, type Db, type Tx, updateRows } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import {
  type CloudEnvData,
  cloudEnvJoins,
  cloudEnvJson,
  type ClusterConfData,
  clusterConfJoins,
  clusterConfJson,
} from '../../../infrastructure/environments';
import { type ClusterStatus, RESIZABLE } from './cluster-state';
import { ClusterStateEntry } from './entities/cluster-state.entity';
import { Cluster, type DiskColumns, type ResizeRequest } from './entities/cluster.entity';

/** The settings that runs inherit from their cluster. */
export type RunSettings = Pick<Cluster, 'spark_config' | 'max_parallel_jobs' | 'object_storage_manager_id'> &
  Pick<Cluster, 'metastore_catalog_id' | 'is_turbo_enabled' | 'is_cuda_enabled'>;

/** A cluster whose row is locked for the rest of the transaction. */
export type LockedCluster = RunSettings &
  Pick<Cluster, 'cluster_id' | 'tenant_id' | 'name' | 'status' | 'workflow_job_instance_id' | 'resize_instance_id'> &
  Pick<Cluster, 'is_spot_instance'> & {
    /** False while it is disabled. */
    active: boolean;
    shrinks: boolean;
    environment: Pick<CloudEnvData, 'cloud_provider_id' | 'endpoint'>;
  };

/** A cluster and its environment, as its workflows need them. */
export type ClusterSnapshotRow = DiskColumns &
  Pick<
    Cluster,
    | 'cluster_id'
    | 'tenant_id'
    | 'cluster_type'
    | 'min_instances'
    | 'max_instances'
    | 'num_of_workers'
    | 'keep_scratch_disk'
    | 'is_spot_instance'
    | 'enable_public_ip'
    | 'block_project_ssh_keys'
    | 'cloud_identity'
    | 'labels'
    | 'spark_infra_version_id'
    | 'is_turbo_enabled'
    | 'is_cuda_enabled'
  > & { cluster_conf: ClusterConfData; cloud_env: CloudEnvData };

const HISTORY: History<ClusterStateEntry> = {
  entity: ClusterStateEntry,
  idColumn: 'cluster_state_id',
  subjectColumn: 'cluster_id',
};

const RUN_SETTINGS =
  'spark_config, max_parallel_jobs, object_storage_manager_id, metastore_catalog_id, is_turbo_enabled, is_cuda_enabled';

/**
 * Columns of a {@link LockedCluster}. The environment is a sub-select, because a join may lose the row while a lock
 * waits.
 */
const LOCKED = `cluster_id, tenant_id, name, status, workflow_job_instance_id, resize_instance_id, is_spot_instance,
  ${RUN_SETTINGS}, to_date = 'infinity' AS active, coalesce(min_instances < max_instances, false) AS shrinks,
  (SELECT jsonb_build_object('cloud_provider_id', e.cloud_provider_id, 'endpoint', e.endpoint) FROM cloud_envs e
   WHERE e.cloud_env_id = c.cloud_env_id) AS environment`;

/** The cluster that a selector means. A name means the current cluster, even if disabled ones had the same name. */
const SELECTED = `FROM clusters c
  WHERE ${ofTenant('c', '$1')} AND ($2::bigint IS NULL OR c.cluster_id = $2) AND ($3::text IS NULL OR c.name = $3)
  ORDER BY c.to_date DESC, c.cluster_id DESC LIMIT 1`;

/** Pause before the next attempt to add nodes, after the first failure and at most; milliseconds. */
const MIN_GROW_PAUSE_MS = 15_000;
const MAX_GROW_PAUSE_MS = 2 * 60_000;
const MAX_START_MS = 60 * 60_000;

/**
 * Rows of clusters and their history, for the platform itself. For clusters that are read by id, the caller has checked
 * the tenant.
 */
@Injectable()
export class ClusterRowsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns id and name of the tenant's cluster that the selector means; 404 if there is none. */
  async identify(
    scope: TenantScope,
    selector: RecordSelector,
    db: Db = this.dataSource.manager,
  ): Promise<Pick<Cluster, 'cluster_id' | 'name'>> {
    const sql = `SELECT cluster_id, name ${SELECTED}`;
    return existing(selector, await firstRow<Pick<Cluster, 'cluster_id' | 'name'>>(db, sql, selected(scope, selector)));
  }

  /** Locks the cluster that the selector means, as {@link lock} does. */
  async lockSelected(tx: Tx, scope: TenantScope, selector: RecordSelector): Promise<LockedCluster> {
    const sql = `SELECT ${LOCKED} ${SELECTED} FOR NO KEY UPDATE OF c`;
    return existing(selector, await firstRow<LockedCluster>(tx, sql, selected(scope, selector)));
  }

  /**
   * Locks the cluster's row for the rest of the transaction. New rows that refer to it are still possible, because a
   * waiting run is written without this lock.
   */
  async lock(tx: Tx, clusterId: number): Promise<LockedCluster | null> {
    return firstRow<LockedCluster>(
      tx,
      `SELECT ${LOCKED} FROM clusters c WHERE cluster_id = $1 FOR NO KEY UPDATE OF c`,
      [clusterId],
    );
  }

  async setStatus(
    tx: Tx,
    cluster: LockedCluster,
    to: ClusterStatus,
    workflowInstanceId: number | null,
  ): Promise<number> {
    const [updated] = await returning<Pick<ClusterStateEntry, 'node_count'>>(
      tx,
      `UPDATE clusters SET status = $2, workflow_job_instance_id = coalesce($3, workflow_job_instance_id),
         resize_request = CASE WHEN $2 = ANY($5) THEN resize_request END,
         last_active_at = CASE WHEN $2 = 'RUNNING' AND status = 'INITIATING' THEN platform_now() ELSE last_active_at END
       WHERE cluster_id = $1 AND status = $4
       RETURNING (SELECT count(*) FROM cluster_nodes n WHERE n.cluster_id = $1 AND n.to_date = 'infinity') AS node_count`,
      [cluster.cluster_id, to, workflowInstanceId, cluster.status, RESIZABLE],
    );
    if (!updated) throw new Error(`Cluster ${cluster.cluster_id} changed although it was locked`);
    return updated.node_count;
  }

  appendState(tx: Tx, clusterId: number, entry: StateEntry<ClusterStateEntry>): Promise<number> {
    return appendState(tx, HISTORY, clusterId, entry);
  }

  hasReached(clusterId: number, workflowInstanceId: number, status: ClusterStatus): Promise<boolean> {
    return this.dataSource.manager.existsBy(ClusterStateEntry, {
      cluster_id: clusterId,
      workflow_job_instance_id: workflowInstanceId,
      status,
    });
  }

  /**
   * Records that a job began or ended, so that the idle time counts from now. The duration of jobs is a moving mean in
   * which the latest twenty weigh most.
   */
  async touch(tx: Tx, clusterId: number, ranMs: number | null = null): Promise<void> {
    await tx.query(
      `UPDATE clusters SET last_active_at = platform_now(),
         recent_run_ms = coalesce(recent_run_ms + ($2::float8 - recent_run_ms) / 20, $2::float8, recent_run_ms)
       WHERE cluster_id = $1`,
      [clusterId, ranMs],
    );
  }

  async lastStopBegan(tx: Tx, clusterId: number): Promise<Date | null> {
    const row = await firstRow<Pick<ClusterStateEntry, 'start_time'>>(
      tx,
      `SELECT start_time FROM cluster_states WHERE cluster_id = $1 AND status = 'STOPPING' ORDER BY sequence DESC LIMIT 1`,
      [clusterId],
    );
    return row?.start_time ?? null;
  }

  /** Sets the resize under way; null once it has ended. */
  async setResize(tx: Tx, clusterId: number, instanceId: number | null): Promise<void> {
    await updateRows(tx, Cluster, { resize_instance_id: instanceId }, { cluster_id: clusterId });
  }

  /**
   * Records a user's resize, which is tried at once: earlier failures to add nodes do not delay it. The cluster counts as used, so
   * that it does not stop for idleness right after it.
   */
  async requestResize(tx: Tx, clusterId: number, request: ResizeRequest): Promise<void> {
    const changed = { resize_request: request, grow_after: null, grow_failures: 0, last_active_at: NOW };
    await updateRows(tx, Cluster, changed, { cluster_id: clusterId });
  }

  /**
   * Records that a node could not be added, so that the next attempt waits: longer after each failure, up to two
   * minutes.
   */
  async recordFailedGrowth(tx: Tx, clusterId: number, { spotIsMissing }: { spotIsMissing: boolean }): Promise<void> {
    await tx.query(
      `UPDATE clusters SET grow_failures = grow_failures + 1,
         grow_after = platform_now() + least($2 * power(2, least(grow_failures, 10)), $3) * interval '1 millisecond',
         spot_missing_since = CASE WHEN $4 THEN coalesce(spot_missing_since, platform_now()) ELSE spot_missing_since END
       WHERE cluster_id = $1`,
      [clusterId, MIN_GROW_PAUSE_MS, MAX_GROW_PAUSE_MS, spotIsMissing],
    );
  }

  async recordGrowth(
    tx: Tx,
    clusterId: number,
    { isSpot, startedInMs }: { isSpot: boolean; startedInMs: number },
  ): Promise<void> {
    await tx.query(
      `UPDATE clusters SET grow_failures = 0, grow_after = NULL, node_start_ms = $3,
         spot_missing_since = CASE WHEN $2 THEN NULL ELSE spot_missing_since END
       WHERE cluster_id = $1`,
      [clusterId, isSpot, Math.min(startedInMs, MAX_START_MS)],
    );
  }

  async stateReason(tx: Tx, clusterId: number): Promise<string | null> {
    const row = await firstRow<Pick<ClusterStateEntry, 'reason'>>(
      tx,
      `SELECT reason FROM cluster_states WHERE cluster_id = $1 AND end_time = 'infinity'`,
      [clusterId],
    );
    return row?.reason ?? null;
  }

  async runSettings(clusterId: number): Promise<RunSettings | null> {
    const sql = `SELECT ${RUN_SETTINGS} FROM clusters WHERE cluster_id = $1`;
    return firstRow<RunSettings>(this.dataSource.manager, sql, [clusterId]);
  }

  async snapshot(clusterId: number): Promise<ClusterSnapshotRow | null> {
    return firstRow<ClusterSnapshotRow>(
      this.dataSource.manager,
      `SELECT c.cluster_id, c.tenant_id, c.cluster_type, c.min_instances, c.max_instances, c.num_of_workers, c.keep_scratch_disk,
         c.is_spot_instance, c.enable_public_ip, c.block_project_ssh_keys, c.cloud_identity, c.labels, c.spark_infra_version_id,
         c.is_turbo_enabled, c.is_cuda_enabled, c.disk_type_id, c.disk_iops,
         c.disk_throughput_mb, c.disk_size, c.number_of_disks, ${clusterConfJson()} AS cluster_conf,
         ${cloudEnvJson()} AS cloud_env
       FROM clusters c JOIN cluster_confs cc ON cc.cluster_conf_id = c.cluster_conf_id ${clusterConfJoins()}
         JOIN cloud_envs ce ON ce.cloud_env_id = c.cloud_env_id ${cloudEnvJoins()} WHERE c.cluster_id = $1`,
      [clusterId],
    );
  }

  async sealedSecret(tx: Tx, clusterId: number): Promise<Buffer | null> {
    const sql = 'SELECT spark_secret FROM clusters WHERE cluster_id = $1';
    return (await firstRow<Pick<Cluster, 'spark_secret'>>(tx, sql, [clusterId]))?.spark_secret ?? null;
  }

  async setSealedSecret(tx: Tx, clusterId: number, sealed: Buffer | null): Promise<void> {
    await updateRows(tx, Cluster, { spark_secret: sealed }, { cluster_id: clusterId });
  }
}

function selected({ tenantId }: TenantScope, { id, name }: RecordSelector) {
  return [tenantId, id ?? null, name ?? null];
}

function existing<C>(selector: RecordSelector, cluster: C | null): C {
  if (cluster) return cluster;
  throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with ${describeSelector(selector)}.`);
}
