import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source';
import { WorkspacesRepository } from '../../src/modules/execution/workspaces/workspaces.repository';
import { prepared } from '../../src/platform/kernel/persistence/sql';
import { makeTenancy } from './harness/records';
import { configure, createTestDatabase, prepare, type TestDatabase } from './harness/test-api';

describe('statements marked as prepared', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = configure(database.url);
    await prepare(config);
    // One connection, so it holds only the prepared statements of this test.
    dataSource = await createDataSource({ ...config.database, poolSize: 1 }, 'test').initialize();
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  const kept = async () => {
    const rows = await dataSource.query<{ statement: string }[]>('SELECT statement FROM pg_prepared_statements');
    return rows.map(({ statement }) => statement);
  };

  it('are planned once per connection, whatever their parameters; others are not kept', async () => {
    const marked = prepared('SELECT $1::int + 1 AS sum');
    for (const value of [1, 2, 3]) expect(await dataSource.query(marked, [value])).toEqual([{ sum: value + 1 }]);
    expect(await dataSource.query('SELECT $1::int + 2 AS sum', [1])).toEqual([{ sum: 3 }]);
    expect((await kept()).filter((statement) => statement.includes('AS sum'))).toEqual([marked]);
  });

  it('still read a record by its id after a release has added a column to its table', async () => {
    const { tenantId, workspaceId } = await makeTenancy(dataSource.manager, 'upgraded');
    const workspaces = new WorkspacesRepository(dataSource);
    const read = () => workspaces.get({ tenantId, userId: 0, username: '' }, { id: workspaceId });
    expect((await read()).name).toBe('upgraded');
    expect((await kept()).filter((statement) => statement.includes('FROM workspaces t'))).toHaveLength(1);
    await dataSource.query('ALTER TABLE workspaces ADD COLUMN of_a_later_release text');
    expect((await read()).name).toBe('upgraded');
  });
});
