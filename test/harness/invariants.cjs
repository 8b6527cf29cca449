/**
 * The invariants of the platform's tables, as queries for violations. Each takes one parameter: the id of the cluster to
 * check, or null for all clusters.
 * @typedef {{name: string, sql: string}} Invariant
 */

/** Owners of state histories: history, owner, key of both. */
const HISTORIES = /** @type {const} */ ([
  ['run_states', 'runs', 'run_id'],
  ['cluster_states', 'clusters', 'cluster_id'],
  ['node_states', 'cluster_nodes', 'node_id'],
]);

const OF_CLUSTER = '($1::bigint IS NULL OR cluster_id = $1)';
const INSTANCES = `(SELECT i.* FROM workflow_job_instances i JOIN workflow_jobs j USING (workflow_job_id)
  WHERE $1::bigint IS NULL OR j.cluster_id = $1)`;

/** @param {typeof HISTORIES[number]} history @returns {Invariant[]} */
const ofHistory = ([table, owner, key]) => [
  {
    name: `${table} have neither gaps nor overlaps and start with the first entry`,
    sql: `SELECT * FROM (
        SELECT ${key}, sequence, from_status, status, start_time, end_time, row_number() OVER w AS place,
          lag(status) OVER w AS status_before, coalesce(lead(start_time) OVER w, 'infinity') AS next_start
        FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${owner} WHERE ${OF_CLUSTER})
        WINDOW w AS (PARTITION BY ${key} ORDER BY sequence)) entries
      WHERE sequence <> place OR from_status IS DISTINCT FROM status_before OR end_time <> next_start
        OR start_time > end_time`,
  },
  {
    name: `the last entry of ${table} has the status of its record`,
    sql: `SELECT ${key}, status, last FROM (
        SELECT ${key}, status, (SELECT array_agg(h.status) FROM ${table} h
          WHERE h.${key} = o.${key} AND h.end_time = 'infinity') AS last FROM ${owner} o WHERE ${OF_CLUSTER}) compared
      WHERE last IS DISTINCT FROM ARRAY[status]`,
  },
];

/** Stored counts equal the number of rows. @type {Invariant[]} */
const COUNTS = [
  {
    name: 'the busy slots of a node equal its unfinished runs',
    sql: `SELECT * FROM (
        SELECT node_id, busy_slots, (SELECT count(*) FROM runs r WHERE r.node_id = n.node_id AND r.ended_at IS NULL) AS runs
        FROM cluster_nodes n WHERE ${OF_CLUSTER}) counted
      WHERE busy_slots <> runs`,
  },
  {
    name: 'the unfinished runs of a configuration with a limit are counted',
    sql: `SELECT * FROM (
        SELECT job_conf_id, unfinished_runs,
          (SELECT count(*) FROM runs r WHERE r.job_conf_id = c.job_conf_id AND r.ended_at IS NULL) AS runs
        FROM job_confs c WHERE max_concurrency > 0 AND ${OF_CLUSTER}) counted
      WHERE unfinished_runs <> runs`,
  },
  {
    name: 'runs are counted by their status',
    sql: `SELECT workspace_id, cluster_id, status, sum(runs) AS difference FROM (
        SELECT workspace_id, cluster_id, status, runs FROM run_counts WHERE ${OF_CLUSTER}
        UNION ALL SELECT workspace_id, cluster_id, status, -1 FROM runs WHERE ${OF_CLUSTER}) counted
      GROUP BY workspace_id, cluster_id, status HAVING sum(runs) <> 0`,
  },
];

/** These invariants hold at every moment. @type {Invariant[]} */
const ALWAYS = [
  ...HISTORIES.flatMap(ofHistory),
  {
    name: 'workflow_job_instance_states have neither gaps nor overlaps and end with the state of the instance',
    sql: `SELECT * FROM (
        SELECT workflow_job_instance_id, s.state, s.from_date, s.to_date, i.state AS state_of_instance,
          row_number() OVER w AS place, coalesce(lead(s.from_date) OVER w, 'infinity') AS next_from,
          lead(s.state) OVER w AS next_state
        FROM workflow_job_instance_states s JOIN ${INSTANCES} i USING (workflow_job_instance_id)
        WINDOW w AS (PARTITION BY workflow_job_instance_id ORDER BY workflow_job_instance_state_id)) entries
      WHERE to_date <> next_from OR (place = 1 AND state NOT IN ('INIT', 'EXECUTING'))
        OR (next_state IS NULL AND state <> state_of_instance)
        OR (next_state IS NOT NULL AND state IN ('DONE', 'ERROR', 'TERMINATED'))`,
  },
  {
    name: 'a workflow that has ended has no lease and is not due',
    sql: `SELECT workflow_job_instance_id, state, lease_owner, due_at, to_date FROM ${INSTANCES} i
      WHERE ended_at IS NOT NULL AND (lease_owner IS NOT NULL OR due_at IS NOT NULL OR to_date = 'infinity')`,
  },
  {
    name: 'no node has more unfinished runs than slots',
    sql: `SELECT r.node_id, count(*) AS runs, max(c.max_parallel_jobs) AS slots
      FROM runs r JOIN clusters c USING (cluster_id)
      WHERE r.ended_at IS NULL AND r.node_id IS NOT NULL AND ($1::bigint IS NULL OR r.cluster_id = $1)
      GROUP BY r.node_id HAVING count(*) > max(c.max_parallel_jobs)`,
  },
  {
    // A user may lower the maximum below the number of nodes.
    name: 'no cluster has more nodes than its maximum unless a user just resized it',
    sql: `SELECT cluster_id, count(*) AS nodes, max(max_instances) AS most FROM cluster_nodes n JOIN clusters c USING (cluster_id)
      WHERE n.to_date = 'infinity' AND n.status IN ('INITIATING', 'RUNNING') AND NOT n.draining AND c.resize_request IS NULL
        AND c.cluster_type <> 'CLUSTER' AND ($1::bigint IS NULL OR cluster_id = $1)
      GROUP BY cluster_id HAVING count(*) > max(max_instances)`,
  },
  {
    name: 'a run has an end if and only if its status is final',
    sql: `SELECT run_id, status, ended_at FROM runs
      WHERE ${OF_CLUSTER} AND (status IN ('DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED')) <> (ended_at IS NOT NULL)`,
  },
  {
    // Only tests write a first entry with this state, and they book nothing.
    name: 'each time of a node in RUNNING is booked once, as in its history',
    sql: `WITH stays AS (
        SELECT node_state_id, node_id, start_time, end_time, from_status FROM node_states
        WHERE status = 'RUNNING' AND ${OF_CLUSTER}),
      booked AS (
        SELECT node_state_id, node_id, began_at, ended_at FROM ledger_entries l WHERE kind <> 'reversal' AND ${OF_CLUSTER}
          AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.reverses_id = l.ledger_entry_id)
        UNION ALL
        SELECT node_state_id, node_id, began_at, 'infinity' FROM ledger_open_intervals WHERE ${OF_CLUSTER})
      SELECT coalesce(s.node_state_id, b.node_state_id) AS node_state_id, start_time, end_time, began_at, ended_at, times
      FROM stays s FULL JOIN (SELECT *, count(*) OVER (PARTITION BY node_state_id) AS times FROM booked) b
        ON (b.node_state_id, b.node_id, b.began_at, b.ended_at) = (s.node_state_id, s.node_id, s.start_time, s.end_time)
      WHERE s.node_state_id IS NULL OR b.times > 1 OR (b.node_state_id IS NULL AND s.from_status IS NOT NULL)`,
  },
  ...COUNTS,
];

/** These invariants hold once no work is in progress and no fault is left. @type {Invariant[]} */
const AT_REST = [
  {
    name: 'every run has ended',
    sql: `SELECT run_id, cluster_id, node_id, status, stop_requested FROM runs WHERE ended_at IS NULL AND ${OF_CLUSTER}`,
  },
  {
    name: 'every workflow has ended',
    sql: `SELECT workflow_job_instance_id, job_name, state, step_index, attempt, lease_owner, lease_until, due_at, failure
      FROM ${INSTANCES} i WHERE ended_at IS NULL`,
  },
  {
    name: 'every step of a workflow has ended',
    sql: `SELECT s.* FROM workflow_steps s JOIN ${INSTANCES} i USING (workflow_job_instance_id) WHERE s.ended_at IS NULL`,
  },
  {
    name: 'no cluster is between two states',
    sql: `SELECT cluster_id, status FROM clusters
      WHERE status NOT IN ('RUNNING', 'STOPPED', 'DESTROYED', 'ERROR') AND ${OF_CLUSTER}`,
  },
  {
    name: 'no node is between two states',
    sql: `SELECT node_id, cluster_id, status FROM cluster_nodes
      WHERE status NOT IN ('RUNNING', 'STOPPED', 'DESTROYED', 'ERROR') AND ${OF_CLUSTER}`,
  },
  {
    name: 'the nodes of a cluster are in its state',
    sql: `SELECT c.cluster_id, c.status, n.node_id, n.status AS status_of_node FROM clusters c JOIN cluster_nodes n USING (cluster_id)
      WHERE ${OF_CLUSTER} AND n.to_date = 'infinity' AND c.status IN ('RUNNING', 'STOPPED', 'DESTROYED')
        AND n.status <> c.status AND NOT (c.status = 'STOPPED' AND n.status = 'ERROR')`,
  },
  {
    name: 'no resize is under way, and no node is to go',
    sql: `SELECT cluster_id, c.status, resize_instance_id, node_id, draining FROM clusters c
        LEFT JOIN cluster_nodes n USING (cluster_id)
      WHERE ${OF_CLUSTER} AND (resize_instance_id IS NOT NULL AND c.status <> 'ERROR'
        OR n.draining AND n.status = 'RUNNING' AND n.to_date = 'infinity')`,
  },
  {
    name: 'no resize of a running cluster by a user is left',
    sql: `SELECT cluster_id, min_instances, max_instances, resize_request FROM clusters
      WHERE ${OF_CLUSTER} AND status = 'RUNNING' AND resize_request IS NOT NULL`,
  },
  {
    name: 'every message of the outbox has been sent',
    sql: `SELECT outbox_message_id, job_name, payload, created_at FROM outbox_messages
      WHERE sent_at IS NULL AND $1::bigint IS NOT DISTINCT FROM $1`,
  },
];

module.exports = { ALWAYS, AT_REST, COUNTS };
