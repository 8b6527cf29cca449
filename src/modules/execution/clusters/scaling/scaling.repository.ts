import { Injectable } from '@nestjs/common';
import { NOW, rows, type Db, type Tx, updateRows } from '../../../../platform/kernel/persistence/sql';
import type { NodeFacts, ScalingFacts } from './scaling-decision';
import { instanceBounds, shapeOf } from '../model/node-plan';
import { ClusterUse } from '../model/cluster-use';
import { givesSlots } from '../model/clusters.joins';
import { Cluster } from '../model/entities/cluster.entity';
import type { ClusterNode } from '../model/entities/cluster-node.entity';

/** The facts that decide the size of a cluster, and whether a workflow already changes it. */
export interface ScalableCluster {
  clusterId: number;
  facts: ScalingFacts;
  /** The workflow that changes the cluster; null if none does. */
  resizeInstanceId: number | null;
  /** True if a workflow has ended without ending its resize, which only a fault of the platform can cause. */
  isAbandoned: boolean;
  spotMissingForMs: number | null;
  /** True if the cluster needs nodes and none works. */
  isDown: boolean;
  /** The user whose resize is not carried out yet; null if there is none. */
  resizeUserId: number | null;
  nodes: ScalableNode[];
}

export type ScalableNode = Pick<
  ClusterNode,
  | 'node_id'
  | 'node_number'
  | 'role'
  | 'status'
  | 'daemons_state'
  | 'busy_slots'
  | 'used_cores'
  | 'pending_cores'
  | 'cores'
  | 'draining'
> & { idle_since: number | null; load_at: number | null };

type Row = Pick<
  Cluster,
  'cluster_id' | 'cluster_type' | 'status' | 'max_parallel_jobs' | 'clean_up_timeout' | 'resize_instance_id'
> &
  Pick<Cluster, 'min_instances' | 'max_instances' | 'num_of_workers' | 'node_start_ms' | 'recent_run_ms'> & {
    resize_user_id: number | null;
    min_before_resize: number | null;
    now: number;
    is_abandoned: boolean;
    grow_after: number | null;
    spot_missing_since: number | null;
    spare_worker_since: number | null;
    waiting: number | null;
    oldest_waiting: number | null;
    nodes: ScalableNode[] | null;
  };

/** Start time of a node that is assumed until one has been measured, milliseconds. */
const DEFAULT_START_MS = 60_000;

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::float8`;

/** The count of waiting runs stops at one more than the cluster could have slots. */
const facts = (use: ClusterUse, which: string) => `
  SELECT c.cluster_id, c.cluster_type, c.status, c.max_parallel_jobs, c.clean_up_timeout, c.resize_instance_id,
    c.resize_instance_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM workflow_job_instances i
      WHERE i.workflow_job_instance_id = c.resize_instance_id AND i.ended_at IS NULL) AS is_abandoned,
    c.min_instances, c.max_instances, c.num_of_workers, c.node_start_ms, c.recent_run_ms,
    (c.resize_request->>'user_id')::bigint AS resize_user_id, (c.resize_request->>'min_before')::int AS min_before_resize,
    ${ms('platform_now()')} AS now,
    ${ms('c.grow_after')} AS grow_after, ${ms('c.spot_missing_since')} AS spot_missing_since,
    ${ms('c.spare_worker_since')} AS spare_worker_since,
    w.waiting, ${ms('w.oldest')} AS oldest_waiting, n.nodes
  FROM clusters c
    LEFT JOIN LATERAL (
      SELECT count(*) AS waiting, min(from_date) AS oldest
      FROM ${use.waiting('c', 'coalesce(c.max_instances, 1) * c.max_parallel_jobs + 1')} waiting
    ) w ON c.cluster_type <> 'CLUSTER'
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_object('node_id', node_id, 'node_number', node_number, 'role', role, 'status', status,
        'daemons_state', daemons_state, 'busy_slots', busy_slots, 'used_cores', used_cores,
        'pending_cores', pending_cores, 'cores', cores, 'draining', draining, 'idle_since', ${ms('idle_since')},
        'load_at', ${ms('load_at')})) AS nodes
      FROM cluster_nodes WHERE cluster_id = c.cluster_id AND to_date = 'infinity'
    ) n
  WHERE ${givesSlots('c')} AND ${which}`;

@Injectable()
export class ScalingRepository {
  constructor(private readonly use: ClusterUse) {}

  /** Returns up to `limit` running clusters with ids above `after`. */
  async page(db: Db, after: number, limit: number): Promise<ScalableCluster[]> {
    const found = await rows<Row>(db, `${facts(this.use, 'c.cluster_id > $1')} ORDER BY c.cluster_id LIMIT $2`, [
      after,
      limit,
    ]);
    return found.map(toScalable);
  }

  async setSpareWorker(tx: Tx, clusterId: number, isSpare: boolean): Promise<void> {
    await updateRows(tx, Cluster, { spare_worker_since: isSpare ? NOW : null }, { cluster_id: clusterId });
  }

  /** Records how many nodes a user's resize has made ready. */
  async recordReached(tx: Tx, clusterId: number, reached: number): Promise<void> {
    await tx.query(
      `UPDATE clusters SET resize_request = jsonb_set(resize_request, '{min_before}', to_jsonb($2::int)) WHERE cluster_id = $1`,
      [clusterId, reached],
    );
  }

  /** Records that a user's resize has been carried out. */
  async endRequestedResize(tx: Tx, clusterId: number): Promise<void> {
    await updateRows(tx, Cluster, { resize_request: null }, { cluster_id: clusterId });
  }

  async find(db: Db, clusterId: number): Promise<ScalableCluster | null> {
    const [found] = await rows<Row>(db, facts(this.use, 'c.cluster_id = $1'), [clusterId]);
    return found ? toScalable(found) : null;
  }
}

function toScalable(row: Row): ScalableCluster {
  const nodes = row.nodes ?? [];
  const { min, max } = instanceBounds(shapeOf(row));
  const master = nodes.find(({ role }) => role === 'master');
  const pendingCores = row.cluster_type === 'CLUSTER' ? (master?.pending_cores ?? 0) : 0;
  return {
    clusterId: row.cluster_id,
    resizeInstanceId: row.is_abandoned ? null : row.resize_instance_id,
    isAbandoned: row.is_abandoned,
    spotMissingForMs: row.spot_missing_since === null ? null : row.now - row.spot_missing_since,
    isDown: min > 0 && nodes.every(({ status }) => status !== 'RUNNING'),
    resizeUserId: row.resize_user_id,
    nodes,
    facts: {
      now: row.now,
      clusterType: row.cluster_type,
      status: row.status,
      minInstances: min,
      maxInstances: max,
      minBeforeResize: row.min_before_resize,
      maxParallelJobs: row.max_parallel_jobs,
      cleanUpTimeoutMs: row.clean_up_timeout * 60_000,
      waitingRuns: row.waiting ?? 0,
      oldestWaitingSince: row.oldest_waiting,
      pendingCores,
      pendingSince: pendingCores > 0 ? (master?.load_at ?? null) : null,
      spareWorkerSince: row.spare_worker_since,
      growAfter: row.grow_after,
      startTimeMs: row.node_start_ms ?? DEFAULT_START_MS,
      recentRunMs: row.recent_run_ms,
      nodes: nodes.map(nodeFacts),
    },
  };
}

function nodeFacts(node: ScalableNode): NodeFacts {
  return {
    nodeId: node.node_id,
    nodeNumber: node.node_number,
    role: node.role,
    phase: phaseOf(node),
    busySlots: node.busy_slots,
    usedCores: node.used_cores ?? 0,
    cores: node.cores,
    // A worker with unknown load may be busy.
    idleSince: node.role === 'worker' && node.used_cores === null ? null : node.idle_since,
  };
}

function phaseOf({ status, draining, daemons_state }: ScalableNode): NodeFacts['phase'] {
  switch (status) {
    case 'INITIATING':
      return 'starting';
    case 'RUNNING':
      if (draining) return 'leaving';
      // After a restart of its daemons, it soon takes work again.
      return daemons_state === 'ready' ? 'ready' : 'starting';
    case 'ERROR':
      return 'broken';
    case 'STOPPING':
    case 'STOPPED':
    case 'DESTROYING':
    case 'DESTROYED':
      return 'leaving';
  }
}
