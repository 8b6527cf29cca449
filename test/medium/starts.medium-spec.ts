import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { DataSource } from 'typeorm';
import { eventually } from '../harness/eventually';
import type { Config } from '../../src/config/config';
import { applyMigrations } from '../../src/database/apply-migrations';
import { createDataSource } from '../../src/database/data-source';
import { backfill, createIndex, setNotNull } from '../../src/database/migration-steps';
import { MIGRATIONS } from '../../src/database/migrations';
import { ensureDatabase } from '../../src/database/ensure-database';
import { HealthService } from '../../src/platform/http/health/health.service';
import { TenantSecretsRepository } from '../../src/modules/foundation/secrets/tenant-secrets.repository';
import { TenantSecretsService } from '../../src/modules/foundation/secrets/tenant-secrets.service';
import { PrivateRedis } from '../e2e/harness/private-redis';
import { makeTenancy } from './harness/records';
import { configure, createEmptyDatabase, prepare, TestApi, type TestDatabase } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

interface Line {
  msg: string;
  [field: string]: unknown;
}

const BLOCKED_MS = 50;

async function readinessOf(api: TestApi): Promise<number> {
  const answer = await fetch(new URL('/ready', api.urlOf('/')));
  await answer.text();
  return answer.status;
}

// Real: PostgreSQL, Redis. Left out: the processes themselves, which test/e2e covers.
describe('A start', () => {
  let database: TestDatabase;
  let config: Config;
  let dataSource: DataSource;
  let lines: Line[];
  const logger = pino({ level: 'trace' }, { write: (text) => void lines.push(JSON.parse(text) as Line) });
  const said = (text: string) => lines.filter(({ msg }) => msg === text);
  const sql = <T = unknown>(statement: string, ...values: unknown[]) => dataSource.query<T[]>(statement, values);

  beforeAll(async () => {
    database = await createEmptyDatabase();
    config = configure(database.url, { DATABASE_MIGRATE_ON_START: 'false' });
    dataSource = await createDataSource(config.database, 'test').initialize();
  });

  beforeEach(() => {
    lines = [];
  });

  afterAll(async () => {
    await dataSource?.destroy();
    await database?.drop();
  });

  it('of an API that does not migrate, and of a worker, waits for the schema and logs that at once', async () => {
    const starts = (['api', 'worker'] as const).map((service) => ensureDatabase(config, service, logger));
    await eventually(() => said('Waiting for the schema').length === 2, { what: 'a line of both' });
    expect(lines[0]).toMatchObject({ code: 'DATABASE.SCHEMA_OLDER', variable: 'DATABASE_MIGRATE_ON_START' });
    // A waiting process only reads: two that each created a table would block each other.
    expect(await sql(`SELECT to_regclass('schema_migrations') AS made`)).toEqual([{ made: null }]);
    await prepare(config);
    await Promise.all(starts);
    expect(await sql('SELECT 1 FROM schema_migrations')).toHaveLength(MIGRATIONS.length);
  });

  it('fails, and a running API is not ready, once the schema is for newer releases only', async () => {
    const api = await TestApi.startWhole(config);
    const ready = () => readinessOf(api);
    try {
      expect(await ready()).toBe(200);
      await sql(`UPDATE schema_compatibility SET required_migration = 'OfLater1999999999999'`);
      const migrating = { ...config, database: { ...config.database, migrateOnStart: true } };
      for (const [service, settings] of [
        ['api', config],
        ['api', migrating],
        ['worker', config],
      ] as const) {
        await expect(ensureDatabase(settings, service, logger)).rejects.toMatchObject({
          code: 'DATABASE.SCHEMA_NEWER',
          message: expect.stringContaining('OfLater1999999999999'),
        });
      }
      expect(await ready()).toBe(503);
      expect((await api.call('GET', '/healthCheck')).body.message).toContain('OfLater1999999999999');
    } finally {
      await sql('UPDATE schema_compatibility SET required_migration = $1', MIGRATIONS[0]!.name);
      await api.stop();
    }
  });

  it('fails without waiting if PostgreSQL refuses the login or lacks the database', async () => {
    const at = (change: (url: URL) => void): Config => {
      const url = new URL(database.url);
      change(url);
      return { ...config, database: { ...config.database, url: url.href } };
    };
    const missing = at((url) => (url.pathname = '/no_such_database'));
    const error = { code: 'DATABASE.MISSING', help: { variable: 'DATABASE_URL' } };
    await expect(ensureDatabase(missing, 'worker', logger)).rejects.toMatchObject(error);
    expect(lines).toEqual([]);
  });

  describe('with a master key', () => {
    const key = (id: string) => ({ id, key: randomBytes(32) });
    const [first, second, impostor] = [key('one'), key('two'), { ...key('one') }];
    const start = (...masterKeys: (typeof first)[]) =>
      ensureDatabase({ ...config, secrets: { masterKeys } }, 'api', logger);
    const wrong = { code: 'SECRETS.WRONG_MASTER_KEY', help: { variable: 'SECRETS_MASTER_KEYS' } };

    it('other than the one that wrapped the data keys of an earlier release, fails', async () => {
      const { tenantId } = await makeTenancy(dataSource.manager, 'sealed');
      const pod = new TenantSecretsService(new TenantSecretsRepository(), {
        ...config,
        secrets: { masterKeys: [first] },
      });
      await pod.seal(autocommit(dataSource.manager), tenantId, 'things', 1, { password: 'x' });
      await expect(start(impostor)).rejects.toMatchObject(wrong);
      await start(first);
    });

    it('other than the first one seen under its id, fails; a second key is accepted', async () => {
      await sql('DELETE FROM tenant_data_keys');
      await start(second, first);
      await expect(start(impostor)).rejects.toMatchObject(wrong);
      await expect(start(second, impostor)).rejects.toMatchObject(wrong);
      await start(first);
    });

    it('missing, names the tenants with locked secrets and serves the others', async () => {
      const { tenantId } = await makeTenancy(dataSource.manager, 'locked');
      await new TenantSecretsRepository().addKey(autocommit(dataSource.manager), tenantId, randomBytes(32), 'lost');
      await start(first);
      expect(lines).toMatchObject([
        { code: 'SECRETS.MASTER_KEY_MISSING', missing: [{ master_key_id: 'lost', tenants: 1 }] },
      ]);
    });
  });

  describe('that migrates', () => {
    /** Applies migrations that are not the product's own. */
    async function migrate(...migrations: (new () => object)[]): Promise<void> {
      const own = await createDataSource(config.database, 'test')
        .setOptions({ migrations: migrations as never })
        .initialize();
      const connection = own.createQueryRunner();
      const limits = { migrationTimeoutMs: 0, lockTimeoutMs: BLOCKED_MS, retryDelayMs: BLOCKED_MS };
      try {
        await applyMigrations(own, connection, limits, logger);
      } finally {
        await connection.release();
        await own.destroy();
      }
    }

    it('releases a table that others use, retries, and logs the duration of each migration', async () => {
      await sql('CREATE TABLE busy (id int)');
      class AddToBusy2000000000001 {
        readonly up = (runner: { query(text: string): Promise<unknown> }) =>
          runner.query('ALTER TABLE busy ADD more int');
      }
      const holder = dataSource.createQueryRunner();
      await holder.startTransaction();
      await holder.query('SELECT * FROM busy');
      const migrated = migrate(AddToBusy2000000000001);
      const waits = 'A migration did not get the lock of a table; it is tried again';
      await eventually(() => said(waits).length > 1, { what: 'two tries' });
      await holder.commitTransaction();
      await holder.release();
      await migrated;
      expect(said('Applied a migration')).toMatchObject([
        { migration: 'AddToBusy2000000000001', duration_ms: expect.any(Number) },
      ]);
      await sql('SELECT more FROM busy');
    });

    it('changes large tables in batches, and can resume after a batch', async () => {
      await sql('CREATE TABLE large (id bigint PRIMARY KEY, name text)');
      await sql('INSERT INTO large (id) SELECT generate_series(1, 25)');
      const runner = dataSource.createQueryRunner();
      const names = { table: 'large', key: 'id', set: `name = 'n' || t.id`, where: 't.name IS NULL' };
      const transactions = async () =>
        (await sql<{ n: number }>('SELECT count(DISTINCT xmin::text) AS n FROM large'))[0]?.n;
      for (let time = 0; time < 2; time += 1) {
        await backfill(runner, names, 10);
        await createIndex(runner, { name: 'ix_large_name', unique: true, definition: 'ON "large" ("name")' });
        await setNotNull(runner, 'large', ['name']);
        expect(await transactions()).toBe(3);
      }
      await runner.release();
      await expect(sql('INSERT INTO large (id) VALUES (26)')).rejects.toThrow('null value in column "name"');
      await expect(sql(`INSERT INTO large VALUES (26, 'n7')`)).rejects.toThrow('ix_large_name');
      expect(await sql(`SELECT 1 FROM pg_constraint WHERE conrelid = 'large'::regclass AND contype = 'c'`)).toEqual([]);
    });
  });

  describe('without Redis', () => {
    it('leads to an API that is ready, and a worker that is not', async () => {
      const redis = await PrivateRedis.start();
      await redis.kill();
      const api = await TestApi.startWhole(configure(database.url, { REDIS_URL: redis.url }));
      try {
        expect(await readinessOf(api)).toBe(200);
        const health = await api.call('GET', '/healthCheck');
        expect([health.status, health.body.message]).toEqual([500, 'Redis cannot be reached']);
        const ofWorker = await api.app.get(HealthService).workerReadiness();
        expect(ofWorker).toEqual({ ready: false, message: 'Redis cannot be reached' });
      } finally {
        await api.stop();
      }
    });
  });
});
