import { dayOf, endOf, lastDayOf, msBetween, startOf, staysBetween } from '../billing';

/**
 * Common table expressions from `held (run_id, cluster_id, node_id, holds_from, holds_until)`, the slots of runs, to `shares`: what
 * each run has of each stay of a node, day by day (ADR 0075).
 *
 * A slot is one of as many parts of a node as it holds runs. Its time since the node entered RUNNING is divided and cut to whole
 * milliseconds at both ends of a share, so that the shares of runs that follow each other add up to that of the whole time, and
 * those of all slots never exceed the node.
 */
export const SHARES = `
  stays AS (
    SELECT h.run_id, s.*, coalesce(s.slots, c.max_parallel_jobs) AS parts, greatest(h.holds_from, s.began_at) AS starts,
      least(h.holds_until, s.ended_at) AS ends
    FROM held h JOIN clusters c ON c.cluster_id = h.cluster_id CROSS JOIN LATERAL (
        SELECT h.node_id UNION
        SELECT w.node_id FROM cluster_nodes n JOIN cluster_nodes w ON w.cluster_id = n.cluster_id AND w.role = 'worker'
        WHERE n.node_id = h.node_id AND n.role = 'master') nodes
      CROSS JOIN LATERAL (${staysBetween({ node: 'nodes.node_id', from: 'h.holds_from', until: 'h.holds_until' })}) s),
  pieces AS (
    SELECT s.*, day::date AS usage_date, greatest(s.starts, ${startOf('day::date')}) AS from_date,
      least(s.ends, ${endOf('day::date')}) AS to_date
    FROM stays s CROSS JOIN LATERAL generate_series(${dayOf('s.starts')}::timestamp, ${lastDayOf('s.ends')}::timestamp,
      interval '1 day') AS day
    WHERE s.starts < s.ends),
  shares AS (
    SELECT p.*, ${msBetween('began_at', 'to_date')} / parts - ${msBetween('began_at', 'from_date')} / parts AS share_ms
    FROM pieces p)`;
