import { dayOf, endOf, lastDayOf, msBetween, startOf, staysBetween } from '../billing';

/** The memory that a run requested and did not use, MiB; null if it was not measured. A column of `held`. */
export const UNUSED_MB = `CASE WHEN requested_memory_mb > 0 AND peak_memory_mb > 0
  THEN greatest(0, requested_memory_mb - peak_memory_mb) END AS unused_mb`;

/** Columns of shares, and of their sums by day, about the memory that measured runs did not use. */
export const UNUSED_COLUMNS = 'measured_ms, unused_mb_ms, unused_ycu_ms';

/** Sums of these columns by the same names. */
export const SUMS_OF_UNUSED = `sum(measured_ms)::bigint AS measured_ms, sum(unused_mb_ms) AS unused_mb_ms,
  sum(unused_ycu_ms) AS unused_ycu_ms`;

/**
 * Common table expressions from `held (run_id, cluster_id, node_id, holds_from, holds_until, unused_mb)`, the slots of runs, to
 * `shares`: what each run has of each stay of a node, day by day (ADR 0075).
 *
 * A slot is one of as many parts of a node as it holds runs. Its time since the node entered RUNNING is divided and cut to whole
 * milliseconds at both ends of a share, so that the shares of runs that follow each other add up to that of the whole time, and
 * those of all slots never exceed the node.
 *
 * The share of a measured run on the node of its driver (`measured_ms`) also says what it requested and did not use (ADR 0079): memory
 * times time, and the part of the share's price that the memory is of the slot's. That part is cut to six decimals, so that sums by day
 * and of single shares are the same.
 */
export const SHARES = `
  stays AS (
    SELECT h.run_id, s.*, CASE WHEN nodes.memory_mb > 0 THEN h.unused_mb END AS unused_mb, nodes.memory_mb,
      coalesce(s.slots, c.max_parallel_jobs) AS parts, greatest(h.holds_from, s.began_at) AS starts,
      least(h.holds_until, s.ended_at) AS ends
    FROM held h JOIN clusters c ON c.cluster_id = h.cluster_id CROSS JOIN LATERAL (
        SELECT h.node_id, (SELECT n.memory_mb FROM cluster_nodes n WHERE n.node_id = h.node_id) AS memory_mb UNION
        SELECT w.node_id, NULL FROM cluster_nodes n JOIN cluster_nodes w ON w.cluster_id = n.cluster_id AND w.role = 'worker'
        WHERE n.node_id = h.node_id AND n.role = 'master') nodes
      CROSS JOIN LATERAL (${staysBetween({ node: 'nodes.node_id', from: 'h.holds_from', until: 'h.holds_until' })}) s),
  pieces AS (
    SELECT s.*, day::date AS usage_date, greatest(s.starts, ${startOf('day::date')}) AS from_date,
      least(s.ends, ${endOf('day::date')}) AS to_date
    FROM stays s CROSS JOIN LATERAL generate_series(${dayOf('s.starts')}::timestamp, ${lastDayOf('s.ends')}::timestamp,
      interval '1 day') AS day
    WHERE s.starts < s.ends),
  parted AS (
    SELECT p.*, ${msBetween('began_at', 'to_date')} / parts - ${msBetween('began_at', 'from_date')} / parts AS share_ms
    FROM pieces p),
  shares AS (
    SELECT p.*, CASE WHEN unused_mb IS NULL THEN 0 ELSE share_ms END AS measured_ms,
      coalesce(unused_mb::numeric * ${msBetween('from_date', 'to_date')}, 0) AS unused_mb_ms,
      CASE WHEN unused_mb IS NULL THEN 0
        ELSE trunc(least(share_ms * machine_price_ycu, share_ms * machine_price_ycu * unused_mb * parts / memory_mb), 6)
        END AS unused_ycu_ms
    FROM parted p)`;
