import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Market } from '../../../../../libs/compute-drivers/compute-driver';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { decideScaling, hasSpareWorker, type ScalingDecision } from './scaling-decision';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import type { LockedCluster } from '../model/cluster-rows.repository';
import { RESIZE_CLUSTER_DOWN, RESIZE_CLUSTER_UP } from '../lifecycle/cluster-workflows';
import { planInstances } from '../provisioning/node-plan';
import { type ClusterSnapshot, ClusterSnapshots } from '../provisioning/cluster-snapshot';
import { Drivers } from '../provisioning/drivers';
import { NodePlanner } from '../provisioning/node-planner';
import { type ScalableCluster, ScalingRepository } from './scaling.repository';

/** A worker that is to go has so long to hand over its blocks, milliseconds. */
const DRAIN_MS = 10 * 60_000;
/** Spot machines that were missing for so long are asked for again, milliseconds. */
const SPOT_AGAIN_MS = 60 * 60_000;

/** Has running clusters follow their work, and lost nodes replaced: decides, and begins the workflow that does it. */
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

  /** Whether something is to be done about the cluster, as it was read. */
  isDue(cluster: ScalableCluster): boolean {
    return decideScaling(cluster.facts).kind !== 'none' || hasLeftovers(cluster) || isSpareNews(cluster);
  }

  /** Decides anew under the cluster's lock, and begins what follows. */
  async scale(clusterId: number): Promise<void> {
    const seen = await this.scaling.one(this.dataSource.manager, clusterId);
    if (!seen || !this.isDue(seen)) return;
    const snapshot = await this.snapshots.read(clusterId);
    if (!this.drivers.serves(snapshot.cloudProviderId, snapshot.endpoint)) return;
    await this.dataSource.transaction(async (tx) => {
      const cluster = await this.lifecycle.lock(tx, clusterId);
      const now = cluster && (await this.scaling.one(tx, clusterId));
      if (now) await this.apply(tx, cluster, now, snapshot);
    });
  }

  private async apply(tx: Tx, cluster: LockedCluster, seen: ScalableCluster, snapshot: ClusterSnapshot): Promise<void> {
    if (isSpareNews(seen)) await this.scaling.noteSpareWorker(tx, seen.clusterId, hasSpareWorker(seen.facts));
    const decision = decideScaling(seen.facts);
    switch (decision.kind) {
      case 'grow':
        await this.grow(tx, cluster, seen, snapshot, decision);
        break;
      case 'shrink':
        if (seen.resizeInstanceId !== null || !(await this.shrink(tx, cluster, decision))) return;
        break;
      case 'replace':
        await this.replace(tx, cluster, seen, snapshot, decision);
        break;
      case 'none':
        if (!hasLeftovers(seen)) return;
        await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, { to: null, reason: 'Nodes are removed' });
    }
    this.logger.info({ cluster_id: cluster.cluster_id, decision }, 'The nodes of a cluster change');
  }

  private async grow(
    tx: Tx,
    cluster: LockedCluster,
    seen: ScalableCluster,
    snapshot: ClusterSnapshot,
    { by, reason }: Extract<ScalingDecision, { kind: 'grow' }>,
  ): Promise<void> {
    const begun = { to: 'RESIZING_UP', reason } as const;
    const workflowInstanceId = await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, begun);
    await this.planMore(tx, seen, snapshot, by, { reason, workflowInstanceId, replacement: false });
  }

  /** False if each of the nodes has got a run meanwhile. */
  private async shrink(
    tx: Tx,
    cluster: LockedCluster,
    { nodeIds, reason }: Extract<ScalingDecision, { kind: 'shrink' }>,
  ): Promise<boolean> {
    if ((await this.nodes.drain(tx, nodeIds, DRAIN_MS)).length === 0) return false;
    await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_DOWN, { to: 'RESIZING_DOWN', reason });
    return true;
  }

  /** As long as that does not happen all the time: then something is wrong with more than the nodes. */
  private async replace(
    tx: Tx,
    cluster: LockedCluster,
    seen: ScalableCluster,
    snapshot: ClusterSnapshot,
    { by, reason }: Extract<ScalingDecision, { kind: 'replace' }>,
  ): Promise<void> {
    const { replacementsPerHour } = this.config.worker;
    const replaced = await this.nodes.replacedWithinHour(tx, cluster.cluster_id);
    if (replaced + by > replacementsPerHour) {
      const last = await this.nodes.lastLoss(tx, cluster.cluster_id);
      const why =
        `${by === 1 ? 'A node is' : `${by} nodes are`} missing, and ${replaced} ${replaced === 1 ? 'was' : 'were'} already replaced within an hour, ` +
        `of at most ${replacementsPerHour}. The last: ${last ?? 'no reason recorded'}`;
      await this.lifecycle.transition(tx, cluster, {
        to: 'ERROR',
        reason: why,
        userId: null,
        workflowInstanceId: null,
      });
      return;
    }
    const last = seen.isDown ? await this.nodes.lastLoss(tx, cluster.cluster_id) : null;
    const begun = {
      to: seen.isDown ? 'RESIZING_UP' : null,
      reason: last === null ? reason : `${reason}. ${last}`,
    } as const;
    const workflowInstanceId = await this.lifecycle.beginResize(tx, cluster, RESIZE_CLUSTER_UP, begun);
    await this.planMore(tx, seen, snapshot, by, { reason, workflowInstanceId, replacement: true });
  }

  private planMore(
    tx: Tx,
    { nodes, spotMissingForMs }: ScalableCluster,
    snapshot: ClusterSnapshot,
    count: number,
    plan: { reason: string; workflowInstanceId: number; replacement: boolean },
  ): Promise<void> {
    return this.planner.plan(tx, snapshot, planInstances(snapshot, count, nodes), {
      ...plan,
      userId: null,
      registerWithinMs: RESIZE_CLUSTER_UP.deadlineMs,
      market: this.marketOf(snapshot, spotMissingForMs),
    });
  }

  /** A spot cluster gets machines at the usual price once its provider has had no others for too long. */
  private marketOf({ market }: ClusterSnapshot, spotMissingForMs: number | null): Market {
    if (market === 'on-demand' || spotMissingForMs === null) return market;
    const isAway = spotMissingForMs >= this.config.worker.spotFallbackMinutes * 60_000;
    return isAway && spotMissingForMs < SPOT_AGAIN_MS ? 'on-demand' : 'spot';
  }
}

/** Whether a worker could be given up from now on, or no more. */
function isSpareNews({ facts }: ScalableCluster): boolean {
  if (facts.clusterType !== 'CLUSTER') return false;
  return hasSpareWorker(facts) !== ((facts.spareWorkerSince ?? null) !== null);
}

/** Whether there is something to be finished or nodes to be removed, and nobody does it; not before the pause that a failure brought is over. */
function hasLeftovers({ facts, resizeInstanceId, isAbandoned }: ScalableCluster): boolean {
  if (isAbandoned) return true;
  if (resizeInstanceId !== null || (facts.growAfter !== null && facts.growAfter > facts.now)) return false;
  return facts.nodes.some(({ phase, busySlots }) => phase === 'broken' || (phase === 'leaving' && busySlots === 0));
}
