import { Injectable } from '@nestjs/common';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster, type RunSettings } from '../model/cluster-rows.repository';
import { ClusterStartsService } from '../lifecycle/cluster-starts.service';
import { GIVES_SLOTS, REFUSES_RUNS } from '../model/cluster-state';
import { ClusterDefinitionsRepository } from '../definition/cluster-definitions.repository';
import { assertEnabled } from '../lifecycle/operation-rules';
import { countEach, pack, spread } from './slots';
import type { Cluster } from '../model/entities/cluster.entity';

/** Slots of nodes for runs, held under the cluster's row lock. */
@Injectable()
export class ClusterSlotsService {
  constructor(
    private readonly clusters: ClusterDefinitionsRepository,
    private readonly rows: ClusterRowsRepository,
    private readonly nodes: ClusterNodesRepository,
    private readonly starts: ClusterStartsService,
  ) {}

  /** Locks the cluster, so that its slots are assigned one at a time. Returns null if it does not exist. */
  lock(tx: Tx, clusterId: number): Promise<LockedCluster | null> {
    return this.rows.lock(tx, clusterId);
  }

  /** Returns the settings that runs inherit from their cluster; bare defaults if it does not exist. */
  async runSettings(clusterId: number): Promise<RunSettings> {
    const settings = await this.rows.runSettings(clusterId);
    const none = {
      object_storage_manager_id: null,
      metastore_catalog_id: null,
      is_turbo_enabled: false,
      is_cuda_enabled: false,
    };
    return settings ?? { spark_config: {}, max_parallel_jobs: 1, ...none };
  }

  /** Throws a 409 if the cluster takes no runs, now or later. */
  assertTakesRuns(cluster: Pick<LockedCluster, 'name' | 'status' | 'active'>): void {
    assertEnabled(cluster);
    if (!REFUSES_RUNS.includes(cluster.status)) return;
    throw conflict('CLUSTER.INVALID_STATE', `The cluster "${cluster.name}" is ${cluster.status} and takes no jobs.`, {
      cluster_status: cluster.status,
    });
  }

  /** Returns a node with a free slot for each of at most `limit` runs of a locked cluster, as far as slots are free. */
  async freeSlots(tx: Tx, cluster: LockedCluster, limit: number): Promise<number[]> {
    if (!GIVES_SLOTS.includes(cluster.status)) return [];
    const { cluster_id, max_parallel_jobs, shrinks } = cluster;
    const nodes = await this.nodes.withFreeSlots(tx, cluster_id, max_parallel_jobs, { limit, fullestFirst: shrinks });
    return (shrinks ? pack : spread)(nodes, max_parallel_jobs, limit);
  }

  /** Occupies a slot for each occurrence of a node, and wakes the agents. */
  async take(tx: Tx, nodeIds: readonly number[]): Promise<void> {
    await this.nodes.addBusySlots(tx, countEach(nodeIds, 1));
  }

  /** Frees a slot for each occurrence of a node, and wakes the agents. A draining node that is empty now can be removed. */
  async free(tx: Tx, nodeIds: readonly number[]): Promise<void> {
    const emptied = await this.nodes.addBusySlots(tx, countEach(nodeIds, -1));
    for (const clusterId of emptied) await this.requestScaling(tx, clusterId);
  }

  /** Makes the nodes' agents check their desired state as soon as the transaction has committed. */
  async wake(tx: Tx, nodeIds: readonly number[]): Promise<void> {
    await this.nodes.wake(tx, nodeIds);
  }

  /** Requests a scaling decision for a running cluster, because a run waits. */
  async requestScaling(tx: Tx, clusterId: number): Promise<void> {
    await notifyAfterCommit(tx, 'scaling', String(clusterId));
  }

  /**
   * Records that a job began or ended, so that the idle time counts from now; for an ended job, with the time that it
   * had a slot.
   */
  async touch(tx: Tx, clusterId: number, ranMs: number | null = null): Promise<void> {
    await this.rows.touch(tx, clusterId, ranMs);
  }

  /** Starts a stopped cluster because a run needs it. Throws if it cannot be started. */
  async startForRun(tx: Tx, cluster: LockedCluster, userId: number | null, runId: number): Promise<void> {
    await this.starts.begin(tx, cluster, userId, `Job ${runId} needs the cluster`);
  }

  /** Returns why a stopped cluster cannot be started, in a sentence; null if it can. */
  async startRefusal(tx: Tx, cluster: LockedCluster): Promise<string | null> {
    return (await this.starts.refusal(tx, cluster))?.message ?? null;
  }

  lastStopBegan(tx: Tx, clusterId: number): Promise<Date | null> {
    return this.rows.lastStopBegan(tx, clusterId);
  }

  stateReason(tx: Tx, clusterId: number): Promise<string | null> {
    return this.rows.stateReason(tx, clusterId);
  }

  /** Returns the cluster of a tenant by id or name, for a job configuration; null if there is none. */
  async find(
    tx: Tx,
    tenantId: string,
    selector: { id?: number; name?: string },
  ): Promise<Pick<Cluster, 'cluster_id' | 'name'> | null> {
    return this.clusters.latest(tx, tenantId, selector);
  }
}
