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
import { isToAsk, NodeMachines } from '../provisioning/node-machines';
import { NodeTeardown } from '../provisioning/node-teardown';
import { ScalingRepository } from './scaling.repository';
import type { Provisioning } from '../provisioning/node-places';
import { afterFault, handlingFaults, ofNode, providerFault } from '../provisioning/provider-faults';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

const LOOK_AGAIN_MS = 2_000;
const RETRY_MS = 3_000;

/** What a look at the nodes found to do. */
interface Work {
  /** Planned, and not yet accepted by the provider, or to be made elsewhere. */
  make: ClusterNode[];
  /** Accepted, and not yet ready. */
  wait: ClusterNode[];
  /** Lost, failed or no longer needed, and nothing runs on them. */
  remove: ClusterNode[];
  /** To go once what runs on them has ended and what they keep is handed over. */
  drain: ClusterNode[];
}

/**
 * Brings a cluster's machines to what is planned for its nodes, while it serves: makes those that are planned, removes
 * those that are lost or to go. What is planned while it runs is done, too, so that there is one of them at a time. A node
 * that cannot be made ends in ERROR with the provider's words, and goes; the cluster goes on with the others.
 */
@Injectable()
export abstract class ResizeClusterWorkflow implements Workflow<'cluster'> {
  readonly attempts = 5;
  readonly backoffMs = 500;
  readonly compensationMs = COMPENSATION_MS;
  readonly steps = [
    {
      // Instances under way, and histories, have this name.
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

  /** What is left is tried again by the next resize, which the lost nodes bring about. */
  async giveUp(context: WorkflowContext<'cluster'>, failure: WorkflowFailure, problem: string): Promise<void> {
    await this.failUnready(context, failureReason(failure));
    await this.end(context, failureReason(failure, `What had been created could not be removed: ${problem}`));
  }

  private async resizeNodes(context: WorkflowContext<'cluster'>): Promise<StepOutcome> {
    if (!(await this.isCurrent(context))) return Step.superseded;
    const snapshot = await this.snapshots.read(context.subject.id);
    const { make, wait, remove } = workOf(await this.nodes.ofCluster(context.subject.id));
    const told = [
      ...(await this.make(snapshot, make, context)),
      ...(await this.look(snapshot, wait, context)),
      ...(await this.removeSome(snapshot, remove, context)),
    ];
    const problem = told.length === 0 ? null : together(told);
    // A provider that says how long is not asked before; a node that is ready wakes the workflow.
    const pause = Math.max(LOOK_AGAIN_MS, ...told.map(({ ms }) => ms));
    if (!isDone(await this.nodes.ofCluster(context.subject.id))) return Step.wait(pause, problem);
    return problem === null ? Step.done : Step.doneExceptFor(problem);
  }

  /** Asks for the machines; answers what keeps some from being made. */
  private async make(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<Problem[]> {
    if (nodes.length === 0) return [];
    const provisioning: Provisioning = {
      hold: (write) => this.lifecycle.whileResizing(context, write),
      registerWithinMs: RESIZE_CLUSTER_UP.deadlineMs,
    };
    const results = await this.snapshots.withDriverToProvision(snapshot, context, (driver, call) =>
      this.machines.provision(snapshot, nodes, driver, call, provisioning),
    );
    const problems: Problem[] = [];
    for (const [index, outcome] of results.entries()) {
      const node = nodes[index];
      if (!node) continue;
      if (outcome.kind === 'elsewhere' && outcome.why !== null)
        problems.push(problemOfNode(node, outcome.why, LOOK_AGAIN_MS));
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

  /** Answers what keeps machines from becoming ready. */
  private async look(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    context: WorkflowContext<'cluster'>,
  ): Promise<Problem[]> {
    const problems = await this.machines.problems(
      snapshot,
      nodes.filter(({ daemons_state }) => daemons_state !== 'failed'),
      context,
    );
    for (const { node_id, node_number, daemons_state, error } of nodes)
      if (daemons_state === 'failed')
        problems.set(node_id, `Node ${node_number}: ${error ?? 'its Spark daemons failed'}`);
    for (const node of nodes) {
      const why = problems.get(node.node_id);
      if (why !== undefined) await this.fail(context, node, why, false);
    }
    return [...problems].map(([nodeId, words]) => ({ words, parts: { [nodeId]: words }, ms: LOOK_AGAIN_MS }));
  }

  private async removeSome(
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
      const { message, parts } = problemOf(error);
      const words = `Nodes could not be removed: ${message}`;
      return [{ words, parts: parts ?? {}, ms: next.kind === 'wait' ? next.ms : RETRY_MS }];
    }
  }

  /** Answers those that are gone. */
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
    // Something has been planned since, or was lost.
    const outcome = await this.resizeNodes(context);
    return outcome.kind === 'done' ? Step.wait(0) : outcome;
  }

  /** What has become of the resize, for the history of the cluster. */
  private async summary(
    tx: Tx,
    { cluster_id }: LockedCluster,
    { instanceId }: WorkflowContext<'cluster'>,
  ): Promise<string> {
    const failed = await this.nodes.failedIn(tx, cluster_id, instanceId);
    if (failed.length === 0) return 'Its nodes are as planned';
    const words = failed.map(({ node_number, reason }) => `node ${node_number}: ${reason ?? 'no reason recorded'}`);
    return `Not all nodes could be added: ${words.join('; ')}`;
  }

  /** A repetition after its end finds another resize, or none. */
  private hasEnded({ instanceId, subject }: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.clusters.hasReached(subject.id, instanceId, 'RUNNING');
  }

  private isCurrent(context: WorkflowContext<'cluster'>): Promise<boolean> {
    return this.lifecycle.whileResizing(context, () => Promise.resolve());
  }

  /** A node that will not come up; it is removed with the next look. */
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
      await this.clusters.noteNotGrown(tx, cluster.cluster_id, { spotIsMissing });
    });
  }

  private async failUnready(context: WorkflowContext<'cluster'>, reason: string): Promise<void> {
    await this.lifecycle.whileResizing(context, async (tx, cluster) => {
      const nodes = await this.nodes.ofCluster(cluster.cluster_id, tx, true);
      for (const node of nodes)
        if (node.status === 'INITIATING') await this.failLocked(tx, node, node.error ?? reason, context);
      await this.clusters.noteNotGrown(tx, cluster.cluster_id, { spotIsMissing: false });
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
    const isDown = (await this.scaling.one(tx, cluster.cluster_id))?.isDown ?? false;
    await this.lifecycle.endResize(tx, cluster, { reason, isDown });
  }
}

@Injectable()
@ImplementsWorkflow(RESIZE_CLUSTER_UP)
export class ResizeClusterUpWorkflow extends ResizeClusterWorkflow {}

@Injectable()
@ImplementsWorkflow(RESIZE_CLUSTER_DOWN)
export class ResizeClusterDownWorkflow extends ResizeClusterWorkflow {}

/** What went wrong, in the provider's words, and when to try again. */
interface Problem {
  words: string;
  /** What of it is about single nodes. */
  parts: PartProblems;
  ms: number;
}

function problemOfNode(node: ClusterNode, said: string, ms: number): Problem {
  return { words: ofNode(node, said), parts: { [node.node_id]: said }, ms };
}

function together(problems: readonly Problem[]): StepProblem {
  const parts = Object.fromEntries(problems.flatMap((problem) => Object.entries(problem.parts)));
  return { message: problems.map(({ words }) => words).join(' '), parts };
}

function workOf(nodes: readonly ClusterNode[]): Work {
  const is = (status: ClusterNode['status']) => nodes.filter((node) => node.status === status);
  const coming = is('INITIATING');
  const draining = is('RUNNING').filter(({ draining }) => draining);
  const mayGo = draining.filter(hasDrained);
  // Its runs are ended as lost first, which they are no more once the node is destroyed.
  const lost = is('ERROR');
  return {
    make: coming.filter(isToAsk),
    wait: coming.filter((node) => !isToAsk(node)),
    remove: [...lost.filter(isFree), ...is('DESTROYING'), ...mayGo],
    drain: [...lost.filter((node) => !isFree(node)), ...draining.filter((node) => !mayGo.includes(node))],
  };
}

function isFree({ busy_slots }: Pick<ClusterNode, 'busy_slots'>): boolean {
  return busy_slots === 0;
}

/** Whether the machines are as planned. */
function isDone(nodes: readonly ClusterNode[]): boolean {
  return Object.values(workOf(nodes)).every((some: readonly ClusterNode[]) => some.length === 0);
}

/** A node without runs takes none any more; a worker has also handed over what it keeps, or has had the time to. */
function hasDrained({ role, busy_slots, drained_at, drain_until }: ClusterNode): boolean {
  if (!isFree({ busy_slots })) return false;
  return role !== 'worker' || drained_at !== null || (drain_until !== null && drain_until.getTime() < Date.now());
}
