import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver, DriverContext, NodeRef } from '../../../../../libs/compute-drivers/compute-driver';
import type { WorkflowContext } from '../../../../platform/background/workflows/workflow-definition';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import type { NodeStatus } from '../model/cluster-state';
import { computeDriverName } from '../model/compute-support';
import { type ClusterSnapshot, ClusterSnapshots, marketOf, nodeRef } from './cluster-snapshot';
import { callEachNode } from './provider-faults';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';
import { inTransaction } from '../../../../platform/kernel/persistence/sql';

type Caller = Pick<WorkflowContext, 'correlationId' | 'signal' | 'instanceId' | 'actorUserId'>;

const REASONS = {
  STOPPING: 'The machine is being stopped',
  STOPPED: 'The machine is stopped',
  DESTROYING: 'The machine is being destroyed',
  DESTROYED: 'The machine is gone',
} as const satisfies Partial<Record<NodeStatus, string>>;

export type TeardownStatus = keyof typeof REASONS;

const MAX_LISTED = 10;

/** Ends the nodes of a cluster at the provider and in the database. Every call may be repeated. */
@Injectable()
export class NodeTeardown {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
  ) {}

  /**
   * Stops every node and keeps its disk. A node is destroyed instead if it must go, if its machine cannot be stopped,
   * or if its agent never reported, so that its disk is empty; the next start creates another one. A machine that the
   * provider does not show yet cannot be stopped: it would run on. Returns false while the provider is still working;
   * call again.
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
   * Destroys every node; afterwards the provider has nothing of this cluster. Returns false while the provider is still
   * working; call again.
   */
  async destroyAll(snapshot: ClusterSnapshot, caller: Caller): Promise<boolean> {
    const nodes = await this.nodes.ofCluster(snapshot.clusterId);
    return (await this.destroy(snapshot, nodes, caller)).length === nodes.length;
  }

  /** Destroys these nodes and marks those that are gone. Returns the gone ones. */
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

  /** Lists the nodes that the provider may still have, for a reason; null if there are none. */
  async describeLeftovers(clusterId: number): Promise<string | null> {
    const nodes = await this.nodes.ofCluster(clusterId);
    if (nodes.length === 0) return null;
    const names = nodes.slice(0, MAX_LISTED).map((node) => `${node.node_number} (${node.provider_ref ?? node.token})`);
    const more = nodes.length > MAX_LISTED ? ` and ${nodes.length - MAX_LISTED} more` : '';
    return `${nodes.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}${more}`;
  }

  /**
   * Calls the driver for each node that may have a machine, and returns the results by node id. Without machines it
   * needs no driver, so that a cluster without nodes can be destroyed in any environment.
   */
  private async atProvider<T>(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    caller: Caller,
    call: (driver: ComputeDriver, node: ClusterNode, ref: NodeRef, context: DriverContext) => Promise<T>,
  ): Promise<Map<number, T>> {
    const hasDriver = computeDriverName(snapshot.cloudProviderId, snapshot.endpoint) !== null;
    // A driver may have created a requested machine although its reference was not recorded.
    const mayHaveOne = (node: ClusterNode): boolean => hasDriver && (node.asked_at !== null || hasReported(node));
    const withMachine = nodes.filter((node) => mayHaveOne(node) || node.provider_ref !== null);
    if (withMachine.length === 0) return new Map();
    const ended = await this.snapshots.withDriver(snapshot, caller, (driver, context) =>
      callEachNode(withMachine, async (node): Promise<[number, T]> => [
        node.node_id,
        await call(driver, node, nodeRef(snapshot, node), context),
      ]),
    );
    return new Map(ended);
  }

  /** Records in the node history what is about to happen. */
  async mark(
    nodes: readonly Pick<ClusterNode, 'node_id'>[],
    to: TeardownStatus,
    caller: Pick<Caller, 'instanceId' | 'actorUserId'>,
    reason: string = REASONS[to],
  ): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
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

/** True if the node's disk may hold data: the node has run, or its agent reported while it started. */
function hasDisk(node: ClusterNode): boolean {
  if (node.status === 'DESTROYING') return false;
  return node.status === 'STOPPING' || node.status === 'STOPPED' || hasReported(node);
}
