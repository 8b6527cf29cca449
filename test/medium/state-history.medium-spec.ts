import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { appendState, type History } from '../../src/platform/history/state-history';
import { firstRow } from '../../src/platform/persistence/sql';
import { makeTenancy, type Tenancy } from './harness/records';
import { configure, createTestDatabase, prepare, type TestDatabase } from './harness/test-api';
import { ClusterStateEntry } from '../../src/modules/clusters/entities/cluster-state.entity';

const WRITERS = 40;
const HISTORY: History<ClusterStateEntry> = {
  entity: ClusterStateEntry,
  idColumn: 'cluster_state_id',
  subjectColumn: 'cluster_id',
};

describe('state history', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let tenancy: Tenancy;

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = configure(database.url);
    await prepare(config);
    dataSource = await createDataSource(config.database, 'test').initialize();
    tenancy = await makeTenancy(dataSource.manager, 'history');
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  async function append(to: string, fails = false): Promise<void> {
    await dataSource.transaction(async (tx) => {
      const { clusterId } = tenancy;
      const cluster = await firstRow<{ status: string }>(
        tx,
        'SELECT status FROM clusters WHERE cluster_id = $1 FOR UPDATE',
        [clusterId],
      );
      await appendState(tx, HISTORY, clusterId, {
        from: cluster?.status ?? null,
        to,
        reason: null,
        userId: null,
        extra: { node_count: 0, workflow_job_instance_id: null },
      });
      await tx.query('UPDATE clusters SET status = $2 WHERE cluster_id = $1', [clusterId, to]);
      if (fails) throw new Error('rolled back');
    });
  }

  it('has neither hole nor overlap when many write at once and some roll back', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: WRITERS }, (_, index) => append(index % 2 === 0 ? 'RUNNING' : 'ERROR', index % 5 === 0)),
    );
    const written = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(written).toBe(WRITERS - WRITERS / 5);
    const entries = await dataSource.query<Record<string, unknown>[]>(
      `SELECT sequence, end_time = coalesce(lead(start_time) OVER w, 'infinity') AS seamless,
         sequence = 1 OR from_status = lag(status) OVER w AS follows, start_time <= end_time AS forward
       FROM cluster_states WHERE cluster_id = $1 WINDOW w AS (ORDER BY sequence) ORDER BY sequence`,
      [tenancy.clusterId],
    );
    expect(entries).toEqual(
      Array.from({ length: written }, (_, index) => ({
        sequence: index + 1,
        seamless: true,
        follows: true,
        forward: true,
      })),
    );
  });
});
