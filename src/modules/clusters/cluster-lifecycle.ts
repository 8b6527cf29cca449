import type { DataSource } from 'typeorm';
import { appendState, type History } from '../../platform/history/state-history';
import { enqueue } from '../../platform/outbox/outbox';
import { firstRow, returning, type Tx } from '../../platform/persistence/sql';
import type { WorkflowContext } from '../../platform/workflows/workflow-definition';
import { startWorkflow, type WorkflowRef } from '../../platform/workflows/workflow-intents';
import {
  CLUSTER_OPERATIONS,
  type ClusterOperation,
  type ClusterStatus,
  clusterMayBecome,
  type ClusterType,
} from './cluster-state';
import { CLUSTER_WORKFLOWS } from './cluster-workflows';
import { ClusterStateEntry } from './entities/cluster-state.entity';

/** What transitions need of a locked cluster. */
export interface LockedCluster {
  cluster_id: number;
  tenant_id: string;
  name: string;
  status: ClusterStatus;
  cluster_type: ClusterType;
  workflow_job_instance_id: number | null;
  keep_scratch_disk: boolean | null;
  active: boolean;
}

const HISTORY: History<ClusterStateEntry> = {
  entity: ClusterStateEntry,
  idColumn: 'cluster_state_id',
  subjectColumn: 'cluster_id',
};

/** Locks the cluster's row for the rest of the transaction. */
export async function lockCluster(tx: Tx, clusterId: number): Promise<LockedCluster | null> {
  return firstRow<LockedCluster>(
    tx,
    `SELECT cluster_id, tenant_id, name, status, cluster_type, workflow_job_instance_id, keep_scratch_disk,
       to_date = 'infinity' AS active FROM clusters WHERE cluster_id = $1 FOR UPDATE`,
    [clusterId],
  );
}

export interface ClusterTransition {
  to: ClusterStatus;
  reason: string | null;
  /** Null for the platform itself. */
  userId: number | null;
  workflowInstanceId: number | null;
}

/** Moves a locked cluster to another status and appends its history. Nothing else writes `clusters.status`. */
export async function transitionCluster(tx: Tx, cluster: LockedCluster, change: ClusterTransition): Promise<void> {
  if (!clusterMayBecome(cluster.status, change.to)) {
    throw new Error(`Cluster ${cluster.cluster_id} cannot go from ${cluster.status} to ${change.to}`);
  }
  const [updated] = await returning<{ node_count: number }>(
    tx,
    `UPDATE clusters SET status = $2, workflow_job_instance_id = coalesce($3, workflow_job_instance_id),
       last_active_at = CASE WHEN $2 = 'RUNNING' THEN platform_now() ELSE last_active_at END
     WHERE cluster_id = $1 AND status = $4
     RETURNING (SELECT count(*) FROM cluster_nodes n WHERE n.cluster_id = $1 AND n.to_date = 'infinity') AS node_count`,
    [cluster.cluster_id, change.to, change.workflowInstanceId, cluster.status],
  );
  if (!updated) throw new Error(`Cluster ${cluster.cluster_id} changed although it was locked`);
  await appendState(tx, HISTORY, cluster.cluster_id, {
    from: cluster.status,
    to: change.to,
    reason: change.reason,
    userId: change.userId,
    extra: { node_count: updated.node_count, workflow_job_instance_id: change.workflowInstanceId },
  });
  cluster.status = change.to;
  if (change.workflowInstanceId !== null) cluster.workflow_job_instance_id = change.workflowInstanceId;
}

/** First history row of a new cluster. */
export async function beginClusterHistory(tx: Tx, clusterId: number, userId: number): Promise<void> {
  await appendState(tx, HISTORY, clusterId, {
    from: null,
    to: 'STOPPED',
    reason: 'Created',
    userId,
    extra: { node_count: 0, workflow_job_instance_id: null },
  });
}

/**
 * Begins an operation on a locked cluster whose status allows it: transition, history, workflow and outbox row in the
 * caller's transaction.
 */
export async function beginClusterOperation(
  tx: Tx,
  cluster: LockedCluster,
  operation: ClusterOperation,
  userId: number | null,
  reason: string,
): Promise<WorkflowRef> {
  const subject = { kind: 'cluster' as const, tenantId: cluster.tenant_id, id: cluster.cluster_id };
  const workflow = await startWorkflow(tx, CLUSTER_WORKFLOWS[operation], subject, userId);
  await transitionCluster(tx, cluster, {
    to: CLUSTER_OPERATIONS[operation].to,
    reason,
    userId,
    workflowInstanceId: workflow.workflow_job_instance_id,
  });
  return workflow;
}

/** Asks the jobs domain to give waiting runs of the cluster a node, or an end, now that its state has changed. */
export async function settleRuns(tx: Tx, clusterId: number): Promise<void> {
  await enqueue(tx, 'job.dispatch', { cluster_id: clusterId });
}

/** Runs `fn` with the cluster locked, if the given workflow still is the cluster's current operation. */
export async function whileCurrent(
  dataSource: DataSource,
  clusterId: number,
  workflowInstanceId: number,
  status: ClusterStatus,
  fn: (tx: Tx, cluster: LockedCluster) => Promise<void>,
): Promise<boolean> {
  return dataSource.transaction(async (tx) => {
    const cluster = await lockCluster(tx, clusterId);
    if (!cluster || cluster.status !== status || cluster.workflow_job_instance_id !== workflowInstanceId) return false;
    await fn(tx, cluster);
    return true;
  });
}

type Operation = Pick<WorkflowContext<'cluster'>, 'subject' | 'instanceId' | 'actorUserId'>;

/**
 * Ends the cluster's operation in the state it was for, once: a repetition finds its entry in the history. False when
 * another operation has replaced it.
 */
export async function endOperation(
  dataSource: DataSource,
  operation: Operation,
  from: ClusterStatus,
  to: ClusterStatus,
  reason: string,
): Promise<boolean> {
  const { subject, instanceId, actorUserId } = operation;
  const ended = await whileCurrent(dataSource, subject.id, instanceId, from, async (tx, cluster) => {
    await transitionCluster(tx, cluster, { to, reason, userId: actorUserId, workflowInstanceId: instanceId });
    await settleRuns(tx, cluster.cluster_id);
  });
  if (ended) return true;
  const entry = await firstRow(
    dataSource.manager,
    'SELECT 1 FROM cluster_states WHERE cluster_id = $1 AND workflow_job_instance_id = $2 AND status = $3',
    [subject.id, instanceId, to],
  );
  return entry !== null;
}

/** Ends the cluster's operation in ERROR with the step and its cause. */
export async function failOperation(
  dataSource: DataSource,
  operation: Operation,
  from: ClusterStatus,
  reason: string,
): Promise<void> {
  await endOperation(dataSource, { ...operation, actorUserId: null }, from, 'ERROR', reason);
}
