import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ComputeDriver, DriverContext } from '../../../../libs/compute-drivers/compute-driver';
import type { WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import type { NodeStatus } from '../cluster-state';
import { computeDriverName } from '../compute-support';
import { type ClusterFacts, ClusterFactsReader } from './cluster-facts';
import type { ClusterNode } from '../entities/cluster-node.entity';

type Caller = Pick<WorkflowContext, 'correlationId' | 'signal' | 'instanceId' | 'actorUserId'>;

/** How many nodes a reason names. */
const MAX_NAMED = 10;

/** Ends the nodes of a cluster at the provider and in the database; every call may be repeated. */
@Injectable()
export class NodeTeardown {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly facts: ClusterFactsReader,
  ) {}

  /** Stops every node and keeps its disk. */
  async stopAll(facts: ClusterFacts, caller: Caller): Promise<void> {
    const nodes = await this.nodes.ofCluster(facts.clusterId);
    await this.atProvider(facts, nodes, caller, (driver, token, call) => driver.stop(token, call));
    await this.mark(nodes, 'STOPPED', caller);
  }

  /** Destroys every node; afterwards the provider has nothing of this cluster. */
  async destroyAll(facts: ClusterFacts, caller: Caller): Promise<void> {
    const nodes = await this.nodes.ofCluster(facts.clusterId);
    await this.atProvider(facts, nodes, caller, (driver, token, call) => driver.destroy(token, call));
    await this.mark(nodes, 'DESTROYED', caller);
  }

  /** Names the nodes that the provider may still have, for people; null when there are none. */
  async leftBehind(clusterId: number): Promise<string | null> {
    const nodes = await this.nodes.ofCluster(clusterId);
    if (nodes.length === 0) return null;
    const names = nodes.slice(0, MAX_NAMED).map((node) => `${node.node_number} (${node.provider_ref ?? node.token})`);
    const more = nodes.length > MAX_NAMED ? ` and ${nodes.length - MAX_NAMED} more` : '';
    return `${nodes.length === 1 ? 'node' : 'nodes'} ${names.join(', ')}${more}`;
  }

  /** Without machines no driver is needed: a cluster without nodes can be destroyed whatever its environment. */
  private async atProvider(
    facts: ClusterFacts,
    nodes: readonly ClusterNode[],
    caller: Caller,
    call: (driver: ComputeDriver, token: string, context: DriverContext) => Promise<void>,
  ): Promise<void> {
    const hasDriver = computeDriverName(facts.cloudProviderId, facts.endpoint) !== null;
    // With a driver, a machine may have been created without its reference being recorded.
    const withMachine = nodes.filter((node) => hasDriver || node.provider_ref !== null);
    if (withMachine.length === 0) return;
    await this.facts.withDriver(facts, caller, (driver, context) =>
      Promise.all(withMachine.map((node) => call(driver, node.token, context))),
    );
  }

  /** Announces in the node history what is about to happen. */
  async mark(nodes: readonly Pick<ClusterNode, 'node_id'>[], to: NodeStatus, caller: Caller): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      for (const { node_id } of nodes) {
        const node = await this.nodes.get(node_id, tx, true);
        if (!node || node.status === 'DESTROYED') continue;
        if (to === 'STOPPED' && node.status === 'ERROR') continue;
        await this.lifecycle.transitionNode(tx, node, {
          to,
          reason: null,
          userId: caller.actorUserId,
          workflowInstanceId: caller.instanceId,
        });
      }
    });
  }
}
