import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver, DriverContext, NodeRef } from '../../../../../libs/compute-drivers/compute-driver';
import type { WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import type { NodeStatus } from '../model/cluster-state';
import { computeDriverName } from '../model/compute-support';
import { type ClusterSnapshot, ClusterSnapshots, marketOf, nodeRef } from './cluster-snapshot';
import { settledByNode } from './provider-faults';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';

type Caller = Pick<WorkflowContext, 'correlationId' | 'signal' | 'instanceId' | 'actorUserId'>;

/** Why a node of a cluster that is torn down enters its state. */
const REASONS = {
  STOPPING: 'Its machine is to be stopped',
  STOPPED: 'Its machine is stopped',
  DESTROYING: 'Its machine is to be destroyed',
  DESTROYED: 'Its machine is gone',
} as const satisfies Partial<Record<NodeStatus, string>>;

/** The states of a node that is torn down. */
export type TeardownStatus = keyof typeof REASONS;

/** How many nodes a reason names. */
const MAX_NAMED = 10;

/** Ends the nodes of a cluster at the provider and in the database; every call may be repeated. */
@Injectable()
export class NodeTeardown {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
  ) {}

  /**
   * Stops every node and keeps its disk; one that is to be destroyed, cannot be stopped, or was never heard, so that its
   * disk has nothing, is destroyed, and the next start makes another. What a provider does not show yet cannot be stopped:
   * it would run on as a node's own. False while the provider is still at it: look again.
   */
  async stopAll(snapshot: ClusterSnapshot, caller: Caller): Promise<boolean> {
    const nodes = await this.nodes.ofCluster(snapshot.clusterId);
    const type = snapshot.machine.type;
    const ended = await this.atProvider(snapshot, nodes, caller, async (driver, node, ref, call) =>
      hasDisk(node) && driver.canStop({ market: marketOf(node), type })
        ? (await driver.stop(ref, call)) === 'stopped' && 'STOPPED'
        : (await driver.destroy(ref, call)) === 'gone' && 'DESTROYED',
    );
    const areDestroyed = nodes.filter(
      ({ node_id, status }) => (ended.get(node_id) ?? (status === 'DESTROYING' && 'DESTROYED')) === 'DESTROYED',
    );
    await this.mark(areDestroyed, 'DESTROYING', caller);
    await this.mark(areDestroyed, 'DESTROYED', caller);
    if (![...ended.values()].every(Boolean)) return false;
    await this.mark(nodes, 'STOPPED', caller);
    return true;
  }

  /**
   * Destroys every node; afterwards the provider has nothing of this cluster. False while the provider is still at it:
   * look again.
   */
  async destroyAll(snapshot: ClusterSnapshot, caller: Caller): Promise<boolean> {
    const nodes = await this.nodes.ofCluster(snapshot.clusterId);
    return (await this.destroy(snapshot, nodes, caller)).length === nodes.length;
  }

  /** Destroys these nodes, and answers those that are gone, which are marked so. */
  async destroy(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Caller,
    reason?: string,
  ): Promise<ClusterNode[]> {
    const ended = await this.atProvider(
      snapshot,
      nodes,
      caller,
      async (driver, _node, ref, call) => (await driver.destroy(ref, call)) === 'gone',
    );
    const gone = nodes.filter(({ node_id }) => ended.get(node_id) ?? true);
    await this.mark(gone, 'DESTROYED', caller, reason);
    return gone;
  }

  /** Names the nodes that the provider may still have, for people; null when there are none. */
  async leftBehind(clusterId: number): Promise<string | null> {
    const nodes = await this.nodes.ofCluster(clusterId);
    if (nodes.length === 0) return null;
    const names = nodes.slice(0, MAX_NAMED).map((node) => `${node.node_number} (${node.provider_ref ?? node.token})`);
    const more = nodes.length > MAX_NAMED ? ` and ${nodes.length - MAX_NAMED} more` : '';
    return `${nodes.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}${more}`;
  }

  /**
   * What the call answers for each node that may have a machine, by node id. Without machines no driver is needed: a
   * cluster without nodes can be destroyed whatever its environment.
   */
  private async atProvider<T>(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Caller,
    call: (driver: ComputeDriver, node: ClusterNode, ref: NodeRef, context: DriverContext) => Promise<T>,
  ): Promise<Map<number, T>> {
    const hasDriver = computeDriverName(snapshot.cloudProviderId, snapshot.endpoint) !== null;
    // With a driver, a machine that was asked for may have been made without its reference being recorded.
    const mayHaveOne = (node: ClusterNode): boolean => hasDriver && (node.asked_at !== null || hasReported(node));
    const withMachine = nodes.filter((node) => mayHaveOne(node) || node.provider_ref !== null);
    if (withMachine.length === 0) return new Map();
    const ended = await this.snapshots.withDriver(snapshot, caller, (driver, context) =>
      settledByNode(withMachine, async (node): Promise<[number, T]> => [
        node.node_id,
        await call(driver, node, nodeRef(snapshot, node), context),
      ]),
    );
    return new Map(ended);
  }

  /** Announces in the node history what is about to happen. */
  async mark(
    nodes: readonly Pick<ClusterNode, 'node_id'>[],
    to: TeardownStatus,
    caller: Pick<Caller, 'instanceId' | 'actorUserId'>,
    reason: string = REASONS[to],
  ): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      for (const { node_id } of nodes) {
        const node = await this.nodes.get(node_id, tx, true);
        if (!node || node.status === 'DESTROYED') continue;
        if (to === 'STOPPED' && node.status === 'ERROR') continue;
        await this.lifecycle.transitionNode(tx, node, {
          to,
          reason,
          userId: caller.actorUserId,
          workflowInstanceId: caller.instanceId,
        });
      }
    });
  }
}

/** Whether there may be something on the node's disk: it has run, or its agent was heard on the way there. */
function hasDisk(node: ClusterNode): boolean {
  if (node.status === 'DESTROYING') return false;
  return node.status === 'STOPPING' || node.status === 'STOPPED' || hasReported(node);
}
