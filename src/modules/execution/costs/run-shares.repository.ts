import { Injectable } from '@nestjs/common';
import { advisoryLock, finds, returning, type Tx } from '../../../platform/kernel/persistence/sql';
import { milliseconds } from '../billing';
import { SHARES, SUMS_OF_UNUSED, UNUSED_COLUMNS, UNUSED_MB } from './shares.joins';

/** Advisory lock of those who add to the sums by day: one at a time, so that they do not wait for each other row by row. */
const SUM_LOCK = 7_203_119;

/**
 * A transaction that ends the stay of a node may commit after the run's end was seen, with a time before it. None takes as long as
 * this: until then, a run is read from the ledger.
 */
const SETTLED_AFTER = `interval '1 minute'`;

const IS_ENDED = `assigned_at IS NOT NULL AND NOT is_cost_summed AND ended_at < platform_now() - ${SETTLED_AFTER}`;

/** Sums up the shares of ended runs. Until then, readers compute them, so an answer never depends on it. */
@Injectable()
export class RunSharesRepository {
  /** A condition that is true if {@link sumUp} would find a run. */
  readonly hasEnded = (): string => finds(`SELECT run_id FROM runs WHERE ${IS_ENDED} ORDER BY run_id`);

  /** Sums up at most `limit` ended runs, and returns their number. */
  async sumUp(tx: Tx, limit: number): Promise<number> {
    await advisoryLock(tx, SUM_LOCK);
    const summed = await returning(
      tx,
      `WITH ended AS (
         SELECT run_id, tenant_id, workspace_id, cluster_id, created_by_user_id, node_id, assigned_at, ended_at,
           ${UNUSED_MB} FROM runs
         WHERE ${IS_ENDED} ORDER BY run_id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED),
       held AS (
         SELECT run_id, cluster_id, node_id, ${milliseconds('assigned_at')} AS holds_from, ${milliseconds('ended_at')} AS holds_until,
           unused_mb
         FROM ended WHERE node_id IS NOT NULL),
       ${SHARES},
       days AS (
         SELECT run_id, usage_date, sum(share_ms)::bigint AS share_ms, sum(share_ms * machine_price_ycu) AS ycu_ms,
           ${SUMS_OF_UNUSED}, count(*) OVER (PARTITION BY run_id) = 1 AS is_only_day
         FROM shares GROUP BY run_id, usage_date),
       added AS (
         INSERT INTO run_cost_days (run_id, usage_date, tenant_id, workspace_id, cluster_id, user_id, is_only_day, share_ms, ycu_ms,
           ${UNUSED_COLUMNS})
         SELECT run_id, usage_date, tenant_id, workspace_id, cluster_id, created_by_user_id, is_only_day, share_ms, ycu_ms,
           ${UNUSED_COLUMNS}
         FROM days JOIN ended USING (run_id)
         RETURNING tenant_id, usage_date, workspace_id, cluster_id, coalesce(user_id, 0) AS user_id, share_ms, ycu_ms,
           ${UNUSED_COLUMNS}),
       summed AS (
         INSERT INTO cost_days AS t (tenant_id, usage_date, workspace_id, cluster_id, user_id, share_ms, ycu_ms, ${UNUSED_COLUMNS})
         SELECT tenant_id, usage_date, workspace_id, cluster_id, user_id, sum(share_ms), sum(ycu_ms), ${SUMS_OF_UNUSED} FROM added GROUP BY 1, 2, 3, 4, 5
         ON CONFLICT (tenant_id, usage_date, workspace_id, cluster_id, user_id)
           DO UPDATE SET share_ms = t.share_ms + excluded.share_ms, ycu_ms = t.ycu_ms + excluded.ycu_ms,
             measured_ms = t.measured_ms + excluded.measured_ms, unused_mb_ms = t.unused_mb_ms + excluded.unused_mb_ms,
             unused_ycu_ms = t.unused_ycu_ms + excluded.unused_ycu_ms)
       UPDATE runs r SET is_cost_summed = true FROM ended WHERE r.run_id = ended.run_id RETURNING r.run_id`,
    );
    return summed.length;
  }
}
