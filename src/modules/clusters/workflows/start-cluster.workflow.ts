import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ComputeDriverError, type ProviderNode } from '../../../../libs/compute-drivers/compute-driver';
import {
  PermanentError,
  Step,
  type StepOutcome,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
} from '../../../platform/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../platform/workflows/workflow-jobs';
import { OpenTenantsService } from '../../iam/open-tenants.service';
import { agentTokenHash, BootstrapTokens } from '../bootstrap-tokens';
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { ClusterSecretsService } from '../cluster-secrets.service';
import { START_CLUSTER } from '../cluster-workflows';
import { planNodes } from '../node-plan';
import { ClusterFactsReader, nodeRef } from './cluster-facts';
import { Drivers } from './drivers';
import { COMPENSATION_MS, failureReason } from './failure-reason';
import { NodeTeardown } from './node-teardown';
import { afterFault, heedingFaults, ofNode, settledByNode } from './provider-faults';
import type { ClusterNode } from '../entities/cluster-node.entity';

const LOOK_AGAIN_MS = 3000;

/** STOPPED → INITIATING → RUNNING: plans nodes, makes or resumes them, and waits until every agent is ready. */
@Injectable()
@ImplementsWorkflow(START_CLUSTER)
export class StartClusterWorkflow implements Workflow<'cluster'> {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = COMPENSATION_MS;
  readonly steps = [
    { name: 'plan-nodes', run: (context: WorkflowContext<'cluster'>) => this.planNodes(context) },
    {
      name: 'provision-nodes',
      run: (context: WorkflowContext<'cluster'>) => heedingFaults(() => this.provisionNodes(context)),
    },
    {
      name: 'await-nodes',
      run: (context: WorkflowContext<'cluster'>) => heedingFaults(() => this.awaitNodes(context)),
    },
    { name: 'mark-running', run: (context: WorkflowContext<'cluster'>) => this.markRunning(context) },
  ];

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly facts: ClusterFactsReader,
    private readonly teardown: NodeTeardown,
    private readonly drivers: Drivers,
    private readonly tenants: OpenTenantsService,
    private readonly secrets: ClusterSecretsService,
    private readonly bootstrapTokens: BootstrapTokens,
  ) {}

  async compensate(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    if (!(await this.isCurrent(context))) return;
    const reason = failureReason(failure);
    const facts = await this.facts.read(context.subject.id);
    await this.markNodesFailed(context, reason);
    const { teardown } = this;
    const ended = await (facts.keepScratchDisk
      ? teardown.stopAll(facts, context)
      : teardown.destroyAll(facts, context));
    // The clean-up is repeated until its time is up.
    if (!ended) throw new Error('The provider is still ending the nodes of the cluster.');
    await this.lifecycle.fail(context, 'INITIATING', reason);
  }

  async giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure, problem: string): Promise<void> {
    if (!(await this.isCurrent(context))) return;
    await this.markNodesFailed(context, failureReason(failure));
    const left = await this.teardown.leftBehind(context.subject.id);
    const why = `What had been created could not be removed: ${problem}`;
    const rest = left && `Left behind: ${left}; destroy the cluster to remove what is left of it`;
    await this.lifecycle.fail(context, 'INITIATING', failureReason(failure, why, rest));
  }

  /** A repetition after the end must not touch the nodes of an operation that began since. */
  private isCurrent(context: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.lifecycle.whileCurrent(context, 'INITIATING', () => Promise.resolve());
  }

  private async planNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const facts = await this.facts.read(context.subject.id);
    const change = { userId: context.actorUserId, workflowInstanceId: context.instanceId };
    const current = await this.lifecycle.whileCurrent(context, 'INITIATING', async (tx) => {
      const existing = await this.nodes.ofCluster(context.subject.id, tx, true);
      for (const node of existing) {
        await this.nodes.update(tx, node.node_id, { daemons_state: 'starting', master_url: null, error: null });
        if (node.status === 'RUNNING') continue;
        await this.lifecycle.transitionNode(tx, node, { to: 'INITIATING', reason: 'Resumed with its disk', ...change });
      }
      const known = new Set(existing.map((node) => node.node_number));
      for (const planned of planNodes(facts)) {
        if (known.has(planned.nodeNumber)) continue;
        const identity = { token: randomUUID(), attempt: 1 };
        const node = {
          ...identity,
          tenant_id: context.subject.tenantId,
          cluster_id: context.subject.id,
          node_number: planned.nodeNumber,
          role: planned.role,
          place: facts.place,
          cores: facts.machine.cores,
          memory_mb: facts.machine.memoryMb,
          machine_type_id: facts.machineTypeId,
          machine_price_ycu: facts.machinePriceYcu,
          is_spot: facts.market === 'spot',
          labels: facts.labels,
          bootstrap_token_hash: agentTokenHash(this.bootstrapTokens.make(identity)),
        };
        await this.lifecycle.planNode(tx, node, { reason: 'Planned', ...change });
      }
      await this.nodes.renewBootstrapTokens(tx, context.subject.id, START_CLUSTER.deadlineMs);
      await this.secrets.ensure(tx, context.subject.tenantId, context.subject.id);
    });
    return current ? Step.done : Step.superseded;
  }

  private async provisionNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const facts = await this.facts.read(context.subject.id);
    const nodes = await this.nodes.ofCluster(context.subject.id);
    await this.facts.withDriver(facts, context, async (driver, call) => {
      if (
        !this.drivers.keepTenantsApart(facts.cloudProviderId, facts.endpoint) &&
        !(await this.tenants.isFirst(this.dataSource.manager, facts.tenantId))
      )
        throw new PermanentError(
          'Local nodes of this worker cannot keep tenants apart, so they serve only the first tenant.',
        );
      await settledByNode(nodes, async (node) => {
        const made = await this.noting(node, () =>
          wasThere(node)
            ? driver.start(nodeRef(facts, node), call)
            : driver.provision(this.facts.nodeSpec(facts, node), call),
        );
        const { providerRef: provider_ref, privateIp: ip_address } = made;
        await this.nodes.accepted(node.node_id, { provider_ref, ip_address });
      });
    });
    return Step.done;
  }

  /** Keeps with the node what the provider says for good. */
  private async noting<T>(node: ClusterNode, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ComputeDriverError && afterFault(error).kind === 'end')
        await this.nodes.update(this.dataSource.manager, node.node_id, { error: error.message });
      throw error;
    }
  }

  private async awaitNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const nodes = await this.nodes.ofCluster(context.subject.id);
    const failed = nodes.find((node) => node.daemons_state === 'failed');
    if (failed) {
      const words = failed.error ?? 'its Spark daemons failed';
      throw new PermanentError(ofNode(failed, words), { parts: { [failed.node_id]: words } });
    }
    if (nodes.every((node) => node.daemons_state === 'ready')) return Step.done;
    await this.assertAlive(context, nodes);
    return Step.wait(LOOK_AGAIN_MS);
  }

  /**
   * A machine that the provider lost or stopped will never report; better to give its reason now than wait for the
   * deadline. Of one that was accepted just now a provider may not know yet.
   */
  private async assertAlive(context: WorkflowContext<'cluster'>, nodes: ClusterNode[]): Promise<void> {
    const facts = await this.facts.read(context.subject.id);
    const machines = await this.facts.withDriver(facts, context, (driver, call) =>
      driver.describe(
        nodes.map((node) => nodeRef(facts, node)),
        call,
      ),
    );
    const byToken = new Map(nodes.map((node) => [node.token, node]));
    for (const { state, fault, labels } of machines) {
      const node = byToken.get(labels.nodeToken);
      if (!node) continue;
      if (state === 'failed' || state === 'stopped' || state === 'interrupted') {
        const what = state === 'interrupted' ? 'been interrupted' : state;
        const detail = fault?.message ?? 'no detail';
        throw failedAs(node, `has ${what} at the provider: ${detail}`);
      }
    }
    await this.noteShown(nodes, machines);
    const missing = machines.filter(({ state }) => state === 'gone').map(({ labels }) => labels.nodeToken);
    const [gone] = missing.length === 0 ? [] : await this.nodes.goneAmong(missing);
    if (gone) throw failedAs(gone, 'has disappeared at the provider.');
  }

  /** From now on these count as gone when the provider does not show them. Its address may be new. */
  private async noteShown(nodes: readonly ClusterNode[], machines: readonly ProviderNode[]): Promise<void> {
    const shown = machines.filter(({ state }) => state !== 'gone');
    const byToken = new Map(nodes.map((node) => [node.token, node]));
    const isNew = ({ labels }: ProviderNode) => byToken.get(labels.nodeToken)?.seen_at === null;
    const first = shown.filter(isNew).map(({ labels }) => labels.nodeToken);
    if (first.length > 0) await this.nodes.noteSeen(first);
    for (const { labels, privateIp: ip_address } of shown) {
      const node = byToken.get(labels.nodeToken);
      if (node && ip_address !== null && node.ip_address !== ip_address)
        await this.nodes.update(this.dataSource.manager, node.node_id, { ip_address });
    }
  }

  private async markRunning(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const ended = await this.lifecycle.end(context, 'INITIATING', 'RUNNING', 'Every node is ready');
    return ended ? Step.done : Step.superseded;
  }

  private async markNodesFailed(context: WorkflowContext<'cluster'>, reason: string): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      for (const node of await this.nodes.ofCluster(context.subject.id, tx, true)) {
        if (node.daemons_state === 'ready' || node.status === 'STOPPED') continue;
        await this.lifecycle.transitionNode(tx, node, {
          to: 'ERROR',
          reason: node.error ?? reason,
          userId: null,
          workflowInstanceId: context.instanceId,
        });
      }
    });
  }
}

/** That a node fails for good, and with it the start. */
function failedAs({ node_id, node_number }: ClusterNode, what: string): PermanentError {
  return new PermanentError(`Node ${node_number} ${what}`, { parts: { [node_id]: `It ${what}` } });
}

/**
 * Whether the node has a machine to be started. One that has only been accepted may not be shown yet: a repeated step
 * asks for it by the same request, which finds it.
 */
function wasThere({ provider_ref, seen_at, last_seen_at }: ClusterNode): boolean {
  return provider_ref !== null && (seen_at !== null || last_seen_at !== null);
}
