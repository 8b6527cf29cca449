import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import {
  PermanentError,
  Step,
  type StepOutcome,
  type StepProblem,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
} from '../../../../platform/background/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../../platform/background/workflows/workflow-jobs';
import { ActiveTenantsService } from '../../../foundation/iam';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { START_CLUSTER } from '../lifecycle/cluster-workflows';
import { NO_LOAD } from '../nodes/node-load';
import { planNodes } from '../model/node-plan';
import { type ClusterSnapshot, ClusterSnapshots } from './cluster-snapshot';
import { Drivers } from './drivers';
import { COMPENSATION_MS, failureReason } from './failure-reason';
import { type ProvisionResult, needsProvisioning, NodeMachines } from './node-machines';
import type { Provisioning } from './node-places';
import { NodePlanner } from './node-planner';
import { NodeTeardown } from './node-teardown';
import { handlingFaults, nodeMessage, callEachNode } from './provider-faults';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const POLL_INTERVAL_MS = 3000;

/** Resets what was known of a node before its cluster stopped. */
const RESET_VALUES = {
  ...NO_LOAD,
  ...{ daemons_state: 'starting', master_url: null, error: null, drain_until: null },
  tries: {},
};

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
      run: (context: WorkflowContext<'cluster'>) => handlingFaults(() => this.provisionNodes(context)),
    },
    {
      name: 'await-nodes',
      run: (context: WorkflowContext<'cluster'>) => handlingFaults(() => this.awaitNodes(context)),
    },
    { name: 'mark-running', run: (context: WorkflowContext<'cluster'>) => this.markRunning(context) },
  ];

  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
    private readonly teardown: NodeTeardown,
    private readonly drivers: Drivers,
    private readonly tenants: ActiveTenantsService,
    private readonly planner: NodePlanner,
    private readonly machines: NodeMachines,
  ) {}

  async compensate(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    if (!(await this.isCurrent(context))) return;
    const reason = failureReason(failure);
    const snapshot = await this.snapshots.read(context.subject.id);
    await this.markNodesFailed(context, reason);
    const { teardown } = this;
    const ended = await (snapshot.keepScratchDisk
      ? teardown.stopAll(snapshot, context)
      : teardown.destroyAll(snapshot, context));
    // The workflow repeats the compensation until its time is up.
    if (!ended) throw new Error('The provider is still ending the nodes of the cluster.');
    await this.lifecycle.failOperation(context, 'INITIATING', reason);
  }

  async giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure, problem: string): Promise<void> {
    if (!(await this.isCurrent(context))) return;
    await this.markNodesFailed(context, failureReason(failure));
    const leftovers = await this.teardown.describeLeftovers(context.subject.id);
    const reason = `The clean-up failed: ${problem}`;
    const advice = leftovers && `Left at the provider: ${leftovers}. Destroy the cluster to remove them`;
    await this.lifecycle.failOperation(context, 'INITIATING', failureReason(failure, reason, advice));
  }

  /** A retry after the end must not touch the nodes of a later operation. */
  private isCurrent(context: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.lifecycle.whileCurrent(context, 'INITIATING', () => Promise.resolve());
  }

  private async planNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const snapshot = await this.snapshots.read(context.subject.id);
    const change = { userId: context.actorUserId, workflowInstanceId: context.instanceId };
    const current = await this.lifecycle.whileCurrent(context, 'INITIATING', async (tx) => {
      const existing = await this.nodes.ofCluster(context.subject.id, tx, true);
      for (const node of existing) {
        await this.nodes.update(tx, node.node_id, RESET_VALUES);
        if (node.status === 'RUNNING') continue;
        await this.lifecycle.transitionNode(tx, node, { to: 'INITIATING', reason: 'Resumed with its disk', ...change });
      }
      await this.planMissing(tx, context, snapshot, existing);
    });
    return current ? Step.done : Step.superseded;
  }

  private async provisionNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const snapshot = await this.snapshots.read(context.subject.id);
    const nodes = await this.nodes.ofCluster(context.subject.id);
    const vanished = await this.machines.findVanished(snapshot, nodes, context);
    if (vanished.size > 0) return this.replaceVanished(context, snapshot, vanished);
    return this.provision(context, snapshot, nodes);
  }

  /** Requests the machines of these nodes. The step is done when the provider has accepted all of them. */
  private async provision(
    context: WorkflowContext<'cluster'>,
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
  ): Promise<StepOutcome> {
    const provisioning: Provisioning = {
      whileCurrent: (write) => this.lifecycle.whileCurrent(context, 'INITIATING', write),
      registrationTimeoutMs: START_CLUSTER.deadlineMs,
    };
    const results = await this.snapshots.withDriverToProvision(snapshot, context, async (driver, call) => {
      if (
        !this.drivers.isolateTenants(snapshot.cloudProviderId, snapshot.endpoint) &&
        !(await this.tenants.isFirst(this.dataSource.manager, snapshot.tenantId))
      )
        throw new PermanentError(
          'Local nodes of this worker do not isolate tenants, so they serve only the first tenant of the installation.',
        );
      return this.machines.provision(snapshot, nodes, driver, call, provisioning);
    });
    const outcomes = new Map(nodes.map((node, index) => [node.node_id, results[index]]));
    await callEachNode(nodes, ({ node_id }) => {
      const outcome = outcomes.get(node_id);
      return outcome?.kind === 'failed' ? Promise.reject(outcome.error) : Promise.resolve();
    });
    if (results.some(({ kind }) => kind === 'superseded')) return Step.superseded;
    const relocating = results.filter((outcome) => outcome.kind === 'elsewhere');
    if (relocating.length === 0) return Step.done;
    return Step.wait(
      relocating.some(({ isRemoving }) => isRemoving) ? POLL_INTERVAL_MS : 0,
      relocationProblem(nodes, outcomes),
    );
  }

  private planMissing(
    tx: Tx,
    { actorUserId: userId, instanceId: workflowInstanceId }: WorkflowContext<'cluster'>,
    snapshot: ClusterSnapshot,
    existing: readonly ClusterNode[],
  ): Promise<void> {
    return this.planner.plan(tx, snapshot, planNodes(snapshot, existing), {
      reason: 'Planned',
      userId,
      workflowInstanceId,
      registrationTimeoutMs: START_CLUSTER.deadlineMs,
      market: snapshot.market,
      replacement: false,
    });
  }

  /** Plans other nodes for those whose machines cannot come back. */
  private async replaceVanished(
    context: WorkflowContext<'cluster'>,
    snapshot: ClusterSnapshot,
    vanished: ReadonlyMap<number, string>,
  ): Promise<StepOutcome> {
    const nodes = await this.nodes.ofCluster(context.subject.id);
    for (const [nodeId, reason] of vanished) {
      const lost = nodes.filter(({ node_id }) => node_id === nodeId);
      if ((await this.teardown.destroy(snapshot, lost, context, reason)).length < lost.length)
        return Step.wait(POLL_INTERVAL_MS);
    }
    const current = await this.lifecycle.whileCurrent(context, 'INITIATING', async (tx) =>
      this.planMissing(tx, context, snapshot, await this.nodes.ofCluster(context.subject.id, tx, true)),
    );
    return current ? Step.wait(0) : Step.superseded;
  }

  private async awaitNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const nodes = await this.nodes.ofCluster(context.subject.id);
    const failed = nodes.find((node) => node.daemons_state === 'failed');
    if (failed) {
      const reason = failed.error ?? 'its Spark daemons failed';
      throw new PermanentError(nodeMessage(failed, reason), { parts: { [failed.node_id]: reason } });
    }
    if (nodes.every((node) => node.daemons_state === 'ready')) return Step.done;
    const snapshot = await this.snapshots.read(context.subject.id);
    const accepted = nodes.filter((node) => !needsProvisioning(node));
    const problems = await this.machines.findProblems(snapshot, accepted, context);
    const [problem] = problems.values();
    if (problem !== undefined) throw new PermanentError(problem, { parts: Object.fromEntries(problems) });
    // A node that was accepted may have turned out to have no capacity in its place.
    const unprovisioned = (await this.nodes.ofCluster(context.subject.id)).filter(needsProvisioning);
    const outcome = unprovisioned.length === 0 ? Step.done : await this.provision(context, snapshot, unprovisioned);
    return outcome.kind === 'done' ? Step.wait(POLL_INTERVAL_MS) : outcome;
  }

  private async markRunning(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const ended = await this.lifecycle.endOperation(context, 'INITIATING', 'RUNNING', 'Every node is ready');
    return ended ? Step.done : Step.superseded;
  }

  private async markNodesFailed(context: WorkflowContext<'cluster'>, reason: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
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

/** Returns the provider's messages about nodes that must move to another place; null if they were reported before. */
function relocationProblem(
  nodes: readonly ClusterNode[],
  outcomes: ReadonlyMap<number, ProvisionResult | undefined>,
): StepProblem | null {
  const texts: string[] = [];
  const parts: Record<string, string> = {};
  for (const node of nodes) {
    const outcome = outcomes.get(node.node_id);
    if (outcome?.kind !== 'elsewhere' || outcome.reason === null) continue;
    texts.push(nodeMessage(node, outcome.reason));
    parts[node.node_id] = outcome.reason;
  }
  return texts.length === 0 ? null : { message: texts.join(' '), parts };
}
