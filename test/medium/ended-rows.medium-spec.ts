import { randomUUID } from 'node:crypto';
import { Config } from '../../src/config/config';
import { ENDED_SESSIONS } from '../../src/modules/foundation/iam/sessions/sessions.repository';
import { ENDED_FILES } from '../../src/modules/infrastructure/storage/object-storage-managers/object-storage-files.repository';
import { LOGGER, type Logger } from '../../src/platform/kernel/logging/logger';
import { type Retention, RetentionSweeper } from '../../src/platform/background/workflows/retention';
import { bodyOf } from '../samples';
import { ofStore } from '../samples/credentials-conf';
import { PASSWORD, People } from './harness/people';
import { wholeApi } from './harness/test-api';

const RETENTION_DAYS = 7;
/** The number of rows of one kind that a pass deletes. */
const BATCH = 10_000;

// Real: PostgreSQL and the API that creates the records. The tests move their ends into the past.
describe('rows that have ended', () => {
  const api = wholeApi({ ENDED_ROWS_RETENTION_DAYS: String(RETENTION_DAYS) });
  const people = new People(api);
  let tenantId: string;
  let userId: number;
  let token: string;

  beforeAll(async () => {
    tenantId = await people.tenant();
    userId = await people.withPassword('owner', [['ADMIN', tenantId]]);
    token = await api.login('owner', PASSWORD);
  });

  const sweep = async (rule: Retention, passes = 1) => {
    const sweeper = new RetentionSweeper(rule, api.database, api.app.get(Config), api.app.get<Logger>(LOGGER));
    for (let pass = 0; pass < passes; pass += 1) await sweeper.reconcile(new AbortController().signal);
  };

  const done = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { token, body });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };

  const makeManager = async (name: string): Promise<number> => {
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', S3_ENDPOINT: 'http://127.0.0.1:9' };
    const credentials = await done('/credential_config', { name, ...ofStore(keys) });
    const ids = { credentials_conf_id: Number(credentials.credentials_conf_id) };
    const manager = await done('/object_storage_manager', { name, ...bodyOf('object_storage_manager', ids) });
    return Number(manager.object_storage_manager_id);
  };

  /** Null for a file that still exists. */
  const addFiles = (managerId: number, prefix: string, endedDaysAgo: number | null, count = 1) =>
    api.database.query(
      `INSERT INTO object_storage_files (tenant_id, object_storage_manager_id, path, is_dir, to_date)
       SELECT $1, $2, $3 || n, false, COALESCE(now() - $4::float8 * interval '1 day', 'infinity') FROM generate_series(1, $5::int) n`,
      [tenantId, managerId, prefix, endedDaysAgo, count],
    );

  const filesOf = async (managerId: number): Promise<string[]> => {
    const found = await api.database.query<{ path: string }[]>(
      'SELECT path FROM object_storage_files WHERE object_storage_manager_id = $1 ORDER BY path LIMIT 10',
      [managerId],
    );
    return found.map(({ path }) => path);
  };

  it('are deleted if they are ids of files that were deleted long ago', async () => {
    const manager = await makeManager('files');
    await addFiles(manager, 'there', null);
    await addFiles(manager, 'young', RETENTION_DAYS - 0.5);
    await addFiles(manager, 'old', RETENTION_DAYS + 0.5, 2500);
    await sweep(ENDED_FILES);
    expect(await filesOf(manager)).toEqual(['there1', 'young1']);
  });

  it('are deleted with an object storage manager that was deleted long ago', async () => {
    const [old, young] = [await makeManager('old'), await makeManager('young')];
    const close = `UPDATE object_storage_managers SET to_date = now() - $2::float8 * interval '1 day' WHERE object_storage_manager_id = $1`;
    for (const [manager, days] of [[old, RETENTION_DAYS + 0.5] as const, [young, RETENTION_DAYS - 0.5] as const]) {
      await addFiles(manager, 'file', null);
      await api.database.query(close, [manager, days]);
    }
    await sweep(ENDED_FILES);
    expect([await filesOf(old), await filesOf(young)]).toEqual([[], ['file1']]);
  });

  it('are deleted in batches, and the next batch does not wait an hour', async () => {
    const manager = await makeManager('many');
    await addFiles(manager, 'old', RETENTION_DAYS + 1, BATCH + 1);
    await sweep(ENDED_FILES, 1);
    expect(await filesOf(manager)).toHaveLength(1);
    await addFiles(manager, 'more', RETENTION_DAYS + 1, BATCH);
    await sweep(ENDED_FILES, 2);
    expect(await filesOf(manager)).toEqual([]);
  });

  it('are deleted if they are logins or personal tokens', async () => {
    const sessions: [string, 'login' | 'token', string, string | null][] = [
      ['open', 'login', '1 day', null],
      ['endless', 'login', 'infinity', null],
      ['expired', 'login', '-8 days', null],
      ['just expired', 'login', '-6 days', null],
      ['ended', 'login', 'infinity', '-8 days'],
      ['just ended', 'login', '1 day', '-6 days'],
      ['open token', 'token', 'infinity', null],
      ['old token', 'token', '-8 days', '-9 days'],
      ['revoked token', 'token', 'infinity', '-8 days'],
      ['just revoked token', 'token', 'infinity', '-6 days'],
    ];
    for (const [description, kind, expires, revoked] of sessions) {
      await api.database.query(
        `INSERT INTO sessions (session_id, user_id, kind, description, expires_at, revoked_at)
         VALUES ($1, $2, $3, $4, CASE WHEN $5 = 'infinity' THEN 'infinity' ELSE now() + NULLIF($5, 'infinity')::interval END, now() + $6::interval)`,
        [randomUUID(), userId, kind, description, expires, revoked],
      );
    }
    await sweep(ENDED_SESSIONS);
    const left = await api.database.query<{ description: string }[]>(
      'SELECT description FROM sessions WHERE description IS NOT NULL ORDER BY token_id',
    );
    expect(left.map(({ description }) => description)).toEqual([
      ...['open', 'endless', 'just expired', 'just ended', 'open token', 'just revoked token'],
    ]);
    expect((await api.call('GET', '/user/info', { token })).status).toBe(200);
  });
});
