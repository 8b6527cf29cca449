import { Client } from 'pg';
import { eventually } from '../harness/eventually';
import { type Caller, People } from '../medium/harness/people';
import { startWholeApi, type TestAnswer, type TestApi } from '../medium/harness/test-api';

/** More requests than the pool has connections. */
const MANY = 40;
const POOL = 20;
const OF_CALLER = 5;
const OF_TENANT = 10;
/** Longer than any wait of these tests takes, even on a busy machine. */
const LONG_MS = 100_000;

// Real: the whole API and PostgreSQL. Left out: the move of a large directory, for which a row is locked.
describe('requests that wait for a lock', () => {
  let api: TestApi;
  let stop: (() => Promise<void>) | undefined;
  let url: string;
  let people: People;
  let attacker: Caller;
  let workspaceId: number;
  let stranger: Caller;
  let holder: Client;
  let observer: Client;

  async function start(lockTimeoutMs: number): Promise<void> {
    const started = await startWholeApi({
      DATABASE_POOL_SIZE: String(POOL),
      DATABASE_LOCK_TIMEOUT_MS: String(lockTimeoutMs),
      DATABASE_STATEMENT_TIMEOUT_MS: String(2 * LONG_MS),
    });
    ({ api, stop } = started);
    url = started.database.url;
    people = new People(api);
    const tenant = await people.tenant();
    attacker = await people.admin(tenant);
    stranger = await people.admin(await people.tenant());
    workspaceId = await people.workspace(attacker);
    await directory(attacker, 'first');
    holder = new Client({ connectionString: url });
    observer = new Client({ connectionString: url });
    await Promise.all([holder.connect(), observer.connect()]);
  }

  afterEach(async () => {
    await holder?.end();
    await observer?.end();
    await stop?.();
    stop = undefined;
  });

  const directory = (caller: Caller, path: string, headers: Record<string, string> = {}) =>
    api.call('POST', `/workspace/files?workspace_id=${workspaceId}&path=${path}&is_dir=true`, {
      token: caller.token,
      headers,
    });

  /** Takes the lock that a large move takes. */
  async function lock(): Promise<void> {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM workspace_file_totals WHERE workspace_id = $1 FOR UPDATE', [workspaceId]);
  }

  const unlock = () => holder.query('ROLLBACK');

  async function waiting(): Promise<number> {
    const { rows } = await observer.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'platform' AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  }

  const waitingOf = (expected: number) => eventually(async () => (await waiting()) >= expected || null);

  /** Checks that login, reads and a write of a user in another tenant succeed. */
  async function expectServed(): Promise<void> {
    for (let time = 0; time < 5; time += 1) {
      const answers = await Promise.all([
        stranger.call('GET', '/user/info'),
        stranger.call('GET', '/workspaces'),
        stranger.call('POST', '/workspace', { name: people.unique('workspace') }),
        api.call('POST', '/login', { body: { username: 'nobody', password: 'wrong' } }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 401]);
    }
  }

  /** Sends many requests at once and collects the responses as they arrive. */
  function flood(send: (index: number) => Promise<TestAnswer>) {
    const answers: TestAnswer[] = [];
    const all = Array.from({ length: MANY }, async (_, index) => {
      const answer = await send(index);
      answers.push(answer);
      return answer;
    });
    return { answers, all: Promise.all(all) };
  }

  it('take at most a share of the connections, and all other users are served meanwhile', async () => {
    await start(LONG_MS);
    await lock();
    const { answers, all } = flood((index) => directory(attacker, `of-the-flood-${index}`));
    await waitingOf(OF_CALLER);
    await expectServed();
    expect(await waiting()).toBe(OF_CALLER);
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    await unlock();
    for (const { status, body, headers } of await all) {
      if (status === 200) continue;
      expect([status, body.error_code]).toEqual([503, 'DATABASE.BUSY']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('take at most half of the connections if they come from many users of one tenant', async () => {
    await start(LONG_MS);
    const tenant = (await attacker.call('GET', '/user/info')).body.tenant_id as string;
    const fellows = [attacker];
    while (fellows.length < 5) fellows.push(await people.admin(tenant));
    await lock();
    const { answers, all } = flood((index) => directory(fellows[index % 5] ?? attacker, `of-the-flood-${index}`));
    await waitingOf(OF_TENANT);
    await expectServed();
    expect(await waiting()).toBe(OF_TENANT);
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    await unlock();
    await all;
  });

  it('take at most that share with one Idempotency-Key, too, and have one effect', async () => {
    await start(LONG_MS);
    await lock();
    const key = { 'idempotency-key': 'the-same' };
    const { answers, all } = flood(() => directory(attacker, 'once', key));
    await waitingOf(OF_CALLER);
    await expectServed();
    expect(await waiting()).toBe(OF_CALLER);
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    await unlock();
    const done = (await all).filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThanOrEqual(OF_CALLER);
    expect(new Set(done.map(({ body }) => body.workspace_file_id))).toHaveProperty('size', 1);
  });

  it('end with a 503 that says when to retry, and the retry succeeds', async () => {
    await start(1_500);
    await lock();
    const { status, body, headers } = await directory(attacker, 'later');
    expect([status, body.error_code, headers.get('retry-after')]).toEqual([503, 'DATABASE.BUSY', '1']);
    await unlock();
    expect(await directory(attacker, 'later')).toMatchObject({ status: 200 });
  });
});
