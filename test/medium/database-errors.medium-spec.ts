import { Pool } from 'pg';
import { fromDatabaseError } from '../../src/platform/kernel/errors/database-error';
import { createTestDatabase, type TestDatabase } from './harness/test-api';

// Real: PostgreSQL and the pool of connections.
describe('errors of the database', () => {
  let database: TestDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 2_000 });
  });

  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });

  it('report an exhausted pool of connections as a busy database', async () => {
    const client = await pool.connect();
    try {
      const error = await pool.query('SELECT 1').catch((thrown: unknown) => thrown);
      expect(fromDatabaseError(error)).toMatchObject({ kind: 'unavailable', code: 'DATABASE.BUSY' });
    } finally {
      client.release();
    }
  });
});
