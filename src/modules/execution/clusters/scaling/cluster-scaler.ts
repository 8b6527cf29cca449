import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Market } from '../../../../../libs/compute-drivers/compute-driver';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import {
  decideScaling,
  hasSpareWorker,
  isWithinBounds,
  reachedByResize,
  type ScalingDecision,
} from './scaling-decision';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import type { LockedCluster } from '../model/cluster-rows.repository';
import { RESIZE_CLUSTER_DOWN, RESIZE_CLUSTER_UP } from '../lifecycle/cluster-workflows';
import { planInstances } from '../model/node-plan';
import { type ClusterSnapshot, ClusterSnapshots } from '../provisioning/cluster-snapshot';
import { Drivers } from '../provisioning/drivers';
import { NodePlanner } from '../provisioning/node-planner';
import { type ScalableCluster, ScalingRepository } from './scaling.repository';

/** Time in which a worker must hand over its blocks before it is removed, milliseconds. */
const DRAIN_TIMEOUT_MS = 10 * 60_000;
/** Time without spot capacity after which spot machines are requested again, milliseconds. */
const SPOT_RETRY_MS = 60 * 60_000;

/** Scales running clusters with their load and replaces lost nodes: decides, and begins the workflow that does it. */
@Injectable()
export class ClusterScaler {
  constructor(
    private readonly dataSource: DataSource,
    private readonly scaling: ScalingRepository,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
    private readonly drivers: Drivers,
    private readonly planner: NodePlanner,
    private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  isDue(cluster: ScalableCluster): boolean {
    if (decideScaling(cluster.facts).kind !== 'none' || hasLeftovers(cluster)) return true;
    return spareWorkerChanged(cluster) || hasEndedRequest(cluster) || reachedByResize(cluster.facts) !== null;
  }

  /** Decides again under the cluster's lock, and begins the workflow. */
  async scale(clusterId: number): Promise<void> {
    const scalable = await this.scaling.find(this.dataSource.manager, clusterId);
    if (!scalable || !this.isDue(scalable)) return;
    const snapshot = await this.snapshots.read(clusterId);
    if (!this.drivers.serves(snapshot.cloudProviderId, snapshot.endpoint)) return;
    await inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lifecycle.lock(tx, clusterId);
      const now = cluster && (await this.scaling.find(tx, clusterId));
      if (now) await this.apply(tx, cluster, now, snapshot);
    });
  }

  private async apply(
    tx: Tx,
    cluster: LockedCluster,
    scalable: ScalableCluster,
    snapshot: ClusterSnapshot,
  ): Promise<void> {
    if (spareWorkerChanged(scalable))
      await this.scaling.setSpareWorker(tx, scalable.clusterId, hasSpareWorker(scalable.facts));
    const reached = reachedByResize(scalable.facts);
    if (hasEndedRequest(scalable)) await this.scaling.endRequestedResize(tx, scalable.clusterId);
    else if (reached !== null) await this.scaling.recordReached(tx, scalable.clusterId, reached);
    const decision = decideScaling(scalable.facts);
    switch (decision.kind) {
      case 'grow':
        await this.grow(tx, cluster, scalable, snapshot, decision);
        break;
      case 'shrink':
        if (scalable.resizeInstanceId !== null || !(await this.shrink(tx, cluster, decision))) return;
        break;
      case 'trim':
        if (!(await this.trim(tx, cluster, scalable, decision))) return;
        break;
      case 'replace':
        await this.replace(tx, cluster, scalable, snapshot, decision);
        break;
      case 'none':
        if (!hasLeftovers(scalable)) return;
        await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, { to: null, reason: 'Nodes are removed' });
    }
    this.logger.info({ cluster_id: cluster.cluster_id, decision }, 'Scaling a cluster');
  }

  private async grow(
    tx: Tx,
    cluster: LockedCluster,
    scalable: ScalableCluster,
    snapshot: ClusterSnapshot,
    { by, reason }: Extract<ScalingDecision, { kind: 'grow' }>,
  ): Promise<void> {
    const userId = scalable.resizeUserId;
    const change = { to: 'RESIZING_UP', reason, userId } as const;
    const workflowInstanceId = await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, change);
    await this.planNodes(tx, scalable, snapshot, by, { reason, workflowInstanceId, userId, replacement: false });
  }

  /** Returns false if each of the nodes has received a run meanwhile. */
  private async shrink(
    tx: Tx,
    cluster: LockedCluster,
    { nodeIds, reason }: Extract<ScalingDecision, { kind: 'shrink' }>,
  ): Promise<boolean> {
    if ((await this.nodes.drain(tx, nodeIds, { withinMs: DRAIN_TIMEOUT_MS, busyToo: false })).length === 0)
      return false;
    await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_DOWN, { to: 'RESIZING_DOWN', reason });
    return true;
  }

  /** Takes nodes above the maximum out of use. A resize under way continues in its state, and removes them too. */
  private async trim(
    tx: Tx,
    cluster: LockedCluster,
    { resizeUserId: userId }: ScalableCluster,
    { nodeIds, reason }: Extract<ScalingDecision, { kind: 'trim' }>,
  ): Promise<boolean> {
    if ((await this.nodes.drain(tx, nodeIds, { withinMs: DRAIN_TIMEOUT_MS, busyToo: true })).length === 0) return false;
    const to = cluster.status === 'RUNNING' ? 'RESIZING_DOWN' : null;
    await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_DOWN, { to, reason, userId });
    return true;
  }

  /**
   * Replaces missing nodes, up to a number per hour. More losses point to a fault beyond the nodes, so the cluster
   * becomes ERROR.
   */
  private async replace(
    tx: Tx,
    cluster: LockedCluster,
    scalable: ScalableCluster,
    snapshot: ClusterSnapshot,
    { by, reason }: Extract<ScalingDecision, { kind: 'replace' }>,
  ): Promise<void> {
    const { replacementsPerHour } = this.config.worker;
    const replaced = await this.nodes.replacedWithinHour(tx, cluster.cluster_id);
    if (replaced + by > replacementsPerHour) {
      const last = await this.nodes.lastLoss(tx, cluster.cluster_id);
      const error =
        `${by === 1 ? 'A node is' : `${by} nodes are`} missing, and ${replaced} ${replaced === 1 ? 'was' : 'were'} already replaced within the last hour ` +
        `(limit: ${replacementsPerHour}). Latest loss: ${last ?? 'no reason recorded'}`;
      await this.lifecycle.transition(tx, cluster, {
        to: 'ERROR',
        reason: error,
        userId: null,
        workflowInstanceId: null,
      });
      return;
    }
    const last = scalable.isDown ? await this.nodes.lastLoss(tx, cluster.cluster_id) : null;
    const change = {
      to: scalable.isDown ? 'RESIZING_UP' : null,
      reason: last === null ? reason : `${reason}. ${last}`,
    } as const;
    const workflowInstanceId = await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, change);
    await this.planNodes(tx, scalable, snapshot, by, { reason, workflowInstanceId, userId: null, replacement: true });
  }

  private planNodes(
    tx: Tx,
    { nodes, spotMissingForMs }: ScalableCluster,
    snapshot: ClusterSnapshot,
    count: number,
    plan: { reason: string; workflowInstanceId: number; userId: number | null; replacement: boolean },
  ): Promise<void> {
    return this.planner.plan(tx, snapshot, planInstances(snapshot, count, nodes), {
      ...plan,
      registrationTimeoutMs: RESIZE_CLUSTER_UP.deadlineMs,
      market: this.marketOf(snapshot, spotMissingForMs),
    });
  }

  /** Returns on-demand for a spot cluster if its provider has lacked spot capacity for too long. */
  private marketOf({ market }: ClusterSnapshot, spotMissingForMs: number | null): Market {
    if (market === 'on-demand' || spotMissingForMs === null) return market;
    const useFallback = spotMissingForMs >= this.config.worker.spotFallbackMinutes * 60_000;
    return useFallback && spotMissingForMs < SPOT_RETRY_MS ? 'on-demand' : 'spot';
  }
}

/** True if the cluster has begun or ceased to have a spare worker. */
function spareWorkerChanged({ facts }: ScalableCluster): boolean {
  if (facts.clusterType !== 'CLUSTER') return false;
  return hasSpareWorker(facts) !== ((facts.spareWorkerSince ?? null) !== null);
}

/** True if the resize that a user requested has been carried out. */
function hasEndedRequest({ facts, resizeUserId }: ScalableCluster): boolean {
  return resizeUserId !== null && isWithinBounds(facts);
}

/**
 * True if a resize must be finished or nodes must be removed, and no workflow does it. False during the pause after a
 * failure.
 */
function hasLeftovers({ facts, resizeInstanceId, isAbandoned }: ScalableCluster): boolean {
  if (isAbandoned) return true;
  if (resizeInstanceId !== null || (facts.growAfter !== null && facts.growAfter > facts.now)) return false;
  return facts.nodes.some(({ phase, busySlots }) => phase === 'broken' || (phase === 'leaving' && busySlots === 0));
}
