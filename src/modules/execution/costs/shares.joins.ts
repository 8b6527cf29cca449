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
    FROM held h JOIN clusters c ON c.cluster_id = h.cluster_id JOIN cluster_nodes n ON n.node_id = h.node_id
      CROSS JOIN LATERAL (${staysBetween({ cluster: 'h.cluster_id', from: 'h.holds_from', until: 'h.holds_until' })}) s
    WHERE s.node_id = h.node_id OR n.role = 'master'
      AND EXISTS (SELECT 1 FROM cluster_nodes w WHERE w.node_id = s.node_id AND w.role = 'worker')),
  pieces AS (
    SELECT s.*, day::date AS usage_date, greatest(s.starts, ${startOf('day::date')}) AS from_date,
      least(s.ends, ${endOf('day::date')}) AS to_date
    FROM stays s CROSS JOIN LATERAL generate_series(${dayOf('s.starts')}::timestamp, ${lastDayOf('s.ends')}::timestamp,
      interval '1 day') AS day
    WHERE s.starts < s.ends),
  shares AS (
    SELECT p.*, ${msBetween('began_at', 'to_date')} / parts - ${msBetween('began_at', 'from_date')} / parts AS share_ms
    FROM pieces p)`;
