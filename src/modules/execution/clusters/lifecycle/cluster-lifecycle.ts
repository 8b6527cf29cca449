import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { type Tx, type Values, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import type {
  WorkflowDefinition,
  WorkflowContext,
} from '../../../../platform/background/workflows/workflow-definition';
import {
  hasWorkflowEnded,
  startWorkflow,
  wakeWorkflow,
  type WorkflowRef,
} from '../../../../platform/background/workflows/workflow-intents';
import { currentStep } from '../../../../platform/background/workflows/workflow.repository';
import { ClusterEvents } from './cluster-events';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster } from '../model/cluster-rows.repository';
import {
  CLUSTER_OPERATIONS,
  type ClusterOperation,
  type ClusterStatus,
  clusterMayBecome,
  type NodeStatus,
  nodeMayBecome,
  GIVES_SLOTS,
  RESIZING,
} from '../model/cluster-state';
import { CLUSTER_WORKFLOWS } from './cluster-workflows';
import type { ClusterNode } from '../model/entities/cluster-node.entity';
import type { Cluster } from '../model/entities/cluster.entity';

interface Cause {
  reason: string;
  /** Null for the platform itself. */
  userId: number | null;
  workflowInstanceId: number | null;
}

export interface ClusterTransition extends Cause {
  to: ClusterStatus;
}

export interface NodeTransition extends Cause {
  to: NodeStatus;
}

type Operation = Pick<WorkflowContext<'cluster'>, 'subject' | 'instanceId' | 'actorUserId'>;

/**
 * Moves clusters and their nodes from state to state: each entry of their histories is written here, and published to
 * the subscribers of other domains in the same transaction.
 */
@Injectable()
export class ClusterLifecycle {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clusters: ClusterRowsRepository,
    private readonly nodes: ClusterNodesRepository,
    private readonly events: ClusterEvents,
  ) {}

  /** Locks the cluster's row for the rest of the transaction; null when it does not exist. */
  lock(tx: Tx, clusterId: number): Promise<LockedCluster | null> {
    return this.clusters.lock(tx, clusterId);
  }

  /** Locks a cluster that the caller has read; 404 if it does not exist. */
  async lockOrThrow(tx: Tx, clusterId: number): Promise<LockedCluster> {
    const cluster = await this.lock(tx, clusterId);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
    return cluster;
  }

  /** Moves a locked cluster to another status and appends its history. No other code writes `clusters.status`. */
  async transition(tx: Tx, cluster: LockedCluster, change: ClusterTransition): Promise<void> {
    const { status: from } = cluster;
    if (!clusterMayBecome(from, change.to)) {
      throw new Error(`Cluster ${cluster.cluster_id} cannot go from ${from} to ${change.to}`);
    }
    const nodeCount = await this.clusters.setStatus(tx, cluster, change.to, change.workflowInstanceId);
    cluster.status = change.to;
    if (change.workflowInstanceId !== null) cluster.workflow_job_instance_id = change.workflowInstanceId;
    await this.appendClusterState(tx, cluster, from, change, nodeCount);
  }

  async beginHistory(tx: Tx, cluster: Pick<Cluster, 'cluster_id' | 'tenant_id'>, userId: number): Promise<void> {
    await this.appendClusterState(
      tx,
      cluster,
      null,
      { to: 'STOPPED', reason: 'Created', userId, workflowInstanceId: null },
      0,
    );
  }

  /** Moves a locked node to another status with its history row. Does nothing if the node is already there. */
  async transitionNode(tx: Tx, node: ClusterNode, change: NodeTransition): Promise<void> {
    const { status: from } = node;
    if (from === change.to) return;
    if (!nodeMayBecome(from, change.to)) {
      throw new Error(`Node ${node.node_id} cannot go from ${from} to ${change.to}`);
    }
    await this.nodes.setStatus(tx, node.node_id, change.to);
    node.status = change.to;
    await this.appendNodeState(tx, node, from, change);
  }

  /** Adds a node that is to be created, with its first history row. */
  async planNode(tx: Tx, values: Omit<Values<ClusterNode>, 'status'>, cause: Cause): Promise<void> {
    const to = 'INITIATING';
    const node = await this.nodes.insert(tx, { ...values, status: to });
    await this.appendNodeState(tx, node, null, { to, ...cause });
  }

  /**
   * Marks a node of a running cluster as lost. Another node replaces it, except for a master: the state of its Spark
   * cluster is lost with it, so the cluster becomes ERROR. Returns the reason for the log.
   */
  async markNodeLost(tx: Tx, cluster: LockedCluster, node: ClusterNode, problem: string): Promise<string> {
    const reason = `Node ${node.node_number} is lost: ${/[.!?]$/.test(problem) ? problem : `${problem}.`}`;
    const cause = { reason, userId: null, workflowInstanceId: null };
    await this.transitionNode(tx, node, { to: 'ERROR', ...cause });
    if (!GIVES_SLOTS.includes(cluster.status)) return reason;
    if (node.role === 'master') await this.transition(tx, cluster, { to: 'ERROR', ...cause });
    else await notifyAfterCommit(tx, 'scaling', String(cluster.cluster_id));
    return reason;
  }

  /**
   * Begins an operation on a locked cluster whose status allows it: transition, history, workflow and outbox row in the
   * caller's transaction.
   */
  async beginOperation(
    tx: Tx,
    cluster: LockedCluster,
    operation: ClusterOperation,
    userId: number | null,
    reason: string,
  ): Promise<WorkflowRef> {
    await this.cancelResize(tx, cluster, userId, reason);
    const workflow = await startWorkflow(tx, CLUSTER_WORKFLOWS[operation], subjectOf(cluster), userId);
    await this.transition(tx, cluster, {
      to: CLUSTER_OPERATIONS[operation].to,
      reason,
      userId,
      workflowInstanceId: workflow.workflow_job_instance_id,
    });
    return workflow;
  }

  /**
   * Begins a resize of a locked cluster, or a replacement of nodes, which keeps the status (`to` is null). If one is
   * under way, its workflow also does what was planned since; only a resize in the other direction must wait for its
   * end. Returns the instance of the workflow.
   */
  async beginResize(
    tx: Tx,
    cluster: LockedCluster,
    definition: WorkflowDefinition<'cluster'>,
    { to, reason, userId = null }: { to: ClusterStatus | null; reason: string; userId?: number | null },
  ): Promise<number> {
    let instanceId = cluster.resize_instance_id;
    if (instanceId === null || (await hasWorkflowEnded(tx, instanceId))) {
      const workflow = await startWorkflow(tx, definition, subjectOf(cluster), userId);
      instanceId = workflow.workflow_job_instance_id;
      await this.clusters.setResize(tx, cluster.cluster_id, instanceId);
      cluster.resize_instance_id = instanceId;
    } else await wakeWorkflow(tx, instanceId);
    if (to !== null && cluster.status !== to)
      await this.transition(tx, cluster, { to, reason, userId, workflowInstanceId: instanceId });
    return instanceId;
  }

  /**
   * Runs `fn` with the cluster locked while the given workflow resizes it. Returns false if the resize was cancelled.
   */
  async whileResizing(
    { subject, instanceId }: Pick<Operation, 'subject' | 'instanceId'>,
    fn: (tx: Tx, cluster: LockedCluster) => Promise<void>,
  ): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lock(tx, subject.id);
      if (!cluster || !GIVES_SLOTS.includes(cluster.status) || cluster.resize_instance_id !== instanceId) return false;
      await fn(tx, cluster);
      return true;
    });
  }

  /**
   * Ends the resize of a locked cluster, so that the next one may begin. The cluster is RUNNING again, unless it needs
   * nodes and none works: then it grows until one does.
   */
  async endResize(
    tx: Tx,
    cluster: LockedCluster,
    { reason, isDown }: { reason: string; isDown: boolean },
  ): Promise<void> {
    const workflowInstanceId = cluster.resize_instance_id;
    await this.clusters.setResize(tx, cluster.cluster_id, null);
    cluster.resize_instance_id = null;
    const to = isDown ? 'RESIZING_UP' : 'RUNNING';
    if (isDown || RESIZING.includes(cluster.status))
      await this.transition(tx, cluster, { to, reason, userId: null, workflowInstanceId });
  }

  /**
   * Cancels a resize for an operation that ends the cluster's work, and wakes its workflow so that it notices. Until
   * the workflow has ended, it may still create a machine, so the operation waits for it ({@link resizeHasEnded}).
   */
  private async cancelResize(tx: Tx, cluster: LockedCluster, userId: number | null, why: string): Promise<void> {
    const { resize_instance_id: workflowInstanceId } = cluster;
    if (RESIZING.includes(cluster.status)) {
      const reason = `The resize was cancelled: ${why}`;
      await this.transition(tx, cluster, { to: 'RUNNING', reason, userId, workflowInstanceId });
    }
    if (workflowInstanceId !== null) await wakeWorkflow(tx, workflowInstanceId);
  }

  /** True if the workflow of a cancelled resize has ended; clears it then. */
  async resizeHasEnded(clusterId: number): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lockOrThrow(tx, clusterId);
      const { resize_instance_id: instanceId } = cluster;
      if (instanceId === null) return true;
      if (!(await hasWorkflowEnded(tx, instanceId))) return false;
      await this.clusters.setResize(tx, clusterId, null);
      return true;
    });
  }

  /** Runs `fn` with the cluster locked, if the given workflow still is the cluster's current operation. */
  async whileCurrent(
    { subject, instanceId }: Pick<Operation, 'subject' | 'instanceId'>,
    status: ClusterStatus,
    fn: (tx: Tx, cluster: LockedCluster) => Promise<void>,
  ): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const cluster = await this.lock(tx, subject.id);
      if (!cluster || cluster.status !== status || cluster.workflow_job_instance_id !== instanceId) return false;
      await fn(tx, cluster);
      return true;
    });
  }

  /**
   * Ends the cluster's operation in its target state, once: a repetition finds the entry in the history. False if
   * another operation has replaced it.
   */
  async endOperation(operation: Operation, from: ClusterStatus, to: ClusterStatus, reason: string): Promise<boolean> {
    const { subject, instanceId, actorUserId } = operation;
    const ended = await this.whileCurrent(operation, from, (tx, cluster) =>
      this.transition(tx, cluster, { to, reason, userId: actorUserId, workflowInstanceId: instanceId }),
    );
    return ended || this.clusters.hasReached(subject.id, instanceId, to);
  }

  async failOperation(operation: Operation, from: ClusterStatus, reason: string): Promise<void> {
    await this.endOperation({ ...operation, actorUserId: null }, from, 'ERROR', reason);
  }

  private async appendClusterState(
    tx: Tx,
    { cluster_id, tenant_id }: Pick<Cluster, 'cluster_id' | 'tenant_id'>,
    from: ClusterStatus | null,
    { to, reason, userId, workflowInstanceId }: ClusterTransition,
    nodeCount: number,
  ): Promise<void> {
    const step = await this.stepOf(tx, workflowInstanceId);
    const extra = { node_count: nodeCount, workflow_job_instance_id: workflowInstanceId, step };
    const stateId = await this.clusters.appendState(tx, cluster_id, { from, to, reason, userId, extra });
    const event = { tenantId: tenant_id, clusterId: cluster_id, stateId, from, to, reason, workflowInstanceId };
    await this.events.publish(tx, 'clusterTransitioned', event);
  }

  private async appendNodeState(
    tx: Tx,
    node: ClusterNode,
    from: NodeStatus | null,
    { to, reason, userId, workflowInstanceId }: NodeTransition,
  ): Promise<void> {
    const { tenant_id: tenantId, cluster_id: clusterId, node_id: nodeId } = node;
    const step = await this.stepOf(tx, workflowInstanceId);
    const stateId = await this.nodes.appendState(tx, node, { from, to, reason, userId, workflowInstanceId, step });
    const event = { tenantId, clusterId, nodeId, stateId, from, to, reason, workflowInstanceId };
    await this.events.publish(tx, 'nodeTransitioned', event);
  }

  private async stepOf(tx: Tx, workflowInstanceId: number | null): Promise<string | null> {
    return workflowInstanceId === null ? null : currentStep(tx, workflowInstanceId);
  }
}

function subjectOf({ tenant_id: tenantId, cluster_id: id }: Pick<Cluster, 'tenant_id' | 'cluster_id'>) {
  return { kind: 'cluster' as const, tenantId, id };
}
