import type { DataSource } from 'typeorm';
import { eventually } from '../../harness/eventually';
import type { TestAnswer } from './test-api';

/** Lock waits of client connections to this database. */
const WAITING = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'`;

/**
 * Requests the change of a record while another transaction changes a cluster that refers to it: locks the cluster,
 * waits until the request waits for it, then reads the record as a change of the cluster does. Returns the response to
 * the request; throws if the two transactions deadlock.
 */
export async function changeMeanwhile(
  database: DataSource,
  clusterId: number,
  record: { table: string; key: string; id: number },
  change: () => Promise<TestAnswer>,
): Promise<TestAnswer> {
  const cluster = database.createQueryRunner();
  await cluster.startTransaction();
  try {
    await cluster.query('SELECT 1 FROM clusters WHERE cluster_id = $1 FOR UPDATE', [clusterId]);
    const answer = change();
    await eventually(
      async () => {
        const [found] = await database.query<{ waiting: number }[]>(WAITING);
        return Number(found?.waiting) === 1;
      },
      { what: 'a change that waits for the cluster' },
    );
    await cluster.query(`SELECT 1 FROM ${record.table} WHERE ${record.key} = $1 FOR SHARE NOWAIT`, [record.id]);
    await cluster.commitTransaction();
    return await answer;
  } finally {
    if (cluster.isTransactionActive) await cluster.rollbackTransaction();
    await cluster.release();
  }
}
