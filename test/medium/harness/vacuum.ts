import type { DataSource } from 'typeorm';
import { eventually } from '../../harness/eventually';
import { firstRow } from '../../../src/platform/kernel/persistence/sql';

/**
 * Vacuums and analyzes a table until every page of it is visible to all. A snapshot that anybody holds meanwhile keeps
 * pages from that, and the planner then prices index-only scans like index scans: plans would depend on the moment.
 */
export async function vacuumWhole(database: DataSource, table: string): Promise<void> {
  await eventually(
    async () => {
      await database.query(`VACUUM (ANALYZE) ${table}`);
      const pages = await firstRow<{ visible: boolean }>(
        database.manager,
        `SELECT relallvisible >= relpages AS visible FROM pg_class WHERE oid = '${table}'::regclass`,
      );
      return pages?.visible;
    },
    { what: `every page of ${table} visible to all` },
  );
}
