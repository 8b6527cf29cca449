import type { Params } from '../../../platform/kernel/persistence/sql';
import { COUNTS, dayOf, endOf, lastDayOf, msBetween, startOf } from './sums.joins';

export const GROUP = 'tenant_id, cluster_id, machine_type_id, labels_key';
export const KEY = `usage_date, ${GROUP}`;
export const NAMES = 'tenant_name, cluster_name, cloud_provider, machine_type, labels, named_at';
export const SUMS = 'node_count, running_ms, ycu_ms';

/** Returns SQL for the latest names of grouped rows that meet the condition. */
export const latestNames = (condition = 'TRUE') =>
  NAMES.split(', ')
    .map((name) => `(array_agg(${name} ORDER BY named_at DESC) FILTER (WHERE ${condition}))[1] AS ${name}`)
    .join(', ');
export const LATEST_NAMES = latestNames();

/**
 * Returns common table expressions that sum up the ledger. `fresh` holds the days of the clusters in `scope
 * (cluster_id, from_date)`, each from its day until the given one. The maximum number of concurrent nodes results from
 * a walk through the edges of their stays. Stays of running nodes have no end edge.
 */
export const sumsOfLedger = (until: string) => `entries AS (
    SELECT l.*, scope.from_date FROM scope JOIN ledger_entries l
      ON l.cluster_id = scope.cluster_id AND l.ended_at > ${startOf('scope.from_date')}
    WHERE ${COUNTS} AND l.began_at < l.ended_at AND l.began_at < ${endOf(until)}),
  pieces AS (
    SELECT e.*, e.began_at AS named_at, day::date AS usage_date, greatest(e.began_at, ${startOf('day::date')}) AS starts,
      least(e.ended_at, ${endOf('day::date')}) AS ends
    FROM entries e CROSS JOIN LATERAL generate_series(greatest(${dayOf('e.began_at')}, e.from_date)::timestamp,
      least(${lastDayOf('e.ended_at')}, ${until})::timestamp, interval '1 day') AS day),
  sums AS (
    SELECT ${KEY}, sum(${msBetween('starts', 'ends')})::bigint AS running_ms,
      sum(${msBetween('starts', 'ends')} * machine_price_ycu) AS ycu_ms
    FROM pieces GROUP BY ${KEY}),
  names AS (
    SELECT DISTINCT ON (${KEY}) ${KEY}, ${NAMES} FROM pieces ORDER BY ${KEY}, began_at DESC, node_state_id DESC),
  spans AS (
    SELECT ${KEY}, unnest(range_agg(tstzrange(starts, ends))) AS span
    FROM (SELECT ${KEY}, node_id, starts, ends FROM pieces
      UNION ALL
      SELECT ${KEY}, node_id, greatest(began_at, ${startOf('usage_date')}), ${endOf('usage_date')}
      FROM sums JOIN ledger_open_intervals USING (${GROUP}) WHERE began_at < ${endOf('usage_date')}) AS every
    GROUP BY ${KEY}, node_id),
  edges AS (SELECT ${KEY}, lower(span) AS at, 1 AS step FROM spans UNION ALL SELECT ${KEY}, upper(span), -1 FROM spans),
  peaks AS (
    SELECT ${KEY}, max(level)::integer AS node_count
    FROM (SELECT ${KEY}, sum(step) OVER (PARTITION BY ${KEY} ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS level
      FROM edges) AS walk
    GROUP BY ${KEY}),
  fresh AS (
    SELECT ${KEY}, ${NAMES}, ${SUMS} FROM sums JOIN names USING (${KEY}) JOIN peaks USING (${KEY}))`;

export const STALE = `stale AS MATERIALIZED (
    SELECT cluster_id, min(from_date) AS from_date FROM stale_usage GROUP BY cluster_id)`;

/** Days (UTC), both included, and the moment until which open intervals count. */
export interface UsagePeriod {
  from: string;
  until: string;
  at: Date;
}

/**
 * Returns common table expressions up to `days`: the stored sums, those of the ledger if the stored ones are stale,
 * and the usage of open intervals until now.
 * @param condition on a table `t` with the columns of `usage_days`
 */
export function usageDays(condition: string, { from, until, at }: UsagePeriod, params: Params): string {
  const first = `${params.add(from)}::date`;
  const last = `${params.add(until)}::date`;
  const now = `${params.add(at)}::timestamptz`;
  const name = (column: string) =>
    `CASE WHEN e.named_at IS NULL OR r.named_at > e.named_at THEN r.${column} ELSE e.${column} END AS ${column}`;
  return `${STALE},
    scope AS (SELECT cluster_id, greatest(from_date, ${first}) AS from_date FROM stale),
    ${sumsOfLedger(last)},
    ended AS (
      SELECT ${KEY}, ${NAMES}, ${SUMS} FROM usage_days t LEFT JOIN stale USING (cluster_id)
      WHERE t.usage_date BETWEEN ${first} AND ${last} AND (stale.from_date IS NULL OR t.usage_date < stale.from_date)
        AND ${condition}
      UNION ALL SELECT ${KEY}, ${NAMES}, ${SUMS} FROM fresh t WHERE ${condition}),
    open_pieces AS (
      SELECT t.*, t.began_at AS named_at, day::date AS usage_date, greatest(0, ${msBetween(
        `greatest(t.began_at, ${startOf('day::date')})`,
        `least(${now}, ${endOf('day::date')})`,
      )}) AS ms
      FROM ledger_open_intervals t CROSS JOIN LATERAL generate_series(greatest(${dayOf('t.began_at')}, ${first})::timestamp,
        least(${lastDayOf(now)}, ${last})::timestamp, interval '1 day') AS day
      WHERE t.began_at < ${endOf(last)} AND ${condition}),
    running AS (
      SELECT ${KEY}, ${latestNames('ms > 0')}, count(*)::integer AS node_count, sum(ms)::bigint AS running_ms,
        sum(ms * machine_price_ycu) AS ycu_ms
      FROM open_pieces GROUP BY ${KEY}),
    days AS (
      SELECT ${KEY}, ${NAMES.split(', ').map(name).join(', ')}, coalesce(e.node_count, r.node_count) AS node_count,
        coalesce(e.running_ms, 0) + coalesce(r.running_ms, 0) AS running_ms,
        coalesce(e.ycu_ms, 0) + coalesce(r.ycu_ms, 0) AS ycu_ms
      FROM ended e FULL JOIN running r USING (${KEY})
      WHERE e.usage_date IS NOT NULL OR r.running_ms > 0)`;
}
