import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { firstRow, Params, rows } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { endOf, milliseconds, type PricedPeriod, startOf, usageDays, type UsagePeriod } from '../billing';
import { workspacesSharedWith } from '../workspaces';
import type { CostPosition } from './cost-position';
import { PRICED, pricesOf, SUMS, UNUSED_SUMS, type UnusedRow } from './cost-sums.joins';
import type { CostPart, CostSubject } from './dto/cost-report.dto';
import { SHARES, SUMS_OF_UNUSED, UNUSED_COLUMNS, UNUSED_MB } from './shares.joins';

export interface CostScope extends TenantScope {
  /** True for a caller who may see every workspace of the tenant. */
  everyone: boolean;
  /** Null for all workspaces that the caller may see. */
  workspaceId: number | null;
  clusterIds: readonly number[] | null;
  createdByIds: readonly number[] | null;
}

export type Kind = 'runs' | 'idle' | 'nodes';

export interface CostRow {
  id: number;
  key: string;
  day: string | null;
  name: string | null;
  kinds: Partial<Record<Kind, UnusedRow>>;
}

/** A run with the records that it belongs to; null if it is no longer there. */
export interface RunCostRow extends CostRow {
  workspace: CostSubject | null;
  cluster: CostSubject | null;
  user: { user_id: number; username: string } | null;
}

type Grouped = Exclude<CostPart, 'run'>;

/** The column, the value of the order (a decimal), and the name of each part. Days are numbered since 1970. */
const PARTS: Readonly<Record<Grouped, { id: string; key: string; name: string }>> = {
  day: { id: `usage_date - DATE '1970-01-01'`, key: `usage_date - DATE '1970-01-01'`, name: 'NULL' },
  workspace: { id: 'workspace_id', key: 'NULL', name: '(SELECT name FROM workspaces WHERE workspace_id = id)' },
  cluster: { id: 'cluster_id', key: 'NULL', name: '(SELECT name FROM clusters WHERE cluster_id = id)' },
  user: { id: 'user_id', key: 'NULL', name: '(SELECT username FROM users WHERE user_id = id)' },
};

/**
 * Sums of the shares of runs and of the time of nodes. Settled runs are read from their sums by day, so that a report takes as long
 * whatever they are; others from the ledger, in the same statement.
 */
@Injectable()
export class CostReportsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the lines of a part that follow the position, at most `limit`. */
  async lines(
    scope: CostScope,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
    { part, limit, after }: { part: Grouped; limit: number; after: CostPosition | null },
  ): Promise<CostRow[]> {
    const { id, key, name } = PARTS[part];
    const isWhole = seesIdle(scope) && (part === 'day' || part === 'cluster');
    const report = new Report(scope, period, prices, isWhole);
    const position = after
      ? `WHERE (key, id) < (${report.add(after.key)}::numeric, ${report.add(after.id)}::bigint)`
      : '';
    return rows<CostRow>(
      this.dataSource.manager,
      `${report.parts()},
       sums AS (SELECT ${id} AS id, kind, sum(ycu_ms) AS order_ycu_ms, ${SUMS}, ${UNUSED_SUMS} FROM parts ${PRICED} GROUP BY 1, kind),
       lines AS (
         SELECT id, coalesce(${key === 'NULL' ? 'max(order_ycu_ms)' : 'id::numeric'}, 0) AS key,
           json_object_agg(kind, row_to_json(sums)) AS kinds
         FROM sums GROUP BY id)
       SELECT id, trim_scale(key)::text AS key, ${part === 'day' ? `(DATE '1970-01-01' + id::integer)` : 'NULL'} AS day,
         ${name} AS name, kinds
       FROM lines ${position} ORDER BY lines.key DESC, id DESC LIMIT ${limit}`,
      report.values,
    );
  }

  /** Returns the runs that follow the position, the dearest first. */
  async runs(
    scope: CostScope,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
    { limit, after }: { limit: number; after: CostPosition | null },
  ): Promise<RunCostRow[]> {
    const report = new Report(scope, period, prices);
    const { first, last } = report;
    const below = after && [report.add(after.key), report.add(after.id)];
    const following = (ycu: string, id: string) =>
      below ? `(${ycu}, ${id}) < (${below[0]}::numeric, ${below[1]}::bigint)` : 'TRUE';
    const { shares, conditions } = report.shared();
    return rows<RunCostRow>(
      this.dataSource.manager,
      `${shares},
       short AS (
         SELECT top.run_id FROM generate_series(${first}::timestamp, ${last}::timestamp, interval '1 day') AS day
           CROSS JOIN LATERAL (
             SELECT t.run_id, t.ycu_ms FROM run_cost_days t WHERE t.is_only_day AND t.usage_date = day::date AND ${conditions('t')}
               AND ${following('t.ycu_ms', 't.run_id')}
             ORDER BY t.ycu_ms DESC, t.run_id DESC LIMIT ${limit}) top
         ORDER BY top.ycu_ms DESC, top.run_id DESC LIMIT ${limit}),
       long AS (
         SELECT DISTINCT t.run_id FROM run_cost_days t
         WHERE NOT t.is_only_day AND t.usage_date BETWEEN ${first} AND ${last} AND ${conditions('t')}),
       days AS (
         SELECT d.run_id, d.usage_date, d.share_ms AS ms, d.ycu_ms, ${UNUSED_COLUMNS}
         FROM run_cost_days d JOIN (SELECT run_id FROM short UNION ALL SELECT run_id FROM long) shown USING (run_id)
         WHERE d.usage_date BETWEEN ${first} AND ${last}
         UNION ALL SELECT run_id, usage_date, ms, ycu_ms, ${UNUSED_COLUMNS} FROM live),
       sums AS (SELECT run_id AS id, sum(ycu_ms) AS key, ${SUMS}, ${UNUSED_SUMS} FROM days ${PRICED} GROUP BY run_id)
       SELECT page.id, trim_scale(page.key)::text AS key, NULL AS day, r.job_conf_snapshot->>'name' AS name,
         json_build_object('runs', row_to_json(page)) AS kinds,
         CASE WHEN w.workspace_id IS NOT NULL THEN json_build_object('id', w.workspace_id, 'name', w.name) END AS workspace,
         CASE WHEN c.cluster_id IS NOT NULL THEN json_build_object('id', c.cluster_id, 'name', c.name) END AS cluster,
         CASE WHEN u.user_id IS NOT NULL THEN json_build_object('user_id', u.user_id, 'username', u.username) END AS "user"
       FROM (SELECT * FROM sums WHERE ${following('key', 'id')} ORDER BY key DESC, id DESC LIMIT ${limit}) page
         LEFT JOIN runs r ON r.run_id = page.id LEFT JOIN workspaces w ON w.workspace_id = r.workspace_id
         LEFT JOIN clusters c ON c.cluster_id = r.cluster_id LEFT JOIN users u ON u.user_id = r.created_by_user_id
       ORDER BY page.key DESC, page.id DESC`,
      report.values,
    );
  }

  /** Returns the sums of the period. */
  async total(
    scope: CostScope,
    period: UsagePeriod,
    prices: readonly PricedPeriod[],
  ): Promise<Partial<Record<Kind, UnusedRow>>> {
    const report = new Report(scope, period, prices, seesIdle(scope));
    const found = await firstRow<{ kinds: Partial<Record<Kind, UnusedRow>> | null }>(
      this.dataSource.manager,
      `${report.parts()}, sums AS (SELECT kind, ${SUMS}, ${UNUSED_SUMS} FROM parts ${PRICED} GROUP BY kind)
       SELECT json_object_agg(kind, row_to_json(sums)) AS kinds FROM sums`,
      report.values,
    );
    return found?.kinds ?? {};
  }
}

/** True if the time of nodes belongs to nobody but those who are in the scope. */
export function seesIdle({ everyone, workspaceId, createdByIds }: CostScope): boolean {
  return everyone && workspaceId === null && createdByIds === null;
}

/** Common table expressions of a report, and their parameters. */
class Report {
  private readonly params = new Params();
  readonly first: string;
  readonly last: string;

  constructor(
    private readonly scope: CostScope,
    private readonly period: UsagePeriod,
    private readonly prices: readonly PricedPeriod[],
    private readonly withNodes = false,
  ) {
    this.first = `${this.add(period.from)}::date`;
    this.last = `${this.add(period.until)}::date`;
  }

  get values() {
    return this.params.values;
  }

  add(value: unknown): string {
    return this.params.add(value);
  }

  /**
   * Returns expressions up to `parts (kind, usage_date, …, ms, ycu_ms)`: runs, with the memory that they did not use, and all time of
   * nodes with what is idle of it.
   */
  parts(): string {
    const { shares, conditions } = this.shared();
    const nodes = this.withNodes ? this.nodes() : null;
    const columns = 'usage_date, workspace_id, cluster_id, user_id';
    const ofNodes = (kind: Kind) =>
      `UNION ALL SELECT '${kind}', usage_date, NULL, cluster_id, NULL, running_ms, ycu_ms, 0, 0, 0 FROM node_days`;
    return `${shares},
      shared AS (
        SELECT ${columns}, share_ms AS ms, ycu_ms, ${UNUSED_COLUMNS} FROM cost_days t
        WHERE t.usage_date BETWEEN ${this.first} AND ${this.last} AND ${conditions('t')}
        UNION ALL SELECT ${columns}, ms, ycu_ms, ${UNUSED_COLUMNS} FROM live)${nodes ?? ''},
      parts AS (
        SELECT 'runs' AS kind, ${columns}, ms, ycu_ms, ${UNUSED_COLUMNS} FROM shared
        ${nodes ? `${ofNodes('nodes')} ${ofNodes('idle')} UNION ALL SELECT 'idle', ${columns}, -ms, -ycu_ms, 0, 0, 0 FROM shared` : ''})`;
  }

  /** Returns expressions up to `live`, the shares of runs that are not summed up, and the conditions on a table of sums. */
  shared(): { shares: string; conditions: (alias: string, user?: string) => string } {
    const { tenantId, userId, everyone, workspaceId, clusterIds, createdByIds } = this.scope;
    const tenant = this.add(tenantId);
    const workspace = workspaceId === null ? null : this.add(workspaceId);
    // A parameter that no statement names would be refused.
    const isOpen = everyone || workspace !== null;
    const visible = isOpen ? null : workspacesSharedWith(`${this.add(userId)}::bigint`, tenant);
    const clusters = clusterIds && this.add(clusterIds);
    const users = createdByIds && this.add(createdByIds);
    const conditions = (alias: string, user = 'user_id') =>
      [
        ofTenant(alias, tenant),
        workspace && `${alias}.workspace_id = ${workspace}`,
        visible && `(${alias}.workspace_id IN (${visible})) IS TRUE`,
        clusters && `${alias}.cluster_id = ANY(${clusters}::bigint[])`,
        users && `${alias}.${user} = ANY(${users}::bigint[])`,
      ]
        .filter(Boolean)
        .join(' AND ');
    const at = `${this.add(this.period.at)}::timestamptz`;
    const shares = `WITH ${pricesOf(this.prices, this.params)},
      held AS MATERIALIZED (
        SELECT run_id, workspace_id, cluster_id, coalesce(created_by_user_id, 0) AS user_id, node_id,
          greatest(${milliseconds('assigned_at')}, ${startOf(this.first)}) AS holds_from,
          least(${milliseconds(`coalesce(ended_at, ${at})`)}, ${endOf(this.last)}) AS holds_until, ${UNUSED_MB}
        FROM runs r WHERE assigned_at IS NOT NULL AND NOT is_cost_summed AND assigned_at < ${endOf(this.last)}
          AND coalesce(ended_at, ${at}) > ${startOf(this.first)} AND ${conditions('r', 'created_by_user_id')}),
      ${SHARES},
      live AS (
        SELECT h.run_id, h.workspace_id, h.cluster_id, h.user_id, s.usage_date, sum(s.share_ms)::bigint AS ms,
          sum(s.share_ms * s.machine_price_ycu) AS ycu_ms, ${SUMS_OF_UNUSED}
        FROM shares s JOIN held h USING (run_id) GROUP BY 1, 2, 3, 4, 5)`;
    return { shares, conditions };
  }

  private nodes(): string {
    const { tenantId, clusterIds } = this.scope;
    const clusters = clusterIds ? ` AND t.cluster_id = ANY(${this.add(clusterIds)}::bigint[])` : '';
    const days = usageDays(`${ofTenant('t', this.add(tenantId))}${clusters}`, this.period, this.params);
    return `, node_days AS (WITH ${days} SELECT usage_date, cluster_id, running_ms, ycu_ms FROM days)`;
  }
}
