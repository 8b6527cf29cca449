import pg from 'pg';

/** Tables with the parts and the history of a running cluster, in an order in which they can be filled. */
const TABLES = [
  'tenants',
  'users',
  'workspaces',
  'credentials_confs',
  'network_confs',
  'boot_disk_images',
  'volume_confs',
  'cloud_envs',
  'cluster_confs',
  'clusters',
  'cluster_workspaces',
  'cluster_nodes',
  'cluster_states',
  'node_states',
  'workspace_files',
  'workspace_file_totals',
  'job_confs',
  'runs',
  'run_states',
  'run_counts',
  'workflow_jobs',
  'workflow_job_instances',
  'workflow_job_instance_states',
  'workflow_steps',
  'ledger_entries',
  'ledger_open_intervals',
];

/** Columns that only the recorded installation could decrypt or verify. */
const SEALED = /token|hash|secret|sealed|sha256|executor|correlation/;

/**
 * Returns the latest migration, and the rows of the tables, one after the other, without sealed values.
 * @param {string} databaseUrl
 * @param {number} clusterId
 */
export async function recordRows(databaseUrl, clusterId) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: migrations } = await client.query('SELECT name FROM schema_migrations ORDER BY id DESC LIMIT 1');
    /** @type {object[]} */
    const recorded = [{ migration: migrations[0].name, cluster_id: clusterId }];
    for (const table of TABLES) {
      const { rows: columns } = await client.query(
        `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable FROM information_schema.columns
         WHERE table_name = $1`,
        [table],
      );
      if (columns.length === 0) continue;
      const { rows } = await client.query(`SELECT to_jsonb(t) AS row FROM ${table} t`);
      for (const { row } of rows) recorded.push({ table, row: withoutSealed(row, columns) });
    }
    return recorded;
  } finally {
    await client.end();
  }
}

/**
 * @param {Record<string, unknown>} row
 * @param {{name: string, type: string, nullable: boolean}[]} columns
 */
function withoutSealed(row, columns) {
  const sealed = columns.filter(({ name, type }) => (type === 'bytea' || SEALED.test(name)) && name !== 'token');
  const empty = sealed.map(({ name, type, nullable }) => {
    return [name, nullable ? null : type === 'bytea' ? '\\x' : 'recorded'];
  });
  return { ...row, ...Object.fromEntries(empty) };
}
