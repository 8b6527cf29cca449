import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { ClusterNodesRepository, type NodeRow } from '../cluster-nodes.repository';
import type { NodeStatus } from '../cluster-state';
import { type ClusterFacts, ClusterFactsReader } from './cluster-facts';

type Caller = Pick<WorkflowContext, 'correlationId' | 'signal' | 'instanceId' | 'actorUserId'>;

/** Ends the nodes of a cluster at the provider and in the database; every call may be repeated. */
@Injectable()
export class NodeTeardown {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly facts: ClusterFactsReader,
  ) {}

  /** Stops every node and keeps its disk. */
  async stopAll(facts: ClusterFacts, caller: Caller): Promise<void> {
    const nodes = await this.nodes.ofCluster(facts.clusterId);
    await this.facts.withDriver(facts, caller, (driver, call) =>
      Promise.all(nodes.map((node) => driver.stop(node.token, call))),
    );
    await this.mark(nodes, 'STOPPED', caller);
  }

  /** Destroys every node; afterwards the provider has nothing of this cluster. */
  async destroyAll(facts: ClusterFacts, caller: Caller): Promise<void> {
    const nodes = await this.nodes.ofCluster(facts.clusterId);
    await this.facts.withDriver(facts, caller, (driver, call) =>
      Promise.all(nodes.map((node) => driver.destroy(node.token, call))),
    );
    await this.mark(nodes, 'DESTROYED', caller);
  }

  /** Announces in the node history what is about to happen. */
  async mark(nodes: readonly Pick<NodeRow, 'node_id'>[], to: NodeStatus, caller: Caller): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      for (const { node_id } of nodes) {
        const node = await this.nodes.get(node_id, tx, true);
        if (!node || node.status === 'DESTROYED') continue;
        if (to === 'STOPPED' && node.status === 'ERROR') continue;
        await this.nodes.transition(tx, node, {
          to,
          reason: null,
          userId: caller.actorUserId,
          workflowInstanceId: caller.instanceId,
        });
      }
    });
  }
}
