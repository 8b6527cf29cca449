import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import type { KeysetPosition } from '../../../../platform/kernel/dto/keyset-page';
import { COUNTED_BEYOND } from '../../../../platform/kernel/dto/page';
import { Conditions, firstRow, rows } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { workspacesOf, workspacesSharedWith } from '../../workspaces';
import type { RunSort } from './dto/run-list.dto';
import type { Run } from './entities/run.entity';
import { isFinished, type RunStatus } from './run-state';

export interface RunsOfWorkspaces extends TenantScope {
  /** True for a caller who may see every workspace of the tenant. */
  everyone: boolean;
  /** Null for all workspaces that the caller may see. */
  workspaceId: number | null;
}

/** Absent filters do not filter. */
export interface RunListFilters {
  statuses?: RunStatus[] | undefined;
  types?: string[] | undefined;
  createdByIds?: number[] | undefined;
  clusterIds?: number[] | undefined;
  partOfName?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface RunListOrder {
  sort: RunSort;
  isDescending: boolean;
}

export type RunListRow = Pick<
  Run,
  | 'run_id'
  | 'kind'
  | 'workspace_id'
  | 'cluster_id'
  | 'status'
  | 'application_id'
  | 'created_by_user_id'
  | 'from_date'
  | 'assigned_at'
  | 'ended_at'
  | 'reason_code'
  | 'reason'
> &
  Pick<Run['job_conf_snapshot'], 'job_conf_id' | 'name' | 'job_type' | 'language'> & {
    workspace_name: string;
    cluster_name: string;
    username: string | null;
    /** The value by which the list is sorted, in microseconds. */
    position: number;
  };

/** Order of the list, its value at a position, and the condition that a run has a value. Each has an index. */
const SORTS: Readonly<Record<RunSort, { key: string; at: (micros: string) => string; has: string }>> = {
  submit_date: { key: 't.from_date', at: momentAt, has: 'TRUE' },
  start_date: { key: 't.assigned_at', at: momentAt, has: 't.assigned_at IS NOT NULL' },
  duration: {
    key: '(t.ended_at - t.assigned_at)',
    at: spanOf,
    has: 't.ended_at IS NOT NULL AND t.assigned_at IS NOT NULL',
  },
};

const JOB_TYPE = `t.job_conf_snapshot->>'job_type'`;
/** The type of nearly all runs; the others are in an index. */
const USUAL_TYPE = 'SPARK_JOB';

/** Lists runs across workspaces. A page takes as long whatever is stored: all its statements read an index in the order of the list. */
@Injectable()
export class RunListsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the runs that follow the position, at most `limit`. */
  async page(
    scope: RunsOfWorkspaces,
    filters: RunListFilters,
    { sort, isDescending }: RunListOrder,
    limit: number,
    after: KeysetPosition | null,
  ): Promise<RunListRow[]> {
    const { key, at } = SORTS[sort];
    const list = new ListedRuns(scope, filters, sort);
    if (after) {
      const comparison = isDescending ? '<' : '>';
      list.conditions.add(`(${key}, t.run_id) ${comparison} (${at('?')}, ?)`, after.key, after.id);
    }
    const direction = isDescending ? 'DESC' : 'ASC';
    const page = list.isByPlace
      ? list.firstOfPlaces(key, direction, limit)
      : `SELECT t.run_id FROM runs t WHERE ${list.conditions.sql} ORDER BY ${key} ${direction}, t.run_id ${direction} LIMIT ${limit}`;
    return rows<RunListRow>(
      this.dataSource.manager,
      `${list.ctes}
       SELECT t.run_id, t.kind, t.workspace_id, t.cluster_id, t.status, t.application_id, t.created_by_user_id, t.from_date,
         t.assigned_at, t.ended_at, t.reason_code, t.reason, (t.job_conf_snapshot->>'job_conf_id')::bigint AS job_conf_id,
         t.job_conf_snapshot->>'name' AS name, ${JOB_TYPE} AS job_type, t.job_conf_snapshot->>'language' AS language,
         w.name AS workspace_name, c.name AS cluster_name, u.username,
         (extract(epoch FROM ${key}) * 1000000)::bigint AS position
       FROM (${page}) page JOIN runs t ON t.run_id = page.run_id JOIN workspaces w ON w.workspace_id = t.workspace_id
         JOIN clusters c ON c.cluster_id = t.cluster_id LEFT JOIN users u ON u.user_id = t.created_by_user_id
       ORDER BY ${key} ${direction}, t.run_id ${direction}`,
      list.conditions.params,
    );
  }

  /** Counts the runs of the list up to one more than {@link COUNTED_BEYOND}. */
  async count(scope: RunsOfWorkspaces, filters: RunListFilters, sort: RunSort): Promise<number> {
    const list = new ListedRuns(scope, filters, sort);
    const max = COUNTED_BEYOND + 1;
    const { sql } = list.conditions;
    const each = list.isByPlace
      ? `SELECT 1 FROM place CROSS JOIN LATERAL (
           SELECT 1 FROM runs t WHERE ${OF_PLACE} AND ${sql} LIMIT ${max}) each LIMIT ${max}`
      : `SELECT 1 FROM runs t WHERE ${sql} ORDER BY ${SORTS[sort].key} DESC, t.run_id DESC LIMIT ${max}`;
    const counted = await firstRow<{ total: number }>(
      this.dataSource.manager,
      `${list.ctes} SELECT count(*) AS total FROM (${each}) counted`,
      list.conditions.params,
    );
    return counted?.total ?? 0;
  }
}

const OF_PLACE = 't.workspace_id = place.workspace_id';

/** The conditions of a list, and how it is read. */
class ListedRuns {
  readonly conditions = new Conditions<Run>();
  /**
   * True if the list is merged from the lists of its workspaces. Otherwise it is read as a whole, by the index of what is filtered:
   * few authors, clusters and names have many runs that the caller may not see.
   */
  readonly isByPlace: boolean;
  readonly ctes: string;

  constructor(scope: RunsOfWorkspaces, filters: RunListFilters, sort: RunSort) {
    const { tenantId, everyone, workspaceId } = scope;
    const { conditions } = this;
    addFilters(conditions, filters, sort);
    const isWhole = everyone && workspaceId === null && sort === 'submit_date' && !hasIndex(filters);
    this.isByPlace = !isNarrow(filters) && !isWhole;
    this.ctes = `WITH place AS MATERIALIZED (${this.visible(scope)})`;
    if (this.isByPlace) return;
    // The workspaces of a merged list are the tenant's; without this condition, their runs are found in the index alone.
    conditions.add(ofTenant('t'), tenantId);
    if (workspaceId !== null) {
      conditions.add('t.workspace_id = ?', workspaceId);
    } else if (!everyone) {
      // As it is written, PostgreSQL looks workspaces up in a hash table while it reads runs in order, and does not join and sort them.
      conditions.add('(t.workspace_id IN (SELECT workspace_id FROM place)) IS TRUE');
    }
  }

  /**
   * Returns SQL for the first runs of all places. They are in those places whose own first runs come first, so only as many places
   * are read as runs are wanted, however many the caller may see.
   */
  firstOfPlaces(key: string, direction: 'ASC' | 'DESC', limit: number): string {
    const first = (
      count: number,
    ) => `SELECT t.run_id, ${key} AS key FROM runs t WHERE ${OF_PLACE} AND ${this.conditions.sql}
      ORDER BY ${key} ${direction}, t.run_id ${direction} LIMIT ${count}`;
    const order = (of: string) => `ORDER BY ${of}.key ${direction}, ${of}.run_id ${direction} LIMIT ${limit}`;
    return `SELECT one.run_id FROM (
        SELECT place.workspace_id FROM place CROSS JOIN LATERAL (${first(1)}) newest ${order('newest')}) place
      CROSS JOIN LATERAL (${first(limit)}) one ${order('one')}`;
  }

  /** Returns SQL for the workspaces whose runs the list may have. */
  private visible({ tenantId, userId, everyone, workspaceId }: RunsOfWorkspaces): string {
    if (workspaceId !== null) return `SELECT ${this.place(workspaceId)}::bigint AS workspace_id`;
    if (everyone) return workspacesOf(this.place(tenantId));
    return workspacesSharedWith(`${this.place(userId)}::bigint`, this.place(tenantId));
  }

  /** Adds a parameter and returns its placeholder. */
  private place(value: unknown): string {
    this.conditions.params.push(value);
    return `$${this.conditions.params.length}`;
  }
}

function addFilters(conditions: Conditions<Run>, filters: RunListFilters, sort: RunSort): void {
  const { statuses, types, createdByIds, clusterIds, partOfName, from, to } = filters;
  conditions.add(SORTS[sort].has);
  conditions.only('created_by_user_id', oneOrMore(createdByIds)).only('cluster_id', oneOrMore(clusterIds));
  conditions.only('status', statuses);
  if (partOfName !== undefined) conditions.addContains(`(t.job_conf_snapshot->>'name')`, partOfName);
  conditions
    .addIf(from !== undefined, 't.from_date >= ?', from)
    // No run starts before its submission.
    .addIf(from !== undefined && sort === 'start_date', 't.assigned_at >= ?', from)
    .addIf(to !== undefined, 't.from_date < ?', to);
  const indexed = statusCondition(statuses);
  if (indexed !== null) conditions.add(indexed);
  if (!types) return;
  conditions.add(`${JOB_TYPE} = ANY(?)`, types);
  conditions.addIf(!types.includes(USUAL_TYPE), `${JOB_TYPE} <> '${USUAL_TYPE}'`);
}

/** True if an index has the runs of a filter in the order of the list, whatever workspaces they are in. */
function isNarrow({ createdByIds, clusterIds, partOfName }: RunListFilters): boolean {
  return Boolean(createdByIds ?? clusterIds ?? partOfName);
}

/** True if an index of each workspace has the runs of a filter. */
function hasIndex({ statuses, types }: RunListFilters): boolean {
  return types !== undefined || statusCondition(statuses) !== null;
}

/** Returns the condition of an index that has all runs with these statuses; null if no index has few others. */
function statusCondition(statuses: readonly RunStatus[] | undefined): string | null {
  if (!statuses || statuses.length === 0) return null;
  if (!statuses.some(isFinished)) return 't.ended_at IS NULL';
  if (!statuses.every(isFinished) || statuses.includes('DONE')) return null;
  return `t.ended_at IS NOT NULL AND t.reason_code IS DISTINCT FROM 'COMPLETED'`;
}

/** A single value lets PostgreSQL read the index in the order of the list. */
function oneOrMore(ids: number[] | undefined): number | number[] | undefined {
  return ids?.length === 1 ? ids[0] : ids;
}

function momentAt(micros: string): string {
  return `'epoch'::timestamptz + ${spanOf(micros)}`;
}

function spanOf(micros: string): string {
  return `${micros}::bigint * interval '1 microsecond'`;
}
