import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../platform/http/answers';
import { appendState, type History } from '../../platform/history/state-history';
import { firstRow, rows, type Tx } from '../../platform/persistence/sql';
import { ofTenant } from '../../platform/persistence/tenant-condition';
import type { ResourceFilter } from '../../platform/resources/resource-repository';
import { WorkspaceResourceRepository } from '../../platform/resources/workspace-resource-repository';
import { CLUSTER_INFO_COLUMNS } from './job-confs.repository';
import { Run } from './entities/run.entity';
import { RunStateEntry } from './entities/run-state.entity';
import { isFinished, type RunStatus, runMayBecome } from './run-state';

export interface RunDetailRow extends Run, AuthorNames {
  cluster_name: string;
  cluster_status: string;
  cluster_type: string;
  cluster_size: number;
  workflow_job_id: number;
  workflow_state: string;
  workflow_from: Date;
  workflow_to: Date | number;
}

const HISTORY: History<RunStateEntry> = { entity: RunStateEntry, idColumn: 'run_state_id', subjectColumn: 'run_id' };

/** What a node's agent is told of a run. */
export type AssignedRun = Pick<Run, 'run_id' | 'stop_requested' | 'correlation_id' | 'report_seq' | SpecColumn>;
/** What describes it besides its cluster. */
export type SpecColumn = 'job_conf_snapshot' | 'arguments' | 'conf';

export interface RunTransition {
  to: RunStatus;
  reason: string | null;
  /** Null for the platform and the agents. */
  userId: number | null;
  /** Further columns to set with the status. */
  columns?: Partial<Run>;
}

@Injectable()
export class RunsRepository extends WorkspaceResourceRepository<Run, RunDetailRow> {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      entity: Run,
      further: `${CLUSTER_INFO_COLUMNS}, wi.workflow_job_id, wi.state AS workflow_state,
        wi.from_date AS workflow_from, wi.to_date AS workflow_to`,
      joins: `JOIN clusters c ON c.cluster_id = t.cluster_id
        JOIN workflow_job_instances wi ON wi.workflow_job_instance_id = t.workflow_job_instance_id`,
    });
  }

  /** Those whose configuration was as asked for when they were submitted. */
  submittedAs(asked: {
    name?: string;
    partOfName?: string;
    jobTypes?: readonly string[];
    languages?: readonly string[];
  }): ResourceFilter<Run> {
    const { name, partOfName, jobTypes, languages } = asked;
    return (conditions) => {
      if (partOfName !== undefined) conditions.addContains(`(t.job_conf_snapshot->>'name')`, partOfName);
      conditions
        .addIf(name !== undefined, `t.job_conf_snapshot->>'name' = ?`, name)
        .addIf(jobTypes !== undefined, `t.job_conf_snapshot->>'job_type' = ANY(?)`, jobTypes)
        .addIf(languages !== undefined, `t.job_conf_snapshot->>'language' = ANY(?)`, languages);
    };
  }

  /** Id of a run to come, for what has to name it before. */
  async nextId(tx: Tx): Promise<number> {
    const row = await firstRow<{ id: Run['run_id'] }>(
      tx,
      `SELECT nextval(pg_get_serial_sequence('runs', 'run_id')) AS id`,
    );
    if (!row) throw new Error('The sequence of runs answered nothing');
    return row.id;
  }

  async lock(tx: Tx, runId: number): Promise<Run | null> {
    return firstRow<Run>(tx, 'SELECT * FROM runs WHERE run_id = $1 FOR UPDATE', [runId]);
  }

  /** Locks the cluster of a run; answers its id. */
  async lockCluster(tx: Tx, runId: number): Promise<number | null> {
    const row = await firstRow<Pick<Run, 'cluster_id'>>(
      tx,
      `SELECT cluster_id FROM clusters WHERE cluster_id = (SELECT cluster_id FROM runs WHERE run_id = $1) FOR UPDATE`,
      [runId],
    );
    return row?.cluster_id ?? null;
  }

  /** First history row of a new run. */
  async begin(tx: Tx, runId: number, userId: number): Promise<void> {
    await appendState(tx, HISTORY, runId, { from: null, to: 'SUBMITTED', reason: null, userId });
  }

  /** Moves a locked run to another status and appends its history. Nothing else writes `runs.status`. */
  async transition(tx: Tx, run: Run, change: RunTransition): Promise<void> {
    if (!runMayBecome(run.status, change.to)) {
      throw new Error(`Run ${run.run_id} cannot go from ${run.status} to ${change.to}`);
    }
    const columns: Partial<Run> = {
      ...change.columns,
      status: change.to,
      ...(change.userId === null ? {} : { modified_by_user_id: change.userId }),
      ...(isFinished(change.to) ? { reason: change.reason } : {}),
    };
    const times: (keyof Run)[] = ['last_update_date', ...(isFinished(change.to) ? (['ended_at'] as const) : [])];
    const set = [
      ...Object.keys(columns).map((column, index) => `"${column}" = $${index + 2}`),
      ...times.map((time) => `${time} = platform_now()`),
    ];
    await tx.query(`UPDATE runs SET ${set.join(', ')} WHERE run_id = $1`, [run.run_id, ...Object.values(columns)]);
    await appendState(tx, HISTORY, run.run_id, {
      from: run.status,
      to: change.to,
      reason: change.reason,
      userId: change.userId,
    });
    run.status = change.to;
  }

  /** Runs of a cluster that wait for a slot, oldest first. */
  async waiting(tx: Tx, clusterId: number): Promise<Run[]> {
    return rows<Run>(
      tx,
      `SELECT * FROM runs WHERE cluster_id = $1 AND node_id IS NULL AND ended_at IS NULL ORDER BY run_id FOR UPDATE`,
      [clusterId],
    );
  }

  async assign(tx: Tx, run: Run, nodeId: number): Promise<void> {
    await tx.query('UPDATE runs SET node_id = $2, assigned_at = platform_now() WHERE run_id = $1', [
      run.run_id,
      nodeId,
    ]);
    run.node_id = nodeId;
  }

  /** Notes the last report of the agent that was taken in; the application id stays once it is known. */
  async noteReport(
    tx: Tx,
    runId: number,
    { seq, application_id }: { seq: number; application_id: string | null },
  ): Promise<void> {
    await tx.query('UPDATE runs SET report_seq = $2, application_id = coalesce($3, application_id) WHERE run_id = $1', [
      runId,
      seq,
      application_id,
    ]);
  }

  async unfinishedOf(tx: Tx, jobConfId: number): Promise<number> {
    const row = await firstRow<{ count: number }>(
      tx,
      'SELECT count(*) FROM runs WHERE job_conf_id = $1 AND ended_at IS NULL',
      [jobConfId],
    );
    return row?.count ?? 0;
  }

  /**
   * Unfinished runs of a node, for its agent, with the version of what the node should do, both as of one moment; none
   * and version 0 when there is no such node.
   */
  async assignedTo(nodeId: number): Promise<{ version: number; runs: AssignedRun[] }> {
    const found = await rows<{ version: number } & (AssignedRun | { run_id: null })>(
      this.dataSource.manager,
      `SELECT n.desired_version AS version, r.run_id, r.stop_requested, r.correlation_id, r.job_conf_snapshot,
         r.arguments, r.conf, r.report_seq
       FROM cluster_nodes n LEFT JOIN runs r ON r.node_id = n.node_id AND r.ended_at IS NULL
       WHERE n.node_id = $1 ORDER BY r.run_id`,
      [nodeId],
    );
    return { version: found[0]?.version ?? 0, runs: found.filter((row) => row.run_id !== null) };
  }

  async byId(runId: number): Promise<Run | null> {
    return firstRow<Run>(this.dataSource.manager, 'SELECT * FROM runs WHERE run_id = $1', [runId]);
  }

  async history(runId: number): Promise<Pick<RunStateEntry, 'status' | 'reason' | 'start_time' | 'end_time'>[]> {
    return rows(
      this.dataSource.manager,
      'SELECT status, reason, start_time, end_time FROM run_states WHERE run_id = $1 ORDER BY sequence',
      [runId],
    );
  }

  /** Number of runs by status, of one cluster or one workspace. */
  async countByStatus(
    tenantId: string,
    column: 'cluster_id' | 'workspace_id',
    id: number,
  ): Promise<Map<string, number>> {
    const counted = await rows<Pick<Run, 'status'> & { count: number }>(
      this.dataSource.manager,
      `SELECT status, count(*) FROM runs WHERE ${ofTenant('runs', '$1')} AND ${column} = $2 GROUP BY status`,
      [tenantId, id],
    );
    return new Map(counted.map(({ status, count }) => [status, count]));
  }

  /** Unfinished runs whose node can carry them no more. */
  async onDeadNodes(): Promise<(Pick<Run, 'run_id'> & { node_status: string })[]> {
    return rows(
      this.dataSource.manager,
      `SELECT r.run_id, n.status AS node_status FROM runs r JOIN cluster_nodes n ON n.node_id = r.node_id
       WHERE r.ended_at IS NULL AND n.status IN ('STOPPED', 'DESTROYED', 'ERROR') LIMIT 500`,
    );
  }

  /** Clusters with runs that wait for a slot. */
  async clustersWithWaitingRuns(): Promise<number[]> {
    const found = await rows<Pick<Run, 'cluster_id'>>(
      this.dataSource.manager,
      'SELECT DISTINCT cluster_id FROM runs WHERE ended_at IS NULL AND node_id IS NULL LIMIT 500',
    );
    return found.map((row) => row.cluster_id);
  }

  /** Every run, whatever its validity. */
  protected override addValidity(): void {
    return;
  }
}
