import { Injectable } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import type { RunReport } from '../../../../../libs/contracts/agent-protocol';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import { appendStates, type History } from '../../../../platform/kernel/history/state-history';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { notifyAfterCommit } from '../../../../platform/kernel/notifications/after-commit';
import { columnsOf } from '../../../../platform/kernel/persistence/entity-table';
import {
  type Conditions,
  finds,
  firstRow,
  jsonb,
  Params,
  prepared,
  rows,
  type Tx,
} from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { RecordKindNames } from '../../../../platform/http/resources/record-kind';
import { WorkspaceResourceRepository } from '../../../../platform/http/resources/workspace-resource-repository';
import { type ClusterNode, hasFreeSlot, IS_DEAD, mayLeaveNoRunWaiting, type LockedCluster } from '../../clusters';
import { mayRun, servesWorkspace } from '../../workspaces';
import { CLUSTER_INFO_COLUMNS } from './run-configurations.repository';
import type { RunConfiguration } from './entities/run-configuration.entity';
import type { RunCount } from './entities/run-count.entity';
import { IS_WAITING, Run } from './entities/run.entity';
import { RunStateEntry } from './entities/run-state.entity';
import type { KindScope } from './run-kinds';
import type { ReasonCode } from './reason-codes';
import { isFinished, type RunStatus, type RunStep, runMayBecome, STOPPABLE } from './run-state';

export interface RunDetailRow extends Run, AuthorNames {
  cluster_name: string;
  cluster_status: string;
  cluster_type: string;
  cluster_size: number;
}

/** An entry of the history of a run, with the user who caused it. */
export type RunStateRow = Pick<RunStateEntry, 'status' | 'reason' | 'step' | 'start_time' | 'end_time'> & {
  username: string | null;
};

/** An unfinished run on a node that no longer runs anything. */
export type RunOnDeadNode = Pick<Run, 'run_id'> &
  Pick<ClusterNode, 'interruption'> & { node_status: ClusterNode['status'] };

/** A configuration, its workspace and its cluster at the time of a submission. */
export type Submission = Pick<
  RunConfiguration,
  'job_conf_id' | 'name' | 'job_type' | 'language' | 'settings' | 'max_concurrency'
> &
  Pick<LockedCluster, 'cluster_id' | 'spark_config' | 'object_storage_manager_id'> &
  Pick<Run, 'run_id' | 'workflow_job_instance_id'> & {
    active: boolean;
    workspace_active: boolean;
    cluster_active: boolean;
    /** False if the cluster serves only other workspaces. */
    cluster_serves: boolean;
    cluster_name: LockedCluster['name'];
    cluster_status: LockedCluster['status'];
    has_free_slot: boolean;
    may_grow: boolean;
  };

export type NewRun = Pick<
  Run,
  | 'run_id'
  | 'tenant_id'
  | 'workspace_id'
  | 'kind'
  | 'job_conf_id'
  | 'cluster_id'
  | 'created_by_user_id'
  | 'job_conf_snapshot'
  | 'arguments'
  | 'conf'
  | 'correlation_id'
  | 'workflow_job_instance_id'
> & { status: 'SUBMITTED' };

/**
 * Conditions and order of the runs that wait for the cluster, oldest first. Only the index of waiting runs has this order. With
 * `run_id` alone, or no order, the planner may scan all ended runs if it expects few.
 */
export const waitingFor = (cluster: string) =>
  `WHERE cluster_id BETWEEN ${cluster} AND ${cluster} AND ${IS_WAITING} ORDER BY cluster_id, run_id`;

/** CTE that subtracts the ended runs (`changed`) from the unfinished runs of their configurations. */
const UNCOUNTED = `uncounted AS (
  UPDATE job_confs c SET unfinished_runs = c.unfinished_runs - e.runs
  FROM (SELECT job_conf_id, count(*) AS runs FROM changed GROUP BY job_conf_id) e
  WHERE c.job_conf_id = e.job_conf_id AND c.unfinished_runs IS NOT NULL)`;

const HISTORY: History<RunStateEntry> = { entity: RunStateEntry, idColumn: 'run_state_id', subjectColumn: 'run_id' };

const SUBMITTER_MAY_RUN = mayRun({
  user: 'runs.created_by_user_id',
  tenant: 'runs.tenant_id',
  workspace: 'runs.workspace_id',
});

/** A run that waits for a slot. `barred` says why it must not start because of its submitter; null if it may start. */
export type WaitingRun = Run & { barred: Barrier | null };
export type Barrier = Extract<ReasonCode, 'SUBMITTER_DISABLED' | 'SUBMITTER_NOT_ALLOWED'>;

/** The columns of a run that its node's agent needs. */
export type AssignedRun = Pick<
  Run,
  | 'run_id'
  | 'kind'
  | 'stop_requested'
  | 'correlation_id'
  | 'report_seq'
  | 'workspace_id'
  | 'created_by_user_id'
  | SpecColumn
>;
/** The columns from which its specification is built. */
export type SpecColumn = 'job_conf_snapshot' | 'arguments' | 'conf';

/** The facts of a report that are kept with the run itself. */
type RecordedReport = Pick<
  RunReport,
  'seq' | 'application_id' | 'started_warm' | 'cold_reason' | 'requested_memory_mb' | 'peak_memory_mb'
>;

export interface RunTransition {
  to: RunStatus;
  reason: string | null;
  /** Null if the platform or an agent made the transition. */
  userId: number | null;
  step: RunStep;
  columns?: Partial<Run>;
}

/** Absent filters do not filter. */
export interface RunFilters {
  clusterIds?: number[] | undefined;
  configurationIds?: number[] | undefined;
  statuses?: string[] | undefined;
  createdByIds?: number[] | undefined;
  modifiedByIds?: number[] | undefined;
  isUnfinished?: boolean | undefined;
  /** This and the following ones filter on the configuration snapshot taken at submission. */
  name?: string | undefined;
  partOfName?: string | undefined;
  jobTypes?: readonly string[] | undefined;
  languages?: readonly string[] | undefined;
}

const UNFOLDED = 'SELECT run_count_id FROM run_counts WHERE NOT is_total ORDER BY run_count_id';

const ON_DEAD_NODES = `SELECT r.run_id, n.status AS node_status, n.interruption
  FROM (SELECT node_id, status, interruption FROM cluster_nodes WHERE busy_slots > 0 AND ${IS_DEAD} LIMIT 500) n
    JOIN runs r ON r.node_id = n.node_id AND r.ended_at IS NULL`;

@Injectable()
export class RunsRepository extends WorkspaceResourceRepository<Run, RunDetailRow, KindScope> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Run,
      further: CLUSTER_INFO_COLUMNS,
      joins: 'JOIN clusters c ON c.cluster_id = t.cluster_id',
    });
  }

  page(scope: KindScope, page: PageRequest, filters: RunFilters): Promise<Page<RunDetailRow>> {
    const { isUnfinished, name, partOfName, jobTypes, languages } = filters;
    return this.list(scope, page, (conditions) => {
      conditions
        .only('cluster_id', filters.clusterIds)
        .only('job_conf_id', filters.configurationIds)
        .only('status', filters.statuses)
        .only('created_by_user_id', filters.createdByIds)
        .only('modified_by_user_id', filters.modifiedByIds)
        .addIf(isUnfinished !== undefined, `t.ended_at IS ${isUnfinished ? '' : 'NOT '}NULL`);
      if (partOfName !== undefined) conditions.addContains(`(t.job_conf_snapshot->>'name')`, partOfName);
      conditions
        .addIf(name !== undefined, `t.job_conf_snapshot->>'name' = ?`, name)
        .addIf(jobTypes !== undefined, `t.job_conf_snapshot->>'job_type' = ANY(?)`, jobTypes)
        .addIf(languages !== undefined, `t.job_conf_snapshot->>'language' = ANY(?)`, languages);
    });
  }

  /**
   * Returns what a submission of the configuration depends on, and the id of the new run; null if there is no such configuration.
   * Until `tx` ends, the configuration's limit of runs cannot be added or removed.
   */
  async submission(
    tx: Tx,
    { tenantId, workspace, kind }: KindScope,
    selector: RecordSelector,
  ): Promise<Submission | null> {
    const params = new Params();
    const { id, name } = selector;
    const tenant = ofTenant('t', params.add(tenantId));
    const place = `${tenant} AND t.workspace_id = ${params.add(workspace.workspaceId)} AND t.kind = '${kind.resource}'`;
    const named = [
      ...(id === undefined ? [] : [`AND t.job_conf_id = ${params.add(id)}`]),
      ...(name === undefined ? [] : [`AND t.name = ${params.add(name)}`]),
    ].join(' ');
    return firstRow<Submission>(
      tx,
      prepared(
        `SELECT t.job_conf_id, t.name, t.job_type, t.language, t.settings, t.max_concurrency,
           t.to_date = 'infinity' AS active, w.to_date = 'infinity' AS workspace_active, c.cluster_id,
           c.name AS cluster_name, c.status AS cluster_status, c.to_date = 'infinity' AS cluster_active, c.spark_config,
           c.object_storage_manager_id, ${hasFreeSlot('c')} AS has_free_slot,
           coalesce(c.min_instances < c.max_instances, false) AS may_grow,
           ${servesWorkspace('t.cluster_id', 't.workspace_id')} AS cluster_serves,
           nextval(pg_get_serial_sequence('runs', 'run_id')) AS run_id,
           nextval(pg_get_serial_sequence('workflow_job_instances', 'workflow_job_instance_id')) AS workflow_job_instance_id
         FROM job_confs t JOIN workspaces w ON w.workspace_id = t.workspace_id JOIN clusters c ON c.cluster_id = t.cluster_id
         WHERE ${place} AND t.deleted_at IS NULL ${named} ORDER BY t.to_date DESC, t.job_conf_id DESC LIMIT 1 FOR KEY SHARE OF t`,
      ),
      params.values,
    );
  }

  async submit(tx: Tx, run: NewRun): Promise<Run> {
    const params = new Params();
    const values = {
      ...run,
      job_conf_snapshot: jsonb(run.job_conf_snapshot),
      modified_by_user_id: run.created_by_user_id,
    };
    const inserted = await firstRow<Run>(
      tx,
      prepared(
        `WITH run AS (
           INSERT INTO runs (${Object.keys(values).join(', ')}) VALUES (${params.addAll(Object.values(values))})
           RETURNING ${columnsOf(Run).join(', ')}),
         history AS (
           INSERT INTO run_states (run_id, status, actor_user_id, step, sequence, start_time)
           SELECT run_id, status, created_by_user_id, 'submit', 1, date_trunc('milliseconds', platform_clock()) FROM run),
         counted AS (
           INSERT INTO run_counts (tenant_id, workspace_id, cluster_id, status, runs)
           SELECT tenant_id, workspace_id, cluster_id, status, 1 FROM run)
         SELECT * FROM run`,
      ),
      params.values,
    );
    if (!inserted) throw new Error('INSERT INTO runs returned no row');
    await notifyAfterCommit(tx, 'changes');
    return inserted;
  }

  async lock(tx: Tx, runId: number): Promise<Run | null> {
    return firstRow<Run>(tx, 'SELECT * FROM runs WHERE run_id = $1 FOR UPDATE', [runId]);
  }

  /** Locks the cluster and then the run, the order of everything that assigns or frees slots. Returns null if there is no such run. */
  async lockWithCluster(tx: Tx, runId: number): Promise<Run | null> {
    const cluster = await firstRow<Pick<Run, 'cluster_id'>>(
      tx,
      `SELECT cluster_id FROM clusters WHERE cluster_id = (SELECT cluster_id FROM runs WHERE run_id = $1)
       FOR NO KEY UPDATE`,
      [runId],
    );
    return cluster && this.lock(tx, runId);
  }

  /**
   * Moves locked runs, which are all in the same status, to another one, appends to their histories and updates the counts. Nothing
   * else writes `runs.status`.
   */
  async transition(tx: Tx, runs: readonly Run[], change: RunTransition): Promise<void> {
    const [first] = runs;
    if (!first) return;
    const { status: from } = first;
    const invalid = runs.find((run) => run.status !== from || !runMayBecome(run.status, change.to));
    if (invalid) throw new Error(`Run ${invalid.run_id} cannot go from ${invalid.status} to ${change.to}`);
    const ends = isFinished(change.to);
    const columns: Partial<Run> = {
      ...change.columns,
      ...(change.userId === null ? {} : { modified_by_user_id: change.userId }),
      ...(ends ? { reason: change.reason } : {}),
    };
    const set = [
      'status = $3',
      'last_update_date = platform_now()',
      ...(ends ? ['ended_at = platform_now()'] : []),
      ...Object.keys(columns).map((column, index) => `"${column}" = $${index + 4}`),
    ];
    const ids = runs.map((run) => run.run_id);
    await tx.query(
      `WITH changed AS (
         UPDATE runs SET ${set.join(', ')} WHERE run_id = ANY($1)
         RETURNING tenant_id, workspace_id, cluster_id, job_conf_id)${ends ? `, ${UNCOUNTED}` : ''}
       INSERT INTO run_counts (tenant_id, workspace_id, cluster_id, status, runs)
       SELECT r.tenant_id, r.workspace_id, r.cluster_id, s.status, sum(s.runs) FROM changed r,
         (VALUES ($2::text, -1), ($3::text, 1)) AS s (status, runs) GROUP BY 1, 2, 3, 4`,
      [ids, from, change.to, ...Object.values(columns)],
    );
    const { to, reason, userId, step } = change;
    await appendStates(tx, HISTORY, ids, { from, to, reason, userId, extra: { step } });
    for (const run of runs) run.status = to;
  }

  /** Locks and returns up to `limit` runs of a cluster that wait for a slot, oldest first. */
  async waiting(tx: Tx, clusterId: number, limit: number): Promise<WaitingRun[]> {
    return rows<WaitingRun>(
      tx,
      `SELECT *, CASE
           WHEN EXISTS (SELECT 1 FROM users u WHERE u.user_id = runs.created_by_user_id AND u.to_date <> 'infinity')
             THEN 'SUBMITTER_DISABLED'
           WHEN created_by_user_id IS NOT NULL AND NOT ${SUBMITTER_MAY_RUN} THEN 'SUBMITTER_NOT_ALLOWED'
         END AS barred
       FROM runs ${waitingFor('$1')} LIMIT $2 FOR NO KEY UPDATE`,
      [clusterId, limit],
    );
  }

  /** Locks and returns up to `limit` stoppable runs on nodes of a cluster that were submitted until then, oldest first. */
  async stoppableOnNodes(tx: Tx, clusterId: number, submittedBy: Date, limit: number): Promise<Run[]> {
    return rows<Run>(
      tx,
      `SELECT r.* FROM cluster_nodes n JOIN runs r ON r.node_id = n.node_id AND r.ended_at IS NULL
       WHERE n.cluster_id = $1 AND n.busy_slots > 0 AND r.status = ANY($2)
         AND date_trunc('milliseconds', r.from_date) <= $3
       ORDER BY r.run_id LIMIT $4 FOR NO KEY UPDATE OF r`,
      [clusterId, STOPPABLE, submittedBy, limit],
    );
  }

  /** Returns true if runs wait although the cluster is in a state in which none should. */
  async needsScheduling(clusterId: number): Promise<boolean> {
    const found = await rows(
      this.dataSource.manager,
      prepared(
        `SELECT 1 FROM clusters c WHERE c.cluster_id = $1
           AND (SELECT TRUE FROM runs ${waitingFor('$1')} LIMIT 1) AND ${mayLeaveNoRunWaiting('c')}`,
      ),
      [clusterId],
    );
    return found.length > 0;
  }

  /**
   * Assigns each run to the node at the same index. The transaction may have begun before the run that had the slot ended: the
   * time is not before that, so that a node never holds more runs than it has slots.
   */
  async assign(tx: Tx, runIds: readonly number[], nodeIds: readonly number[]): Promise<void> {
    await tx.query(
      `UPDATE runs r SET node_id = a.node_id, assigned_at = greatest(platform_now(), n.slot_freed_at)
       FROM unnest($1::bigint[], $2::bigint[]) AS a (run_id, node_id) JOIN cluster_nodes n ON n.node_id = a.node_id
       WHERE r.run_id = a.run_id`,
      [runIds, nodeIds],
    );
  }

  /**
   * Records the sequence number of an applied report. A known application id is never cleared, how a run started and what it requested
   * never change, and its highest memory is only raised.
   */
  async recordReport(
    tx: Tx,
    runId: number,
    { seq, application_id, started_warm: isWarm, cold_reason: reason, ...memory }: RecordedReport,
  ): Promise<void> {
    await tx.query(
      `UPDATE runs SET report_seq = $2, application_id = coalesce($3, application_id),
         started_warm = coalesce(started_warm, $4::boolean),
         cold_reason = CASE WHEN started_warm IS NULL THEN $5::text ELSE cold_reason END,
         requested_memory_mb = coalesce(requested_memory_mb, $6::integer), peak_memory_mb = greatest(peak_memory_mb, $7::integer)
       WHERE run_id = $1`,
      [
        ...[runId, seq, application_id, isWarm ?? null, isWarm === false && reason ? reason : null],
        ...[memory.requested_memory_mb ?? null, memory.peak_memory_mb ?? null],
      ],
    );
  }

  /**
   * Returns the unfinished runs of a node and the version of its desired state, read as one snapshot. Version 0 if there is no such
   * node.
   */
  async assignedTo(nodeId: number): Promise<{ version: number; runs: AssignedRun[] }> {
    const found = await rows<{ version: number } & (AssignedRun | { run_id: null })>(
      this.dataSource.manager,
      `SELECT n.desired_version AS version, r.run_id, r.stop_requested, r.correlation_id, r.job_conf_snapshot,
         r.arguments, r.conf, r.report_seq, r.kind, r.workspace_id, r.created_by_user_id
       FROM cluster_nodes n LEFT JOIN runs r ON r.node_id = n.node_id AND r.ended_at IS NULL
       WHERE n.node_id = $1 ORDER BY r.run_id`,
      [nodeId],
    );
    return { version: found[0]?.version ?? 0, runs: found.filter((row) => row.run_id !== null) };
  }

  /** Returns the newest run of the workspace with this application id. */
  async byApplication(scope: KindScope, applicationId: string): Promise<RunDetailRow | null> {
    const row = await firstRow<Pick<Run, 'run_id'>>(
      this.dataSource.manager,
      `SELECT run_id FROM runs t WHERE ${ofTenant('t', '$1')} AND t.application_id = $2 AND t.workspace_id = $3 AND t.kind = '${scope.kind.resource}'
       ORDER BY run_id DESC LIMIT 1`,
      [scope.tenantId, applicationId, scope.workspace.workspaceId],
    );
    return row && this.find(scope, { id: row.run_id });
  }

  async byId(runId: number): Promise<Run | null> {
    return firstRow<Run>(this.dataSource.manager, 'SELECT * FROM runs WHERE run_id = $1', [runId]);
  }

  async hasEnded(runId: number): Promise<boolean> {
    return !(await this.dataSource.manager.existsBy(Run, { run_id: runId, ended_at: IsNull() }));
  }

  async history(runId: number): Promise<RunStateRow[]> {
    return rows(
      this.dataSource.manager,
      `SELECT s.status, s.reason, s.step, s.start_time, s.end_time, u.username
       FROM run_states s LEFT JOIN users u ON u.user_id = s.actor_user_id WHERE s.run_id = $1 ORDER BY s.sequence`,
      [runId],
    );
  }

  /** Returns the number of runs by status, of one cluster or one workspace. */
  async countByStatus(
    tenantId: string,
    column: 'cluster_id' | 'workspace_id',
    id: number,
  ): Promise<Map<string, number>> {
    const counted = await rows<Pick<RunCount, 'status'> & { count: number }>(
      this.dataSource.manager,
      `SELECT status, sum(runs)::bigint AS count FROM run_counts WHERE ${ofTenant('run_counts', '$1')} AND ${column} = $2
       GROUP BY status`,
      [tenantId, id],
    );
    return new Map(counted.map(({ status, count }) => [status, count]));
  }

  /** Folds the oldest changes of the counts into the totals; returns the number of changes. */
  /** A condition that is true if {@link foldCounts} would fold something. */
  readonly hasUnfoldedCounts = (): string => finds(UNFOLDED);

  async foldCounts(limit: number): Promise<number> {
    const row = await firstRow<{ folded: number }>(
      this.dataSource.manager,
      `WITH folded AS (
         DELETE FROM run_counts WHERE run_count_id IN (
           ${UNFOLDED} LIMIT $1)
         RETURNING tenant_id, workspace_id, cluster_id, status, runs),
       totals AS (
         INSERT INTO run_counts (tenant_id, workspace_id, cluster_id, status, runs, is_total)
         SELECT tenant_id, workspace_id, cluster_id, status, sum(runs), TRUE FROM folded GROUP BY 1, 2, 3, 4
         ON CONFLICT (workspace_id, cluster_id, status) WHERE is_total
         DO UPDATE SET runs = run_counts.runs + excluded.runs)
       SELECT count(*) AS folded FROM folded`,
      [limit],
    );
    return row?.folded ?? 0;
  }

  /** A condition that is true if {@link onDeadNodes} would return a run, or {@link clustersWithWaitingRuns} a cluster. */
  readonly hasStuck = (): string =>
    `(${finds(ON_DEAD_NODES)} OR ${finds(`SELECT cluster_id FROM runs WHERE ${IS_WAITING} ORDER BY cluster_id`)})`;

  async onDeadNodes(): Promise<RunOnDeadNode[]> {
    return rows(this.dataSource.manager, `${ON_DEAD_NODES} LIMIT 500`);
  }

  /** Returns up to `limit` clusters with waiting runs, with ids greater than `after`. */
  async clustersWithWaitingRuns(after: number, limit: number): Promise<number[]> {
    const found = await rows<Pick<Run, 'cluster_id'>>(
      this.dataSource.manager,
      // Skips from cluster to cluster in the index, however many runs wait for each.
      `WITH RECURSIVE found AS (
         SELECT $1::bigint AS cluster_id
         UNION ALL
         SELECT (SELECT cluster_id FROM runs WHERE ${IS_WAITING} AND cluster_id > found.cluster_id ORDER BY cluster_id LIMIT 1)
         FROM found WHERE found.cluster_id IS NOT NULL)
       SELECT cluster_id FROM found OFFSET 1 LIMIT $2`,
      [after, limit],
    );
    return found.map((row) => row.cluster_id).filter((id) => id !== null);
  }

  protected override within(scope: KindScope): Conditions<Run> {
    return super.within(scope).add('t.kind = ?', scope.kind.resource);
  }

  protected override namesIn({ kind }: KindScope): RecordKindNames {
    return kind.run;
  }

  /** Runs have no validity. */
  protected override addValidity(): void {
    return;
  }
}
