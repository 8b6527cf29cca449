import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
  type ProviderNode,
} from '../../../../libs/compute-drivers/compute-driver';
import type { WorkflowContext } from '../../../platform/workflows/workflow-definition';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { type ClusterFacts, ClusterFactsReader, nodeRef } from './cluster-facts';
import { afterFault } from './provider-faults';
import type { ClusterNode } from '../entities/cluster-node.entity';

/** The machines of nodes that are to come up. */
@Injectable()
export class NodeMachines {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly facts: ClusterFactsReader,
  ) {}

  /** Has the provider make or start the node's machine; what it says for good is kept with the node. */
  async bring(facts: ClusterFacts, node: ClusterNode, driver: ComputeDriver, call: DriverContext): Promise<void> {
    try {
      const made = wasThere(node)
        ? await driver.start(nodeRef(facts, node), call)
        : await driver.provision(this.facts.nodeSpec(facts, node), call);
      const { providerRef: provider_ref, privateIp: ip_address } = made;
      await this.nodes.accepted(node.node_id, { provider_ref, ip_address });
    } catch (error) {
      if (error instanceof ComputeDriverError && afterFault(error).kind === 'end')
        await this.nodes.update(this.dataSource.manager, node.node_id, { error: error.message });
      throw error;
    }
  }

  /**
   * By node id, why a machine will never report: better to know now than to wait for the deadline. Of one that was accepted
   * just now a provider may not know yet.
   */
  async problems(
    facts: ClusterFacts,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    if (nodes.length === 0) return new Map();
    const machines = await this.describe(facts, nodes, caller);
    const problems = new Map<number, string>();
    const byToken = new Map(nodes.map((node) => [node.token, node]));
    for (const { state, fault, labels } of machines) {
      const node = byToken.get(labels.nodeToken);
      if (!node || (state !== 'failed' && state !== 'stopped' && state !== 'interrupted')) continue;
      const what = state === 'interrupted' ? 'been interrupted' : state;
      const detail = fault?.message ?? 'no detail';
      problems.set(node.node_id, `Node ${node.node_number} has ${what} at the provider: ${detail}`);
    }
    await this.noteShown(byToken, machines);
    const missing = machines.filter(({ state }) => state === 'gone').map(({ labels }) => labels.nodeToken);
    for (const { node_id, node_number } of missing.length === 0 ? [] : await this.nodes.goneAmong(missing))
      problems.set(node_id, `Node ${node_number} has disappeared at the provider.`);
    return problems;
  }

  /**
   * By node id, why the machine of a node that is to come back will not: it disappeared, or its provider took it back, while
   * nobody looked.
   */
  async vanished(
    facts: ClusterFacts,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<Map<number, string>> {
    const before = nodes.filter(wasThere);
    if (before.length === 0) return new Map();
    const machines = await this.describe(facts, before, caller);
    const whys = new Map<number, string>();
    for (const [index, { state }] of machines.entries()) {
      const node = before[index];
      if (!node || (state !== 'gone' && state !== 'interrupted')) continue;
      const what = state === 'gone' ? 'has disappeared at the provider' : 'was taken back by the provider';
      whys.set(node.node_id, `Its machine ${what} while it was stopped`);
    }
    return whys;
  }

  /** What the provider shows of each, in their order. */
  private describe(
    facts: ClusterFacts,
    nodes: readonly ClusterNode[],
    caller: Pick<WorkflowContext, 'correlationId' | 'signal'>,
  ): Promise<ProviderNode[]> {
    return this.facts.withDriver(facts, caller, (driver, call) =>
      driver.describe(
        nodes.map((node) => nodeRef(facts, node)),
        call,
      ),
    );
  }

  /** From now on these count as gone when the provider does not show them. Its address may be new. */
  private async noteShown(byToken: ReadonlyMap<string, ClusterNode>, machines: readonly ProviderNode[]): Promise<void> {
    const shown = machines.filter(({ state }) => state !== 'gone');
    const isNew = ({ labels }: ProviderNode) => byToken.get(labels.nodeToken)?.seen_at === null;
    const first = shown.filter(isNew).map(({ labels }) => labels.nodeToken);
    if (first.length > 0) await this.nodes.noteSeen(first);
    for (const { labels, privateIp: ip_address } of shown) {
      const node = byToken.get(labels.nodeToken);
      if (node && ip_address !== null && node.ip_address !== ip_address)
        await this.nodes.update(this.dataSource.manager, node.node_id, { ip_address });
    }
  }
}

/**
 * Whether the node has a machine to be started. One that has only been accepted may not be shown yet: a repeated step
 * asks for it by the same request, which finds it.
 */
function wasThere({ provider_ref, seen_at, last_seen_at }: ClusterNode): boolean {
  return provider_ref !== null && (seen_at !== null || last_seen_at !== null);
}
