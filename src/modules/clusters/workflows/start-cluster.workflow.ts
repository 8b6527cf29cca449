import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Tx } from '../../../platform/persistence/sql';
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
import { ClusterLifecycle } from '../cluster-lifecycle';
import { ClusterNodesRepository } from '../cluster-nodes.repository';
import { START_CLUSTER } from '../cluster-workflows';
import { NO_LOAD } from '../node-load';
import { planNodes } from '../node-plan';
import { type ClusterFacts, ClusterFactsReader } from './cluster-facts';
import { Drivers } from './drivers';
import { COMPENSATION_MS, failureReason } from './failure-reason';
import { NodeMachines } from './node-machines';
import { NodePlanner } from './node-planner';
import { NodeTeardown } from './node-teardown';
import { heedingFaults, ofNode, settledByNode } from './provider-faults';
import type { ClusterNode } from '../entities/cluster-node.entity';

const LOOK_AGAIN_MS = 3000;

/** Of a node that comes back, what was known of its time before. */
const AS_NEW = { ...NO_LOAD, daemons_state: 'starting', master_url: null, error: null, drain_until: null };

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
    private readonly planner: NodePlanner,
    private readonly machines: NodeMachines,
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
        await this.nodes.update(tx, node.node_id, AS_NEW);
        if (node.status === 'RUNNING') continue;
        await this.lifecycle.transitionNode(tx, node, { to: 'INITIATING', reason: 'Resumed with its disk', ...change });
      }
      await this.planMissing(tx, context, facts, existing);
    });
    return current ? Step.done : Step.superseded;
  }

  private async provisionNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const facts = await this.facts.read(context.subject.id);
    const nodes = await this.nodes.ofCluster(context.subject.id);
    const vanished = await this.machines.vanished(facts, nodes, context);
    if (vanished.size > 0) return this.planAnew(context, facts, vanished);
    await this.facts.withDriver(facts, context, async (driver, call) => {
      if (
        !this.drivers.keepTenantsApart(facts.cloudProviderId, facts.endpoint) &&
        !(await this.tenants.isFirst(this.dataSource.manager, facts.tenantId))
      )
        throw new PermanentError(
          'Local nodes of this worker cannot keep tenants apart, so they serve only the first tenant.',
        );
      await settledByNode(nodes, (node) => this.machines.bring(facts, node, driver, call));
    });
    return Step.done;
  }

  private planMissing(
    tx: Tx,
    { actorUserId: userId, instanceId: workflowInstanceId }: WorkflowContext<'cluster'>,
    facts: ClusterFacts,
    existing: readonly ClusterNode[],
  ): Promise<void> {
    return this.planner.plan(tx, facts, planNodes(facts, existing), {
      reason: 'Planned',
      userId,
      workflowInstanceId,
      registerWithinMs: START_CLUSTER.deadlineMs,
      market: facts.market,
      replacement: false,
    });
  }

  /** Other nodes take the place of those whose machines will not come back. */
  private async planAnew(
    context: WorkflowContext<'cluster'>,
    facts: ClusterFacts,
    vanished: ReadonlyMap<number, string>,
  ): Promise<StepOutcome> {
    const nodes = await this.nodes.ofCluster(context.subject.id);
    for (const [nodeId, why] of vanished) {
      const lost = nodes.filter(({ node_id }) => node_id === nodeId);
      if ((await this.teardown.destroy(facts, lost, context, why)).length < lost.length)
        return Step.wait(LOOK_AGAIN_MS);
    }
    const current = await this.lifecycle.whileCurrent(context, 'INITIATING', async (tx) =>
      this.planMissing(tx, context, facts, await this.nodes.ofCluster(context.subject.id, tx, true)),
    );
    return current ? Step.wait(0) : Step.superseded;
  }

  private async awaitNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    const nodes = await this.nodes.ofCluster(context.subject.id);
    const failed = nodes.find((node) => node.daemons_state === 'failed');
    if (failed) {
      const words = failed.error ?? 'its Spark daemons failed';
      throw new PermanentError(ofNode(failed, words), { parts: { [failed.node_id]: words } });
    }
    if (nodes.every((node) => node.daemons_state === 'ready')) return Step.done;
    const problems = await this.machines.problems(await this.facts.read(context.subject.id), nodes, context);
    const [problem] = problems.values();
    if (problem !== undefined) throw new PermanentError(problem, { parts: Object.fromEntries(problems) });
    return Step.wait(LOOK_AGAIN_MS);
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
