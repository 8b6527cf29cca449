import { Injectable } from '@nestjs/common';
import { conflict } from '../../platform/errors/domain-error';
import type { Tx } from '../../platform/persistence/sql';
import { ClusterNodesRepository } from './cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster, type RunSettings } from './cluster-rows.repository';
import { ClusterStartsService } from './cluster-starts.service';
import type { ClusterStatus } from './cluster-state';
import { ClustersRepository } from './clusters.repository';
import type { ClusterNode } from './entities/cluster-node.entity';
import type { Cluster } from './entities/cluster.entity';

const REFUSING: readonly ClusterStatus[] = ['DESTROYING', 'DESTROYED', 'ERROR'];

/** Where runs find a place: slots of nodes, held under the cluster's row lock. */
@Injectable()
export class ClusterSlotsService {
  constructor(
    private readonly clusters: ClustersRepository,
    private readonly rows: ClusterRowsRepository,
    private readonly nodes: ClusterNodesRepository,
    private readonly starts: ClusterStartsService,
  ) {}

  /** Locks the cluster, so that slots are counted and given one at a time. Null when it does not exist. */
  lock(tx: Tx, clusterId: number): Promise<LockedCluster | null> {
    return this.rows.lock(tx, clusterId);
  }

  /** What runs inherit from their cluster; bare defaults if it does not exist. */
  async runSettings(clusterId: number): Promise<RunSettings> {
    const settings = await this.rows.runSettings(clusterId);
    return settings ?? { spark_config: {}, max_parallel_jobs: 1, object_storage_manager_id: null };
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
  async freeNode(tx: Tx, cluster: LockedCluster): Promise<ClusterNode | null> {
    if (!['RUNNING', 'RESIZING_UP', 'RESIZING_DOWN'].includes(cluster.status)) return null;
    return this.nodes.withFreeSlot(tx, cluster.cluster_id, cluster.max_parallel_jobs);
  }

  /** Makes the node's agent check what it should run, as soon as the transaction commits. */
  async wake(tx: Tx, nodeId: number): Promise<void> {
    await this.nodes.wake(tx, nodeId);
  }

  /** Notes that a job began or ended, so that the idle time counts from now. */
  async touch(tx: Tx, clusterId: number): Promise<void> {
    await this.rows.touch(tx, clusterId);
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
  lastStopBegan(tx: Tx, clusterId: number): Promise<Date | null> {
    return this.rows.lastStopBegan(tx, clusterId);
  }

  /** Why the cluster is in its present state. */
  stateReason(tx: Tx, clusterId: number): Promise<string | null> {
    return this.rows.stateReason(tx, clusterId);
  }

  /** The cluster of a tenant by id or name, for a job configuration; null when there is none. */
  async find(
    tx: Tx,
    tenantId: string,
    selector: { id?: number; name?: string },
  ): Promise<Pick<Cluster, 'cluster_id'> | null> {
    return this.clusters.latest(tx, tenantId, selector);
  }
}
