import { Injectable } from '@nestjs/common';
import { conflict } from '../../platform/errors/domain-error';
import { firstRow, rows, type Tx } from '../../platform/persistence/sql';
import { lockCluster, type LockedCluster } from './cluster-lifecycle';
import { ClusterNodesRepository } from './cluster-nodes.repository';
import { ClusterStartsService } from './cluster-starts.service';
import type { ClusterStatus } from './cluster-state';
import type { SparkConfig } from './dto/cluster-fields.dto';
import type { ClusterNode } from './entities/cluster-node.entity';

/** A cluster locked for the placing of runs, with what a run inherits from it. */
export interface RunCluster extends LockedCluster {
  sparkConfig: SparkConfig;
  maxParallelJobs: number;
  objectStorageManagerId: number | null;
}

interface Inherited {
  spark_config: SparkConfig;
  max_parallel_jobs: number;
  object_storage_manager_id: number | null;
}

const REFUSING: readonly ClusterStatus[] = ['DESTROYING', 'DESTROYED', 'ERROR'];

/** Where runs find a place: slots of nodes, held under the cluster's row lock. */
@Injectable()
export class ClusterSlotsService {
  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly starts: ClusterStartsService,
  ) {}

  /** Locks the cluster, so that slots are counted and given one at a time. Null when it does not exist. */
  async lock(tx: Tx, clusterId: number): Promise<RunCluster | null> {
    const cluster = await lockCluster(tx, clusterId);
    if (!cluster) return null;
    const row = await firstRow<Inherited>(
      tx,
      'SELECT spark_config, max_parallel_jobs, object_storage_manager_id FROM clusters WHERE cluster_id = $1',
      [clusterId],
    );
    return {
      ...cluster,
      sparkConfig: row?.spark_config ?? {},
      maxParallelJobs: row?.max_parallel_jobs ?? 1,
      objectStorageManagerId: row?.object_storage_manager_id ?? null,
    };
  }

  /** 409 when the cluster cannot take a run now or later. */
  assertTakesRuns(cluster: LockedCluster): void {
    if (!cluster.active)
      throw conflict('CLUSTER.DISABLED', `The cluster "${cluster.name}" is disabled. Enable it first.`);
    if (!REFUSING.includes(cluster.status)) return;
    throw conflict('CLUSTER.INVALID_STATE', `The cluster "${cluster.name}" is ${cluster.status} and takes no jobs.`, {
      cluster_status: cluster.status,
    });
  }

  /** A ready node of a running cluster with the fewest runs, if one has a free slot. */
  async freeNode(tx: Tx, cluster: RunCluster): Promise<ClusterNode | null> {
    if (!['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'].includes(cluster.status)) return null;
    return firstRow<ClusterNode>(
      tx,
      `SELECT n.* FROM cluster_nodes n
       LEFT JOIN LATERAL (SELECT count(*) AS busy FROM runs r WHERE r.node_id = n.node_id AND r.ended_at IS NULL) b ON TRUE
       WHERE n.cluster_id = $1 AND n.to_date = 'infinity' AND n.status = 'RUNNING' AND n.daemons_state = 'ready'
         AND n.role <> 'worker' AND b.busy < $2
       ORDER BY b.busy, n.node_number LIMIT 1`,
      [cluster.cluster_id, cluster.maxParallelJobs],
    );
  }

  /** Makes the node's agent look at what it should run, as soon as the transaction commits. */
  async wake(tx: Tx, nodeId: number): Promise<void> {
    await this.nodes.wake(tx, nodeId);
  }

  /** Notes that a job began or ended, so that the idle time counts from now. */
  async touch(tx: Tx, clusterId: number): Promise<void> {
    await tx.query('UPDATE clusters SET last_active_at = platform_now() WHERE cluster_id = $1', [clusterId]);
  }

  /** Starts a stopped cluster because a run needs it; throws when it cannot be started. */
  async startFor(tx: Tx, cluster: LockedCluster, userId: number | null, runId: number): Promise<void> {
    await this.starts.begin(tx, cluster, userId, `Job ${runId} needs the cluster`);
  }

  /** Why a stopped cluster cannot be started, in a sentence; null when it can. */
  async startRefusal(tx: Tx, cluster: LockedCluster): Promise<string | null> {
    return (await this.starts.refusal(tx, cluster))?.message ?? null;
  }

  /** When the cluster last began to stop. */
  async lastStopBegan(tx: Tx, clusterId: number): Promise<Date | null> {
    const row = await firstRow<{ start_time: Date }>(
      tx,
      `SELECT start_time FROM cluster_states WHERE cluster_id = $1 AND status = 'STOPPING' ORDER BY sequence DESC LIMIT 1`,
      [clusterId],
    );
    return row?.start_time ?? null;
  }

  /** Why the cluster is in its present state. */
  async stateReason(tx: Tx, clusterId: number): Promise<string | null> {
    const row = await firstRow<{ reason: string | null }>(
      tx,
      `SELECT reason FROM cluster_states WHERE cluster_id = $1 AND end_time = 'infinity'`,
      [clusterId],
    );
    return row?.reason ?? null;
  }

  /** The cluster of a tenant by id or name, for a job configuration; null when there is none. */
  async find(
    tx: Tx,
    tenantId: string,
    selector: { id?: number; name?: string },
  ): Promise<{ cluster_id: number; active: boolean } | null> {
    const [row] = await rows<{ cluster_id: number; active: boolean }>(
      tx,
      `SELECT cluster_id, to_date = 'infinity' AS active FROM clusters
       WHERE tenant_id = $1 AND ($2::bigint IS NULL OR cluster_id = $2) AND ($3::text IS NULL OR name = $3)
       ORDER BY cluster_id DESC LIMIT 1`,
      [tenantId, selector.id ?? null, selector.name ?? null],
    );
    return row ?? null;
  }
}
