const AT_ONCE = 10_000;

/**
 * Copies the latest run with all that belongs to it, as a submission leaves it, and ends the copies if their state is final.
 * Parameters: count, state, whether the copies have ended.
 */
const COPY = `WITH latest AS (SELECT * FROM runs ORDER BY run_id DESC LIMIT 1),
  ids AS (SELECT nextval(pg_get_serial_sequence('runs', 'run_id')) AS run_id,
    nextval(pg_get_serial_sequence('workflow_job_instances', 'workflow_job_instance_id')) AS instance_id,
    CASE WHEN $3 THEN now() END AS ended_at
    FROM generate_series(1, $1)),
  history AS (INSERT INTO run_states (run_id, status, sequence, start_time)
    SELECT run_id, $2, 1, date_trunc('milliseconds', now()) FROM ids),
  counted AS (INSERT INTO run_counts (tenant_id, workspace_id, cluster_id, status, runs)
    SELECT tenant_id, workspace_id, cluster_id, $2, $1 FROM latest)
  INSERT INTO runs (run_id, tenant_id, workspace_id, job_conf_id, cluster_id, status, job_conf_snapshot, correlation_id,
    workflow_job_instance_id, created_by_user_id, modified_by_user_id, ended_at)
  SELECT ids.run_id, tenant_id, workspace_id, job_conf_id, cluster_id, $2, job_conf_snapshot, 'bench', instance_id,
    created_by_user_id, modified_by_user_id, ids.ended_at FROM ids, latest`;

/**
 * Occupies all slots of the usual cluster with one run, so that further runs wait. The cluster is a real one: a cluster with too
 * few nodes would get them and execute the runs.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {import('pg').Client} client
 */
export async function takeAllSlots(platform, client) {
  if ((await platform.cluster()).cluster_status !== 'RUNNING') await platform.startCluster();
  await client.query(
    `UPDATE cluster_nodes n SET busy_slots = c.max_parallel_jobs FROM clusters c
     WHERE n.cluster_id = c.cluster_id AND c.cluster_id = $1`,
    [platform.clusterId],
  );
}

/**
 * Copies the latest run with its history and counters, then writes and analyzes the tables.
 * @param {import('pg').Client} client
 * @param {number} count
 * @param {'SUBMITTED' | 'DONE'} status of the copies
 */
export async function copyLatestRun(client, count, status) {
  // The referenced rows are known to exist.
  await client.query('SET session_replication_role = replica');
  for (let left = count; left > 0; left -= AT_ONCE)
    await client.query(COPY, [Math.min(left, AT_ONCE), status, status === 'DONE']);
  await client.query('RESET session_replication_role');
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
}
