import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { firstRow, Params } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import { milliseconds, type PricedPeriod } from '../billing';
import { PRICED, pricesOf, SUMS, UNUSED_SUMS, type UnusedRow } from './cost-sums.joins';
import { MAX_INTERVALS, type RunCostInterval } from './dto/cost.dto';
import { SHARES, UNUSED_COLUMNS, UNUSED_MB } from './shares.joins';

export interface CostedRun {
  run_id: number;
  resource: string;
  name: string;
  cluster_id: number;
  assigned_at: Date | null;
  ended_at: Date | null;
  requested_memory_mb: number | null;
  peak_memory_mb: number | null;
}

/** Reads the costs of single runs. */
@Injectable()
export class RunCostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns a run of the workspace; null if there is none. */
  async run({ tenantId, workspace }: WorkspaceScope, runId: number): Promise<CostedRun | null> {
    return firstRow<CostedRun>(
      this.dataSource.manager,
      `SELECT t.run_id, t.kind AS resource, t.job_conf_snapshot->>'name' AS name, t.cluster_id, t.assigned_at, t.ended_at,
         t.requested_memory_mb, t.peak_memory_mb
       FROM runs t WHERE t.run_id = $1 AND ${ofTenant('t', '$2')} AND t.workspace_id = $3`,
      [runId, tenantId, workspace.workspaceId],
    );
  }

  /** Returns the sums of a run, and the first intervals that prove them, as of one moment. */
  async cost(runId: number, prices: readonly PricedPeriod[]): Promise<UnusedRow & { intervals: RunCostInterval[] }> {
    const params = new Params();
    const found = await firstRow<UnusedRow & { intervals: RunCostInterval[] }>(
      this.dataSource.manager,
      `WITH held AS (
         SELECT run_id, cluster_id, node_id, ${milliseconds('assigned_at')} AS holds_from,
           ${milliseconds('coalesce(ended_at, platform_clock())')} AS holds_until, ${UNUSED_MB}
         FROM runs WHERE run_id = ${params.add(runId)} AND assigned_at IS NOT NULL AND node_id IS NOT NULL),
       ${SHARES}, ${pricesOf(prices, params)}
       SELECT ${SUMS}, ${UNUSED_SUMS}, ${FIRST_INTERVALS} AS intervals
       FROM (
         SELECT share_ms AS ms, share_ms * machine_price_ycu AS ycu_ms, usage_date, ${UNUSED_COLUMNS}
         FROM shares) s ${PRICED}`,
      params.values,
    );
    return { ...found!, intervals: found!.intervals.map(withDates) };
  }
}

const FIRST_INTERVALS = `(SELECT coalesce(json_agg(row_to_json(i)), '[]') FROM (
  SELECT node_state_id, node_id, machine_type, machine_price_ycu, is_spot, parts AS slots, began_at AS running_since,
    from_date, to_date, share_ms
  FROM shares ORDER BY from_date, node_state_id LIMIT ${MAX_INTERVALS + 1}) i)`;

/** Times within JSON are texts. */
function withDates(interval: RunCostInterval): RunCostInterval {
  const { running_since: since, from_date: from, to_date: to } = interval;
  return { ...interval, running_since: new Date(since), from_date: new Date(from), to_date: new Date(to) };
}
