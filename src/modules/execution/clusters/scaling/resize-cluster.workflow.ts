import { Injectable } from '@nestjs/common';
import { ComputeDriverError } from '../../../../../libs/compute-drivers/compute-driver';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import {
  type PartProblems,
  problemOf,
  Step,
  type StepOutcome,
  type StepProblem,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
} from '../../../../platform/background/workflows/workflow-definition';
import { ImplementsWorkflow } from '../../../../platform/background/workflows/workflow-jobs';
import { ClusterLifecycle } from '../lifecycle/cluster-lifecycle';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster } from '../model/cluster-rows.repository';
import { RESIZE_CLUSTER_DOWN, RESIZE_CLUSTER_UP } from '../lifecycle/cluster-workflows';
import { ClusterSnapshots, type ClusterSnapshot } from '../provisioning/cluster-snapshot';
import { COMPENSATION_MS, failureReason } from '../provisioning/failure-reason';
import { needsProvisioning, NodeMachines } from '../provisioning/node-machines';
import { NodeTeardown } from '../provisioning/node-teardown';
import { ScalingRepository } from './scaling.repository';
import type { Provisioning } from '../provisioning/node-places';
import { afterFault, handlingFaults, nodeMessage, providerFault } from '../provisioning/provider-faults';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const POLL_INTERVAL_MS = 2_000;
const RETRY_MS = 3_000;

/** The work to do, by node. */
interface Work {
  /** Planned nodes that the provider has not accepted, or that must move to another place. */
  toProvision: ClusterNode[];
  /** Accepted nodes that are not ready. */
  starting: ClusterNode[];
  /** Lost, failed or surplus nodes on which nothing runs. */
  remove: ClusterNode[];
  /**
   * Nodes to remove once their blocks are handed over, or their runs are ended. Those that a resize left to runs, however long, are not
   * among them: the next resize removes each when it is empty.
   */
  drain: ClusterNode[];
}

/**
 * Makes a cluster's machines match its planned nodes while it serves: creates planned ones, removes lost and surplus
 * ones. It also does what is planned while it runs, so resizes never overlap. A node that cannot be
 * created ends in ERROR with the provider's message and is removed; the cluster continues with the others.
 */
@Injectable()
export abstract class ResizeClusterWorkflow implements Workflow<'cluster'> {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = COMPENSATION_MS;
  readonly steps = [
    {
      // Workflow instances under way and histories hold this step name, so it cannot change.
      name: 'bring-nodes',
      run: (context: WorkflowContext<'cluster'>) => handlingFaults(() => this.resizeNodes(context)),
    },
    {
      name: 'mark-running',
      run: (context: WorkflowContext<'cluster'>) => handlingFaults(() => this.markRunning(context)),
    },
  ];

  constructor(
    private readonly nodes: ClusterNodesRepository,
    private readonly clusters: ClusterRowsRepository,
    private readonly lifecycle: ClusterLifecycle,
    private readonly snapshots: ClusterSnapshots,
    private readonly machines: NodeMachines,
    private readonly teardown: NodeTeardown,
    private readonly scaling: ScalingRepository,
  ) {}

  async compensate(context: WorkflowContext<'cluster'>, failure: WorkflowFailure): Promise<void> {
    if (!(await this.isCurrent(context))) return;
    const reason = failureReason(failure);
    await this.failUnready(context, reason);
    const { remove } = workOf(await this.nodes.ofCluster(context.subject.id));
    const gone = await this.remove(await this.snapshots.read(context.subject.id), remove, context);
    if (gone.length < remove.length) throw new Error('The provider is still ending nodes of the cluster.');
    await this.end(context, reason);
  }

  /** The leftovers are retried by the next resize, which the lost nodes cause. */
  async giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure, problem: string): Promise<void> {
    await this.failUnready(context, failureReason(failure));
    await this.end(context, failureReason(failure, `The clean-up failed: ${problem}`));
  }

  private async resizeNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    if (!(await this.isCurrent(context))) return Step.superseded;
    const snapshot = await this.snapshots.read(context.subject.id);
    const { toProvision, starting, remove } = workOf(await this.nodes.ofCluster(context.subject.id));
    const problems = [
      ...(await this.provisionNodes(snapshot, toProvision, context)),
      ...(await this.checkNodes(snapshot, starting, context)),
      ...(await this.tryRemove(snapshot, remove, context)),
    ];
    const problem = problems.length === 0 ? null : combine(problems);
    // A provider that names a pause is not called before. A node that becomes ready wakes the workflow.
    const pause = Math.max(POLL_INTERVAL_MS, ...problems.map(({ ms }) => ms));
    if (!isDone(await this.nodes.ofCluster(context.subject.id))) return Step.wait(pause, problem);
    return problem === null ? Step.done : Step.doneExceptFor(problem);
  }

  /** Requests the machines. Returns the problems that keep some from being created. */
  private async provisionNodes(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<Problem[]> {
    if (nodes.length === 0) return [];
    const provisioning: Provisioning = {
      whileCurrent: (write) => this.lifecycle.whileResizing(context, write),
      registrationTimeoutMs: RESIZE_CLUSTER_UP.deadlineMs,
    };
    const results = await this.snapshots.withDriverToProvision(snapshot, context, (driver, call) =>
      this.machines.provision(snapshot, nodes, driver, call, provisioning),
    );
    const problems: Problem[] = [];
    for (const [index, outcome] of results.entries()) {
      const node = nodes[index];
      if (!node) continue;
      if (outcome.kind === 'elsewhere' && outcome.reason !== null)
        problems.push(problemOfNode(node, outcome.reason, POLL_INTERVAL_MS));
      if (outcome.kind !== 'failed') continue;
      const { error } = outcome;
      const next = error instanceof ComputeDriverError ? afterFault(error) : null;
      problems.push(problemOfNode(node, error.message, next?.kind === 'wait' ? next.ms : RETRY_MS));
      if (next?.kind !== 'end') continue;
      const { kind } = error as ComputeDriverError;
      await this.fail(context, node, error.message, node.is_spot && (kind === 'capacity' || kind === 'quota'));
    }
    return problems;
  }

  /** Returns the problems that keep machines from becoming ready. */
  private async checkNodes(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<Problem[]> {
    const problems = await this.machines.findProblems(
      snapshot,
      nodes.filter(({ daemons_state }) => daemons_state !== 'failed'),
      context,
    );
    for (const { node_id, node_number, daemons_state, error } of nodes)
      if (daemons_state === 'failed')
        problems.set(node_id, `Node ${node_number}: ${error ?? 'its Spark daemons failed'}`);
    for (const node of nodes) {
      const reason = problems.get(node.node_id);
      if (reason !== undefined) await this.fail(context, node, reason, false);
    }
    return [...problems].map(([nodeId, message]) => ({ message, parts: { [nodeId]: message }, ms: POLL_INTERVAL_MS }));
  }

  private async tryRemove(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<Problem[]> {
    try {
      await this.remove(snapshot, nodes, context);
      return [];
    } catch (error) {
      const fault = providerFault(error);
      if (context.signal.aborted || fault === null) throw error;
      const next = afterFault(fault);
      const { message: cause, parts } = problemOf(error);
      const message = `Nodes could not be removed: ${cause}`;
      return [{ message, parts: parts ?? {}, ms: next.kind === 'wait' ? next.ms : RETRY_MS }];
    }
  }

  private async remove(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<ClusterNode[]> {
    if (nodes.length === 0) return [];
    await this.teardown.mark(nodes, 'DESTROYING', context);
    return this.teardown.destroy(snapshot, nodes, context);
  }

  private async markRunning(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    let ended = false;
    const current = await this.lifecycle.whileResizing(context, async (tx, cluster) => {
      ended = isDone(await this.nodes.ofCluster(cluster.cluster_id, tx));
      if (ended) await this.endLocked(tx, cluster, await this.summary(tx, cluster, context));
    });
    if (!current) return (await this.hasEnded(context)) ? Step.done : Step.superseded;
    if (ended) return Step.done;
    // A node was planned or lost since the previous step.
    const outcome = await this.resizeNodes(context);
    return outcome.kind === 'done' ? Step.wait(0) : outcome;
  }

  /** Returns the result of the resize for the history of the cluster. */
  private async summary(
    tx: Tx,
    { cluster_id }: LockedCluster,
    { instanceId }: WorkflowContext<'cluster'>,
  ): Promise<string> {
    const left = (await this.nodes.ofCluster(cluster_id, tx)).filter(isLeftToRuns).length;
    const leaving =
      left === 0
        ? ''
        : `; ${left === 1 ? '1 node is' : `${left} nodes are`} removed once ${left === 1 ? 'its' : 'their'} jobs have ended`;
    const failed = await this.nodes.failedIn(tx, cluster_id, instanceId);
    if (failed.length === 0)
      return left === 0 ? 'Its nodes are as planned' : `Its other nodes are as planned${leaving}`;
    const messages = failed.map(({ node_number, reason }) => `node ${node_number}: ${reason ?? 'no reason recorded'}`);
    return `Not all nodes could be added: ${messages.join('; ')}${leaving}`;
  }

  /** True if the resize has ended: a retried step then finds another resize, or none. */
  private hasEnded({ instanceId, subject }: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.clusters.hasReached(subject.id, instanceId, 'RUNNING');
  }

  private isCurrent(context: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.lifecycle.whileResizing(context, () => Promise.resolve());
  }

  /** Marks a node that cannot come up as failed. The next pass removes it. */
  private async fail(
    context: WorkflowContext<'cluster'>,
    { node_id }: ClusterNode,
    reason: string,
    spotIsMissing: boolean,
  ): Promise<void> {
    await this.lifecycle.whileResizing(context, async (tx, cluster) => {
      const node = await this.nodes.get(node_id, tx, true);
      if (node?.status !== 'INITIATING') return;
      await this.failLocked(tx, node, reason, context);
      await this.clusters.recordFailedGrowth(tx, cluster.cluster_id, { spotIsMissing });
    });
  }

  private async failUnready(context: WorkflowContext<'cluster'>, reason: string): Promise<void> {
    await this.lifecycle.whileResizing(context, async (tx, cluster) => {
      const nodes = await this.nodes.ofCluster(cluster.cluster_id, tx, true);
      for (const node of nodes)
        if (node.status === 'INITIATING') await this.failLocked(tx, node, node.error ?? reason, context);
      await this.clusters.recordFailedGrowth(tx, cluster.cluster_id, { spotIsMissing: false });
    });
  }

  private failLocked(
    tx: Tx,
    node: ClusterNode,
    reason: string,
    { instanceId: workflowInstanceId }: WorkflowContext<'cluster'>,
  ): Promise<void> {
    return this.lifecycle.transitionNode(tx, node, { to: 'ERROR', reason, userId: null, workflowInstanceId });
  }

  private async end(context: WorkflowContext<'cluster'>, reason: string): Promise<void> {
    await this.lifecycle.whileResizing(context, (tx, cluster) => this.endLocked(tx, cluster, reason));
  }

  private async endLocked(tx: Tx, cluster: LockedCluster, reason: string): Promise<void> {
    const isDown = (await this.scaling.find(tx, cluster.cluster_id))?.isDown ?? false;
    await this.lifecycle.endResize(tx, cluster, { reason, isDown });
  }
}

@Injectable()
@ImplementsWorkflow(RESIZE_CLUSTER_UP)
export class ResizeClusterUpWorkflow extends ResizeClusterWorkflow {}

@Injectable()
@ImplementsWorkflow(RESIZE_CLUSTER_DOWN)
export class ResizeClusterDownWorkflow extends ResizeClusterWorkflow {}

/** A problem with the provider's message, and the pause before the next try. */
interface Problem {
  message: string;
  parts: PartProblems;
  ms: number;
}

function problemOfNode(node: ClusterNode, message: string, ms: number): Problem {
  return { message: nodeMessage(node, message), parts: { [node.node_id]: message }, ms };
}

function combine(problems: readonly Problem[]): StepProblem {
  const parts = Object.fromEntries(problems.flatMap((problem) => Object.entries(problem.parts)));
  return { message: problems.map(({ message }) => message).join(' '), parts };
}

function workOf(nodes: readonly ClusterNode[]): Work {
  const withStatus = (status: ClusterNode['status']) => nodes.filter((node) => node.status === status);
  const initiating = withStatus('INITIATING');
  const draining = withStatus('RUNNING').filter(({ draining }) => draining);
  const drained = draining.filter(hasDrained);
  const awaited = draining.filter((node) => !drained.includes(node) && !isLeftToRuns(node));
  // The runs of a lost node are ended first, because a destroyed node would no longer count as lost.
  const lost = withStatus('ERROR');
  return {
    toProvision: initiating.filter(needsProvisioning),
    starting: initiating.filter((node) => !needsProvisioning(node)),
    remove: [...lost.filter(isIdle), ...withStatus('DESTROYING'), ...drained],
    drain: [...lost.filter((node) => !isIdle(node)), ...awaited],
  };
}

function isIdle({ busy_slots }: Pick<ClusterNode, 'busy_slots'>): boolean {
  return busy_slots === 0;
}

/** True if the node drains but keeps its runs until they end. One that its provider takes back has little time, and is awaited. */
function isLeftToRuns({ status, draining, busy_slots, interrupted_at }: ClusterNode): boolean {
  return status === 'RUNNING' && draining && busy_slots > 0 && interrupted_at === null;
}

function isDone(nodes: readonly ClusterNode[]): boolean {
  return Object.values(workOf(nodes)).every((some: readonly ClusterNode[]) => some.length === 0);
}

/**
 * True if a draining node has no runs and takes none. A worker must also have handed over its blocks, or have used up
 * its time.
 */
function hasDrained({ role, busy_slots, drained_at, drain_until }: ClusterNode): boolean {
  if (!isIdle({ busy_slots })) return false;
  return role !== 'worker' || drained_at !== null || (drain_until !== null && drain_until.getTime() < Date.now());
}
