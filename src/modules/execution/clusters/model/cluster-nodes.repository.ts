import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { appendState, type History, type StateEntry } from '../../../../platform/kernel/history/state-history';
import {
  finds,
  firstRow,
  insertRow,
  Params,
  returning,
  rows,
  type Db,
  type Tx,
  updateRows,
  type Values,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import type { NodeStatus } from './cluster-state';
import { givesSlots, TAKES_RUNS } from './clusters.joins';
import { ClusterNode, hasReported } from './entities/cluster-node.entity';
import type { Cluster } from './entities/cluster.entity';
import { isNodeToken } from './node-token';
import type { Silence } from './silence';
import type { ClusterStateEntry } from './entities/cluster-state.entity';
import { NodeStateEntry } from './entities/node-state.entity';

/** Time within which a provider must show a machine that it has accepted, milliseconds; see ADR 0041. */
const VISIBILITY_TIMEOUT_MS = 5 * 60_000;

const TOKEN_BATCH_SIZE = 1000;

/** A node that can take runs, and how many it has. */
export type NodeSlots = Pick<ClusterNode, 'node_id' | 'busy_slots'>;

/** A node with the settings of its cluster that its agent receives. */
export type DesiredNodeRow = ClusterNode &
  Pick<Cluster, 'bootstrap_shell_script' | 'num_of_workers' | 'spark_config' | 'max_parallel_jobs'> &
  Pick<Cluster, 'object_storage_manager_id' | 'metastore_catalog_id' | 'spark_secret'> &
  Pick<Cluster, 'is_turbo_enabled' | 'is_cuda_enabled'> & {
    wrapped_key: Buffer | null;
    master_url_of_cluster: string | null;
    has_mounts: boolean;
  };

/** One of the machines that a node has had. */
export type NodeAttempt = Pick<ClusterNode, 'node_id' | 'attempt'>;

/** An attempt with the reference of its future machine; null if only the provider's response contains it. */
type RequestedAttempt = NodeAttempt & { reference: string | null };

export type SilentNode = ClusterNode & { is_lost: boolean };

const HISTORY: History<NodeStateEntry> = {
  entity: NodeStateEntry,
  idColumn: 'node_state_id',
  subjectColumn: 'node_id',
};

/** Rows of nodes and their history. Nodes are found by cluster or token; the caller has checked the tenant. */
@Injectable()
export class ClusterNodesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the nodes of the cluster that are not destroyed, by number. `lock` locks them. */
  async ofCluster(clusterId: number, db: Db = this.dataSource.manager, lock = false): Promise<ClusterNode[]> {
    return rows<ClusterNode>(
      db,
      `SELECT * FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity' ORDER BY node_number ${lock ? 'FOR UPDATE' : ''}`,
      [clusterId],
    );
  }

  async references(clusterId: number): Promise<string[]> {
    const found = await rows<{ provider_ref: string }>(
      this.dataSource.manager,
      `SELECT provider_ref FROM cluster_nodes
       WHERE cluster_id = $1 AND to_date = 'infinity' AND provider_ref IS NOT NULL`,
      [clusterId],
    );
    return found.map(({ provider_ref: reference }) => reference);
  }

  async get(nodeId: number, db: Db = this.dataSource.manager, lock = false): Promise<ClusterNode | null> {
    return firstRow<ClusterNode>(db, `SELECT * FROM cluster_nodes WHERE node_id = $1 ${lock ? 'FOR UPDATE' : ''}`, [
      nodeId,
    ]);
  }

  /** Returns the nodes among these that exist, in any order. */
  async getAll(nodeIds: readonly number[]): Promise<ClusterNode[]> {
    return rows<ClusterNode>(this.dataSource.manager, 'SELECT * FROM cluster_nodes WHERE node_id = ANY($1)', [nodeIds]);
  }

  async insert(tx: Tx, values: Values<ClusterNode>): Promise<ClusterNode> {
    return insertRow(tx, ClusterNode, values);
  }

  async update(db: Db, nodeId: number, values: Omit<Values<ClusterNode>, 'status'>): Promise<void> {
    await updateRows(db, ClusterNode, values, { node_id: nodeId });
  }

  /** Sets the status of a locked node. DESTROYED ends its validity, RUNNING makes it idle. */
  async setStatus(tx: Tx, nodeId: number, to: NodeStatus): Promise<void> {
    await tx.query(
      `UPDATE cluster_nodes SET status = $2,
         to_date = CASE WHEN $2 = 'DESTROYED' THEN platform_now() ELSE to_date END,
         idle_since = CASE WHEN $2 = 'RUNNING' THEN platform_now() ELSE idle_since END WHERE node_id = $1`,
      [nodeId, to],
    );
  }

  /** Appends an entry to the history of a locked node, within the present state of its cluster. Returns its id. */
  async appendState(
    tx: Tx,
    { node_id, cluster_id }: Pick<ClusterNode, 'node_id' | 'cluster_id'>,
    {
      workflowInstanceId,
      step,
      ...entry
    }: Omit<StateEntry<NodeStateEntry>, 'extra'> & Pick<NodeStateEntry, 'step'> & { workflowInstanceId: number | null },
  ): Promise<number> {
    const current = await firstRow<Pick<ClusterStateEntry, 'cluster_state_id'>>(
      tx,
      `SELECT cluster_state_id FROM cluster_states WHERE cluster_id = $1 AND end_time = 'infinity'`,
      [cluster_id],
    );
    return appendState(tx, HISTORY, node_id, {
      ...entry,
      extra: {
        cluster_id,
        cluster_state_id: current?.cluster_state_id ?? null,
        workflow_job_instance_id: workflowInstanceId,
        step,
      },
    });
  }

  /**
   * Returns the live node that has the valid bootstrap token with this hash; null if there is none. `lock` locks it.
   */
  async findByBootstrapToken(
    tokenHash: string,
    db: Db = this.dataSource.manager,
    lock = false,
  ): Promise<ClusterNode | null> {
    return firstRow<ClusterNode>(
      db,
      `SELECT * FROM cluster_nodes WHERE bootstrap_token_hash = $1 AND to_date = 'infinity'
         AND (bootstrap_expires_at IS NULL OR bootstrap_expires_at > platform_now()) ${lock ? 'FOR UPDATE' : ''}`,
      [tokenHash],
    );
  }

  /** True if the cluster has nodes that are not destroyed, and so may have machines. */
  async hasNodes(tx: Tx, clusterId: number): Promise<boolean> {
    const sql = `SELECT 1 FROM cluster_nodes WHERE cluster_id = $1 AND to_date = 'infinity' LIMIT 1`;
    return (await firstRow(tx, sql, [clusterId])) !== null;
  }

  /** Returns the version of the node's desired state; null if the node does not exist. */
  async desiredVersion(nodeId: number): Promise<number | null> {
    const sql = 'SELECT desired_version FROM cluster_nodes WHERE node_id = $1';
    const row = await firstRow<Pick<ClusterNode, 'desired_version'>>(this.dataSource.manager, sql, [nodeId]);
    return row?.desired_version ?? null;
  }

  /** Returns the node with all that its agent receives except its runs; null if the node does not exist. */
  async desired(nodeId: number): Promise<DesiredNodeRow | null> {
    return firstRow<DesiredNodeRow>(
      this.dataSource.manager,
      `SELECT n.*, c.bootstrap_shell_script, c.num_of_workers, c.spark_config, c.max_parallel_jobs,
         c.object_storage_manager_id, c.metastore_catalog_id, c.spark_secret, c.is_turbo_enabled, c.is_cuda_enabled, k.wrapped_key,
         (SELECT m.master_url FROM cluster_nodes m WHERE m.cluster_id = c.cluster_id AND m.role = 'master'
          AND m.to_date = 'infinity') AS master_url_of_cluster,
         EXISTS (SELECT 1 FROM cluster_mounts cm WHERE cm.tenant_id = c.tenant_id AND cm.cluster_id = c.cluster_id)
           AS has_mounts
       FROM cluster_nodes n JOIN clusters c ON c.cluster_id = n.cluster_id
         LEFT JOIN tenant_data_keys k ON ${ofTenant('k', 'n.tenant_id')}
       WHERE n.node_id = $1`,
      [nodeId],
    );
  }

  /** Returns some nodes that a resize could not start, with the reasons. */
  async failedIn(
    tx: Tx,
    clusterId: number,
    workflowInstanceId: number,
  ): Promise<(Pick<ClusterNode, 'node_number'> & Pick<NodeStateEntry, 'reason'>)[]> {
    // The history of a cluster is long, so only its latest entries are searched.
    return rows(
      tx,
      `SELECT n.node_number, s.reason FROM (
         SELECT node_id, status, reason, workflow_job_instance_id FROM node_states WHERE cluster_id = $1
         ORDER BY node_state_id DESC LIMIT 300) s JOIN cluster_nodes n ON n.node_id = s.node_id
       WHERE s.workflow_job_instance_id = $2 AND s.status = 'ERROR' ORDER BY n.node_number LIMIT 5`,
      [clusterId, workflowInstanceId],
    );
  }

  /** Returns why a node of the cluster was last lost or failed to start; null if that is not known. */
  async lastLoss(tx: Tx, clusterId: number): Promise<string | null> {
    const row = await firstRow<Pick<NodeStateEntry, 'reason'>>(
      tx,
      `SELECT reason FROM (
         SELECT node_state_id, status, reason FROM node_states WHERE cluster_id = $1
         ORDER BY node_state_id DESC LIMIT 300) latest WHERE status = 'ERROR' ORDER BY node_state_id DESC LIMIT 1`,
      [clusterId],
    );
    return row?.reason ?? null;
  }

  /** Returns how many nodes of the cluster were planned within the last hour to replace lost ones. */
  async replacedWithinHour(tx: Tx, clusterId: number): Promise<number> {
    const row = await firstRow<{ replaced: number }>(
      tx,
      `SELECT count(*) AS replaced FROM cluster_nodes
       WHERE cluster_id = $1 AND replacement AND from_date > platform_now() - interval '1 hour'`,
      [clusterId],
    );
    return row?.replaced ?? 0;
  }

  /**
   * Drains those of the nodes of a locked cluster that have no run, or all with `busyToo`: they take no more runs, and workers hand
   * over their blocks within `withinMs`. Returns the ids of the nodes that begin to drain.
   */
  async drain(
    tx: Tx,
    nodeIds: readonly number[],
    { withinMs, busyToo }: { withinMs: number; busyToo: boolean },
  ): Promise<number[]> {
    const drained = await returning<Pick<ClusterNode, 'node_id'>>(
      tx,
      `UPDATE cluster_nodes SET draining = true, drain_until = platform_now() + $2 * interval '1 millisecond'
       WHERE node_id = ANY($1) AND status = 'RUNNING' AND NOT draining AND (busy_slots = 0 OR $3) RETURNING node_id`,
      [nodeIds, withinMs, busyToo],
    );
    const ids = drained.map(({ node_id }) => node_id);
    if (ids.length > 0) await this.wake(tx, ids);
    return ids;
  }

  async workersOf(tx: Tx, clusterId: number): Promise<number[]> {
    const workers = await rows<Pick<ClusterNode, 'node_id'>>(
      tx,
      `SELECT node_id FROM cluster_nodes WHERE cluster_id = $1 AND role = 'worker' AND to_date = 'infinity'`,
      [clusterId],
    );
    return workers.map(({ node_id }) => node_id);
  }

  /** Returns ready nodes with fewer runs than the limit, the emptiest or the fullest first. */
  async withFreeSlots(
    tx: Tx,
    clusterId: number,
    maxParallelJobs: number,
    { limit, fullestFirst }: { limit: number; fullestFirst: boolean },
  ): Promise<NodeSlots[]> {
    return rows<NodeSlots>(
      tx,
      `SELECT node_id, busy_slots FROM cluster_nodes WHERE cluster_id = $1 AND ${TAKES_RUNS} AND busy_slots < $2
       ORDER BY busy_slots ${fullestFirst ? 'DESC' : ''}, node_number LIMIT $3`,
      [clusterId, maxParallelJobs, limit],
    );
  }

  /**
   * Adds to the busy slots of each node, and wakes it, because its desired state has changed. Returns the clusters of draining nodes
   * that have no more runs.
   */
  async addBusySlots(tx: Tx, added: ReadonlyMap<number, number>): Promise<Set<number>> {
    const changed = await returning<Pick<ClusterNode, 'cluster_id'> & { is_empty: boolean }>(
      tx,
      `UPDATE cluster_nodes n SET busy_slots = busy_slots + a.added, desired_version = desired_version + 1,
         idle_since = CASE WHEN a.added = 0 THEN idle_since WHEN busy_slots + a.added = 0 THEN platform_now() END,
         slot_freed_at = CASE WHEN a.added < 0 THEN greatest(slot_freed_at, platform_now()) ELSE slot_freed_at END
       FROM unnest($1::bigint[], $2::integer[]) AS a (node_id, added) WHERE n.node_id = a.node_id
       RETURNING n.cluster_id, n.draining AND n.busy_slots = 0 AND a.added < 0 AS is_empty`,
      [[...added.keys()], [...added.values()]],
    );
    for (const nodeId of added.keys()) await notifyAfterCommit(tx, 'node', String(nodeId));
    return new Set(changed.filter(({ is_empty: isEmpty }) => isEmpty).map(({ cluster_id }) => cluster_id));
  }

  /** Raises the version of the nodes' desired state, and wakes their long polls when the transaction has committed. */
  async wake(tx: Tx, nodeIds: readonly number[]): Promise<void> {
    await this.addBusySlots(tx, new Map(nodeIds.map((nodeId) => [nodeId, 0])));
  }

  /**
   * Invalidates the bootstrap token that was exchanged for the node's own token. A token of a later registration stays.
   */
  async spendBootstrapToken({ node_id, node_token_hash }: ClusterNode): Promise<void> {
    await this.dataSource.query(
      'UPDATE cluster_nodes SET bootstrap_token_hash = NULL WHERE node_id = $1 AND node_token_hash = $2',
      [node_id, node_token_hash],
    );
  }

  /** Extends the time in which the cluster's agents may register to this long from now. */
  async renewBootstrapTokens(tx: Tx, clusterId: number, ms: number): Promise<void> {
    await tx.query(
      `UPDATE cluster_nodes SET bootstrap_expires_at = platform_now() + $2 * interval '1 millisecond'
       WHERE cluster_id = $1 AND to_date = 'infinity' AND bootstrap_token_hash IS NOT NULL`,
      [clusterId, ms],
    );
  }

  /** Records that the provider has accepted the machine of the node's attempt, with its reference and address. */
  async markAccepted(
    { node_id, attempt }: NodeAttempt,
    machine: Values<Pick<ClusterNode, 'provider_ref' | 'ip_address'>>,
  ): Promise<void> {
    const accepted_at = () => 'coalesce(accepted_at, platform_now())';
    await updateRows(this.dataSource.manager, ClusterNode, { ...machine, accepted_at }, { node_id, attempt });
  }

  /**
   * Records that the machines of these attempts are about to be requested, with their references if these are known
   * beforehand. Returns the nodes whose machines may be requested, by id, with the reference on record: another worker
   * may have recorded its own first.
   */
  async markRequested(attempts: readonly RequestedAttempt[]): Promise<Map<number, string | null>> {
    if (attempts.length === 0) return new Map();
    const requested = await returning<Pick<ClusterNode, 'node_id' | 'provider_ref'>>(
      this.dataSource.manager,
      `UPDATE cluster_nodes n
       SET asked_at = coalesce(asked_at, platform_now()), provider_ref = coalesce(provider_ref, a.reference)
       FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS a (node_id, attempt, reference)
       WHERE n.node_id = a.node_id AND n.attempt = a.attempt AND n.no_room IS NULL RETURNING n.node_id, n.provider_ref`,
      [
        attempts.map(({ node_id }) => node_id),
        attempts.map(({ attempt }) => attempt),
        attempts.map(({ reference }) => reference),
      ],
    );
    return new Map(requested.map(({ node_id, provider_ref }) => [node_id, provider_ref]));
  }

  /**
   * Ends an attempt for whose machine the provider has no capacity. From now on, no agent can register for it. Returns
   * true if the attempt is over, and false if the node's agent has already reported.
   */
  async endAttempt(
    tx: Tx,
    { node_id, attempt }: NodeAttempt,
    { zone, answer }: { zone: string; answer: string },
  ): Promise<boolean> {
    const node = await this.get(node_id, tx, true);
    if (!node || node.attempt !== attempt || node.no_room !== null) return node !== null;
    if (node.status !== 'INITIATING' || hasReported(node)) return false;
    const tries = { ...node.tries, [zone]: answer };
    await this.update(tx, node_id, { no_room: answer, tries, bootstrap_token: null, bootstrap_token_hash: null });
    return true;
  }

  /**
   * Begins another attempt, in another place and with its own bootstrap token. The caller knows that nothing is left of
   * the previous attempt. Returns false if that attempt continues, or is not the latest.
   */
  async beginAttempt(
    tx: Tx,
    { node_id, attempt }: NodeAttempt,
    { place, tokenHash, registrationTimeoutMs }: { place: Place; tokenHash: string; registrationTimeoutMs: number },
  ): Promise<boolean> {
    const node = await this.get(node_id, tx, true);
    if (node?.status !== 'INITIATING' || node.attempt !== attempt) return false;
    if (node.no_room === null && node.asked_at !== null) return false;
    await this.update(tx, node_id, {
      attempt: attempt + 1,
      place,
      ...{ asked_at: null, accepted_at: null, seen_at: null, provider_ref: null, ip_address: null },
      ...{ agent_id: null, node_token_hash: null, protocol_version: null, no_room: null, error: null },
      daemons_state: 'starting',
      bootstrap_token: null,
      bootstrap_token_hash: tokenHash,
      bootstrap_expires_at: () => `platform_now() + ${Math.round(registrationTimeoutMs)} * interval '1 millisecond'`,
    });
    return true;
  }

  async markSeen(tokens: readonly string[]): Promise<void> {
    await this.dataSource.query(
      `UPDATE cluster_nodes SET seen_at = platform_now()
       WHERE token = ANY($1::uuid[]) AND to_date = 'infinity' AND seen_at IS NULL`,
      [tokens],
    );
  }

  /**
   * Returns the nodes whose machine is gone, among nodes that the provider does not show: the machine was seen before,
   * or the provider has had long enough to show it.
   */
  async goneAmong(tokens: readonly string[]): Promise<ClusterNode[]> {
    return rows<ClusterNode>(
      this.dataSource.manager,
      `SELECT * FROM cluster_nodes WHERE token = ANY($1::uuid[])
         AND (seen_at IS NOT NULL OR last_seen_at IS NOT NULL OR accepted_at IS NULL
           OR accepted_at < platform_now() - $2 * interval '1 millisecond')`,
      [tokens, VISIBILITY_TIMEOUT_MS],
    );
  }

  async recordHeartbeat(nodeId: number, db: Db = this.dataSource.manager): Promise<void> {
    await db.query(
      `UPDATE cluster_nodes SET last_seen_at = platform_now() WHERE node_id = $1 AND to_date = 'infinity'`,
      [nodeId],
    );
  }

  /**
   * Records heartbeats of many agents. Skips nodes whose row is locked and returns them, so that one of them does not
   * delay the others.
   */
  async recordHeartbeats(nodeIds: readonly number[]): Promise<number[]> {
    const locked = await rows<Pick<ClusterNode, 'node_id'>>(
      this.dataSource.manager,
      `WITH live AS (SELECT node_id FROM cluster_nodes WHERE node_id = ANY($1) AND to_date = 'infinity'),
         free AS (SELECT node_id FROM cluster_nodes WHERE node_id IN (SELECT node_id FROM live)
           FOR NO KEY UPDATE SKIP LOCKED),
         noted AS (UPDATE cluster_nodes n SET last_seen_at = platform_now() FROM free WHERE n.node_id = free.node_id)
       SELECT node_id FROM live EXCEPT SELECT node_id FROM free`,
      [nodeIds],
    );
    return locked.map(({ node_id }) => node_id);
  }

  /**
   * Records the seconds in which the platform answered agents, by their ages in milliseconds. Returns true if a node that should
   * run has been silent for longer than `silentMs`.
   */
  async recordAnsweredSeconds(agesMs: readonly number[], silentMs: number): Promise<boolean> {
    const row = await firstRow<{ is_any_silent: boolean }>(
      this.dataSource.manager,
      `WITH recorded AS (
         INSERT INTO answered_seconds (second)
         SELECT DISTINCT date_trunc('second', platform_now() - age * interval '1 millisecond')
         FROM unnest($1::float8[]) AS age ON CONFLICT DO NOTHING)
       SELECT EXISTS (SELECT 1 FROM cluster_nodes n JOIN clusters c ON c.cluster_id = n.cluster_id
         WHERE ${SHOULD_RUN} AND n.last_seen_at < platform_now() - $2 * interval '1 millisecond') AS is_any_silent`,
      [agesMs, silentMs],
    );
    return row?.is_any_silent ?? false;
  }

  /** Deletes all but the given number of the latest seconds in which the platform answered. */
  async deleteAnsweredSeconds(kept: number): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM answered_seconds
       WHERE second < (SELECT second FROM answered_seconds ORDER BY second DESC OFFSET $1 LIMIT 1)`,
      [kept],
    );
  }

  /** Returns the tokens whose node is not destroyed. The list may be long and contain texts that are not tokens. */
  async liveAmong(tokens: readonly string[]): Promise<Set<string>> {
    const requested = tokens.filter(isNodeToken);
    const live = new Set<string>();
    for (let at = 0; at < requested.length; at += TOKEN_BATCH_SIZE) {
      const found = await rows<Pick<ClusterNode, 'token'>>(
        this.dataSource.manager,
        `SELECT token FROM cluster_nodes WHERE token = ANY($1::uuid[]) AND to_date = 'infinity'`,
        [requested.slice(at, at + TOKEN_BATCH_SIZE)],
      );
      for (const { token } of found) live.add(token);
    }
    return live;
  }

  async runningAmong(tokens: readonly string[]): Promise<ClusterNode[]> {
    return rows<ClusterNode>(
      this.dataSource.manager,
      `SELECT n.* FROM cluster_nodes n JOIN clusters c ON c.cluster_id = n.cluster_id
       WHERE ${SHOULD_RUN} AND n.token = ANY($1::uuid[])`,
      [tokens.filter(isNodeToken)],
    );
  }

  /**
   * Returns the live nodes of running clusters whose silence exceeds the limits of {@link Silence}. A silence of n
   * answered seconds began before the earliest of the latest n: one point in time for all nodes instead of a count for
   * each.
   */
  async findSilent(silence: Silence): Promise<SilentNode[]> {
    const params = new Params();
    const isLost = `coalesce(n.last_seen_at < (${nthLatestAnswered(params.add(silence.lostAfterSeconds))}), FALSE)`;
    const sql = `SELECT n.*, ${isLost} AS is_lost ${silent(params, silence)}`;
    return rows(this.dataSource.manager, sql, params.values);
  }

  /** Returns a condition that is true if {@link findSilent} would return a node. */
  hasSilent(params: Params, silence: Silence): string {
    return finds(`SELECT n.node_id ${silent(params, silence)}`);
  }
}

const SHOULD_RUN = `n.to_date = 'infinity' AND n.status = 'RUNNING' AND ${givesSlots('c')}`;

const silent = (params: Params, { ms, answeredSeconds }: Silence) =>
  `FROM cluster_nodes n JOIN clusters c ON c.cluster_id = n.cluster_id
   WHERE ${SHOULD_RUN} AND n.last_seen_at < platform_now() - ${params.add(ms)} * interval '1 millisecond'
     AND n.last_seen_at < (${nthLatestAnswered(params.add(answeredSeconds))})`;

const nthLatestAnswered = (n: string) =>
  `SELECT second FROM answered_seconds ORDER BY second DESC OFFSET ${n}::integer - 1 LIMIT 1`;
