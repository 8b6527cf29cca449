import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { notFound } from '../../platform/errors/domain-error';
import type { Tx, Values } from '../../platform/persistence/sql';
import type { WorkflowContext } from '../../platform/workflows/workflow-definition';
import { startWorkflow, type WorkflowRef } from '../../platform/workflows/workflow-intents';
import { currentStep } from '../../platform/workflows/workflow.repository';
import { ClusterEvents } from './cluster-events';
import { ClusterNodesRepository } from './cluster-nodes.repository';
import { ClusterRowsRepository, type LockedCluster } from './cluster-rows.repository';
import {
  CLUSTER_OPERATIONS,
  type ClusterOperation,
  type ClusterStatus,
  clusterMayBecome,
  type NodeStatus,
  nodeMayBecome,
} from './cluster-state';
import { CLUSTER_WORKFLOWS } from './cluster-workflows';
import type { ClusterNode } from './entities/cluster-node.entity';
import type { Cluster } from './entities/cluster.entity';

/** Why something enters a state. */
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

  /** The same for a cluster that the caller has read; 404 when it does not exist. */
  async lockKnown(tx: Tx, clusterId: number): Promise<LockedCluster> {
    const cluster = await this.lock(tx, clusterId);
    if (!cluster) throw notFound('CLUSTER.NOT_FOUND', `There is no cluster with id ${clusterId}.`);
    return cluster;
  }

  /** Moves a locked cluster to another status and appends its history. Nothing else writes `clusters.status`. */
  async transition(tx: Tx, cluster: LockedCluster, change: ClusterTransition): Promise<void> {
    const { status: from } = cluster;
    if (!clusterMayBecome(from, change.to)) {
      throw new Error(`Cluster ${cluster.cluster_id} cannot go from ${from} to ${change.to}`);
    }
    const nodeCount = await this.clusters.setStatus(tx, cluster, change.to, change.workflowInstanceId);
    cluster.status = change.to;
    if (change.workflowInstanceId !== null) cluster.workflow_job_instance_id = change.workflowInstanceId;
    await this.noteCluster(tx, cluster, from, change, nodeCount);
  }

  /** First history row of a new cluster. */
  async beginHistory(tx: Tx, cluster: Pick<Cluster, 'cluster_id' | 'tenant_id'>, userId: number): Promise<void> {
    await this.noteCluster(
      tx,
      cluster,
      null,
      { to: 'STOPPED', reason: 'Created', userId, workflowInstanceId: null },
      0,
    );
  }

  /** Moves a locked node to another status with its history row; does nothing if it is already there. */
  async transitionNode(tx: Tx, node: ClusterNode, change: NodeTransition): Promise<void> {
    const { status: from } = node;
    if (from === change.to) return;
    if (!nodeMayBecome(from, change.to)) {
      throw new Error(`Node ${node.node_id} cannot go from ${from} to ${change.to}`);
    }
    await this.nodes.setStatus(tx, node.node_id, change.to);
    node.status = change.to;
    await this.noteNode(tx, node, from, change);
  }

  /** Adds a node to be created, with its first history row. */
  async planNode(tx: Tx, values: Omit<Values<ClusterNode>, 'status'>, cause: Cause): Promise<void> {
    const to = 'INITIATING';
    const node = await this.nodes.insert(tx, { ...values, status: to });
    await this.noteNode(tx, node, null, { to, ...cause });
  }

  /**
   * Begins an operation on a locked cluster whose status allows it: transition, history, workflow and outbox row in the
   * caller's transaction.
   */
  async begin(
    tx: Tx,
    cluster: LockedCluster,
    operation: ClusterOperation,
    userId: number | null,
    reason: string,
  ): Promise<WorkflowRef> {
    const subject = { kind: 'cluster' as const, tenantId: cluster.tenant_id, id: cluster.cluster_id };
    const workflow = await startWorkflow(tx, CLUSTER_WORKFLOWS[operation], subject, userId);
    await this.transition(tx, cluster, {
      to: CLUSTER_OPERATIONS[operation].to,
      reason,
      userId,
      workflowInstanceId: workflow.workflow_job_instance_id,
    });
    return workflow;
  }

  /** Runs `fn` with the cluster locked, if the given workflow still is the cluster's current operation. */
  async whileCurrent(
    { subject, instanceId }: Pick<Operation, 'subject' | 'instanceId'>,
    status: ClusterStatus,
    fn: (tx: Tx, cluster: LockedCluster) => Promise<void>,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
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
  async end(operation: Operation, from: ClusterStatus, to: ClusterStatus, reason: string): Promise<boolean> {
    const { subject, instanceId, actorUserId } = operation;
    const ended = await this.whileCurrent(operation, from, (tx, cluster) =>
      this.transition(tx, cluster, { to, reason, userId: actorUserId, workflowInstanceId: instanceId }),
    );
    return ended || this.clusters.hasReached(subject.id, instanceId, to);
  }

  /** Ends the cluster's operation in ERROR with the step and its cause. */
  async fail(operation: Operation, from: ClusterStatus, reason: string): Promise<void> {
    await this.end({ ...operation, actorUserId: null }, from, 'ERROR', reason);
  }

  private async noteCluster(
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

  private async noteNode(
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

  /** The step that the operation is at. */
  private async stepOf(tx: Tx, workflowInstanceId: number | null): Promise<string | null> {
    return workflowInstanceId === null ? null : currentStep(tx, workflowInstanceId);
  }
}
