import { setTimeout } from 'node:timers/promises';
import { eventually } from '../harness/eventually';
import type { Config } from '../../src/config/config';
import { createDataSource } from '../../src/database/data-source';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import { ThisWorker } from '../../src/platform/background/workers/this-worker';
import { WatchSession } from '../../src/platform/background/workers/watch-session';
import { WorkerWatch } from '../../src/platform/background/workers/worker-watch';
import { registerWorker } from '../../src/platform/background/workers/workers.repository';
import {
  defineWorkflow,
  Step,
  type Workflow,
  type WorkflowContext,
} from '../../src/platform/background/workflows/workflow-definition';
import { startWorkflow } from '../../src/platform/background/workflows/workflow-intents';
import { WorkflowObserver, type WorkflowPoint } from '../../src/platform/background/workflows/workflow-observer';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import { setClock } from './harness/clock';
import { makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';
import { makeWorker } from './harness/this-worker';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const JOB = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'test.takeover', queue: 'jobs' },
  deadlineMs: 48 * 60 * 60_000,
});
/** Long enough to pass only if a test sets the clock: otherwise no worker gives itself up. */
const GRACE_MS = 60_000;
const START = new Date('2030-01-01T00:00:00Z');

const after = (seconds: number) => new Date(START.getTime() + seconds * 1000);

// Real: PostgreSQL, the sessions, the runner; the workers lack only a process of their own. Left out: BullMQ, which only
// says when to call `continue`.
describe('the work of a worker whose session ends', () => {
  const { config, dataSource } = preparedDatabase({
    WORKFLOW_LEASE_MS: '86400000',
    WORKER_GRACE_MS: String(GRACE_MS),
    WORKER_WATCH_MS: '50',
  });
  let tenancy: Tenancy;
  let stopping: (() => Promise<void>)[] = [];
  const logger = createLogger('test', 'silent');

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'takeover');
  });

  beforeEach(() => setClock(dataSource, START));

  afterEach(async () => {
    for (const stop of stopping.reverse()) await stop();
    stopping = [];
    await dataSource.query('DELETE FROM workers');
  });

  interface Worker {
    runner: WorkflowRunner;
    watch: WorkerWatch;
    id: number;
  }

  async function startWorker(settings: Config = config): Promise<Worker> {
    const self = new ThisWorker();
    const watch = new WorkerWatch(dataSource, self, settings, logger);
    await watch.startAsWorker();
    stopping.push(() => watch.stop());
    const id = Number(self.newOwner().split(':')[0]);
    return { id, watch, runner: new WorkflowRunner(dataSource, settings, new WorkflowObserver(), self, logger) };
  }

  /** Starts the watch of a process that is no worker. */
  function startApi(settings: Config): WorkerWatch {
    const watch = new WorkerWatch(dataSource, new ThisWorker(), settings, logger);
    watch.start();
    stopping.push(() => watch.stop());
    return watch;
  }

  const withGrace = (graceMs: number): Config => ({ ...config, worker: { ...config.worker, graceMs } });

  const workflow = (run: (context: WorkflowContext<'cluster'>) => Promise<void>): Workflow<'cluster'> => ({
    steps: [{ name: 'a', run: async (context) => (await run(context), Step.done) }],
    attempts: 1,
    backoffMs: 0,
    compensationMs: 60_000,
    compensate: () => Promise.reject(new Error('nothing is to be cleaned up')),
    giveUp: () => Promise.reject(new Error('nothing is to be given up')),
  });
  const quick = workflow(() => Promise.resolve());

  async function newInstance(): Promise<number> {
    const subject = { kind: 'cluster' as const, tenantId: tenancy.tenantId, id: tenancy.clusterId };
    const ref = await inTransaction(dataSource, (tx) => startWorkflow(tx, JOB, subject, null));
    return ref.workflow_job_instance_id;
  }

  /** Starts a worker and returns it in the middle of the only step of an instance. */
  async function startInStep(worker: Pick<Worker, 'runner'>) {
    const id = await newInstance();
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    let context: WorkflowContext | null = null;
    const step = workflow(async (given) => {
      context = given;
      await opened;
      given.signal.throwIfAborted();
    });
    const ended = worker.runner.continue(JOB, id, step);
    const { signal } = await eventually(() => context, { what: 'the step' });
    return { id, signal, finish: async () => (open(), await ended) };
  }

  async function instance(id: number) {
    const [row] = await dataSource.query<{ state: string; owner: string | null; is_held: boolean; ended: boolean }[]>(
      `SELECT state, lease_owner AS owner, lease_owner IS NOT NULL AS is_held, ended_at IS NOT NULL AS ended
       FROM workflow_job_instances WHERE workflow_job_instance_id = $1`,
      [id],
    );
    return row;
  }

  async function steps(id: number): Promise<(string | null)[]> {
    const found = await dataSource.query<{ outcome: string | null }[]>(
      'SELECT outcome FROM workflow_steps WHERE workflow_job_instance_id = $1 ORDER BY workflow_step_id',
      [id],
    );
    return found.map(({ outcome }) => outcome);
  }

  /** Returns how often the instance was put into the outbox, the first time included. */
  async function sent(id: number): Promise<number> {
    const [row] = await dataSource.query<{ count: number }[]>(
      `SELECT count(*) FROM outbox_messages WHERE (payload->>'workflow_job_instance_id')::bigint = $1`,
      [id],
    );
    return row?.count ?? 0;
  }

  async function registered(): Promise<{ id: number; suspected_at: Date | null }[]> {
    return dataSource.query('SELECT worker_id AS id, suspected_at FROM workers ORDER BY worker_id');
  }

  const suspected = (id: number) => async () =>
    (await registered()).some((worker) => worker.id === id && worker.suspected_at !== null);

  /** Waits until every watcher has polled several times. */
  async function untilPolled(): Promise<void> {
    const seen = new Map<number, Set<string>>();
    await eventually(async () => {
      const found = await dataSource.query<{ pid: number; at: string }[]>(
        `SELECT pid, query_start::text AS at FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'worker-watch' AND query LIKE '%FROM workers%'`,
      );
      for (const { pid, at } of found) seen.set(pid, (seen.get(pid) ?? new Set()).add(at));
      return found.length > 0 && found.every(({ pid }) => (seen.get(pid)?.size ?? 0) > 4);
    });
  }

  /** Ends sessions as a restart of PostgreSQL would: those of watchers, or all sessions of the database. */
  async function endSessions(which: 'watchers' | 'all'): Promise<void> {
    await dataSource
      .query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND ($1 OR application_name = 'worker-watch')`,
        [which === 'all'],
      )
      .catch(() => undefined);
  }

  const backendOf = async (id: number) => {
    const [row] = await dataSource.query<{ pid: number }[]>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND objid = $1 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [id],
    );
    return row?.pid ?? null;
  };

  it('continues elsewhere after the grace period; the old worker can commit nothing more', async () => {
    const [dying, other] = [await startWorker(), await startWorker()];
    const work = await startInStep(dying);
    await dying.watch.stop();
    await eventually(suspected(dying.id), { what: 'the suspicion' });
    await untilPolled();
    expect(await instance(work.id)).toMatchObject({ is_held: true });
    await setClock(dataSource, after(59));
    await untilPolled();
    expect(await instance(work.id)).toMatchObject({ is_held: true });
    expect(await sent(work.id)).toBe(1);

    await setClock(dataSource, after(61));
    await eventually(async () => (await sent(work.id)) === 2, { what: 'the takeover' });
    expect(await instance(work.id)).toMatchObject({ is_held: false, ended: false });
    expect((await registered()).map(({ id }) => id)).toEqual([other.id]);
    const before = [await instance(work.id), await steps(work.id), await sent(work.id)];
    await work.finish();
    expect([await instance(work.id), await steps(work.id), await sent(work.id)]).toEqual(before);

    await other.runner.continue(JOB, work.id, quick);
    expect(await instance(work.id)).toMatchObject({ state: 'DONE' });
    expect(await steps(work.id)).toEqual(['interrupted', 'done']);
  });

  it('cannot start a step with a void claim', async () => {
    // Its only connection runs one statement after the other.
    const narrow = await createDataSource({ ...config.database, poolSize: 1 }, 'test').initialize();
    stopping.push(() => narrow.destroy());
    const id = await newInstance();
    class Interfering extends WorkflowObserver {
      override reached({ moment }: WorkflowPoint): void {
        const sql = 'UPDATE workflow_job_instances SET lease_owner = NULL WHERE workflow_job_instance_id = $1';
        if (moment === 'committed') void narrow.query(sql, [id]);
      }
    }
    const [step] = quick.steps;
    const twice = { ...quick, steps: [step, step].filter((one) => one !== undefined) };
    const runner = new WorkflowRunner(narrow, config, new Interfering(), makeWorker(1), logger);
    await runner.continue(JOB, id, twice);
    expect([await instance(id), await steps(id)]).toMatchObject([{ ended: false }, ['done']]);
  });

  it('stays with a worker that returns within the grace period', async () => {
    const [lively] = [await startWorker(), await startWorker()];
    const work = await startInStep(lively);
    const session = await backendOf(lively.id);
    await endSessions('watchers');
    await eventually(async () => ![null, session].includes(await backendOf(lively.id)), { what: 'a new session' });
    await setClock(dataSource, after(120));
    await untilPolled();
    await eventually(async () => (await registered()).every(({ suspected_at: at }) => at === null));
    expect(work.signal.aborted).toBe(false);
    await work.finish();
    expect(await instance(work.id)).toMatchObject({ state: 'DONE' });
    expect([await steps(work.id), await sent(work.id)]).toEqual([['done'], 1]);
  });

  it('stays with all workers if PostgreSQL ends every session at once', async () => {
    const workers = [await startWorker(), await startWorker(), await startWorker()];
    const work = await Promise.all(workers.map((worker) => startInStep(worker)));
    const before = await Promise.all(workers.map(({ id }) => backendOf(id)));
    await endSessions('all');
    await eventually(
      async () => {
        const now = await Promise.all(workers.map(({ id }) => backendOf(id)));
        return now.every((pid) => pid !== null && !before.includes(pid));
      },
      { what: 'new sessions of the same workers' },
    );
    await setClock(dataSource, after(120));
    await untilPolled();
    for (const each of work) await each.finish();
    expect(await registered()).toHaveLength(3);
    for (const { id } of work) expect([await steps(id), await sent(id)]).toEqual([['done'], 1]);
  });

  it('is not taken over because of a time in which no worker could return', async () => {
    const [dying, other] = [await startWorker(), await startWorker()];
    const work = await startInStep(dying);
    await dying.watch.stop();
    await eventually(suspected(dying.id), { what: 'the suspicion' });
    await setClock(dataSource, after(50));
    const session = await backendOf(other.id);
    await endSessions('watchers');
    await eventually(async () => ![null, session].includes(await backendOf(other.id)), { what: 'a new session' });
    await setClock(dataSource, after(109));
    await untilPolled();
    expect([await sent(work.id), await instance(work.id)]).toMatchObject([1, { is_held: true }]);
    await setClock(dataSource, after(111));
    await eventually(async () => (await sent(work.id)) === 2, { what: 'the takeover' });
    await work.finish();
  });

  it('stays with a frozen worker that keeps its session until its lease expires, which fences it', async () => {
    const session = await WatchSession.open(config.database.url, 10_000);
    stopping.push(() => session.close());
    const id = await registerWorker(session, { hostname: 'frozen', pid: 1 });
    const frozen = new WorkflowRunner(dataSource, config, new WorkflowObserver(), makeWorker(id), logger);
    const other = await startWorker();
    const work = await startInStep({ runner: frozen });
    await setClock(dataSource, after(10 * 60 * 60));
    await untilPolled();
    expect((await registered()).map(({ suspected_at: at }) => at)).toEqual([null, null]);
    await other.runner.continue(JOB, work.id, quick);
    expect(await instance(work.id)).toMatchObject({ is_held: true, ended: false });
    await setClock(dataSource, after(25 * 60 * 60));
    await other.runner.continue(JOB, work.id, quick);
    expect(await instance(work.id)).toMatchObject({ state: 'DONE' });
    const before = [await steps(work.id), await sent(work.id)];
    await work.finish();
    expect([await steps(work.id), await sent(work.id)]).toEqual(before);
    expect(before).toEqual([['interrupted', 'done'], 1]);
  });

  it('is taken over once by one of many workers, in batches, and the old worker is deleted', async () => {
    const dying = await startWorker();
    const others = [await startWorker(), await startWorker(), await startWorker()];
    const ids: number[] = [];
    for (let made = 0; made < 250; made += 1) ids.push(await newInstance());
    await dataSource.query(
      `UPDATE workflow_job_instances SET lease_owner = $2 || ':' || workflow_job_instance_id, state = 'EXECUTING',
         lease_until = platform_now() + interval '1 day' WHERE workflow_job_instance_id = ANY($1)`,
      [ids, String(dying.id)],
    );
    await dying.watch.stop();
    await eventually(suspected(dying.id), { what: 'the suspicion' });
    await setClock(dataSource, after(61));
    await eventually(async () => (await registered()).length === others.length, { what: 'the end of the takeover' });
    const counts = await Promise.all(ids.map(sent));
    expect(new Set(counts)).toEqual(new Set([2]));
  });

  it('ends for a worker that cannot return, which continues under another id', async () => {
    const short = { ...config, worker: { ...config.worker, graceMs: 600 } };
    const worker = await startWorker(short);
    const work = await startInStep(worker);
    const thief = await WatchSession.open(config.database.url, 60_000);
    stopping.push(() => thief.close());
    const stolen = thief.query('SELECT pg_advisory_lock(1, $1::int)', [worker.id]);
    await eventually(async () => {
      const [row] = await dataSource.query<unknown[]>(`SELECT 1 FROM pg_locks WHERE objid = $1 AND NOT granted`, [
        worker.id,
      ]);
      return row !== undefined;
    });
    await dataSource.query('SELECT pg_terminate_backend($1)', [await backendOf(worker.id)]);
    await stolen;
    await eventually(() => work.signal.aborted, { what: 'the end of the step' });
    await work.finish();
    expect([await instance(work.id), await steps(work.id)]).toMatchObject([{ is_held: false }, ['interrupted']]);
    await eventually(async () => (await registered()).some(({ id }) => id > worker.id), { what: 'another id' });
    await eventually(async () => {
      await worker.runner.continue(JOB, work.id, quick);
      return true;
    });
    expect(await instance(work.id)).toMatchObject({ state: 'DONE' });
  });

  /** Returns a function that resolves to the number of sessions that look for dead workers within ten intervals. */
  function countLookers() {
    const queries = jest.spyOn(WatchSession.prototype, 'query');
    stopping.push(() => Promise.resolve(queries.mockRestore()));
    return async () => {
      queries.mockClear();
      await setTimeout(500);
      return new Set(queries.mock.contexts.filter((_, index) => queries.mock.calls[index]?.[0].includes('FROM watch')))
        .size;
    };
  }

  it('is looked after often by one process only, which another one succeeds', async () => {
    const lookers = countLookers();
    const settings = withGrace(1_000);
    await Promise.all([startWorker(settings), startWorker(settings)]);
    expect(await lookers()).toBe(2);
    const first = startApi(settings);
    startApi(settings);
    const isLed = async () => (await lookers()) === 1;
    await eventually(isLed, { what: 'one process that looks often' });
    await first.stop();
    await eventually(async () => (await lookers()) > 1, { what: 'looks of the others' });
    await eventually(isLed, { what: 'one other process that looks often' });
  });

  it('continues elsewhere although the process that looked often ended, too', async () => {
    const settings = withGrace(1_000);
    const leader = startApi(settings);
    const dying = await startWorker(settings);
    const work = await startInStep(dying);
    await startWorker(settings);
    const lookers = countLookers();
    await eventually(async () => (await lookers()) === 1, { what: 'workers that look rarely' });
    await Promise.all([dying.watch.stop(), leader.stop()]);
    await eventually(suspected(dying.id), { what: 'the suspicion' });
    await setClock(dataSource, after(2));
    await eventually(async () => (await sent(work.id)) === 2, { what: 'the takeover' });
    await work.finish();
  });

  it('stays with a worker that looks rarely, and notices the end of its session before others may take over', async () => {
    const settings = withGrace(4_000);
    startApi(settings);
    const worker = await startWorker(settings);
    const work = await startInStep(worker);
    const lookers = countLookers();
    await eventually(async () => (await lookers()) === 1, { what: 'a worker that looks rarely' });
    const session = await backendOf(worker.id);
    const ended = performance.now();
    await dataSource.query('SELECT pg_terminate_backend($1)', [session]);
    await eventually(async () => ![null, session].includes(await backendOf(worker.id)), { what: 'a new session' });
    expect(performance.now() - ended).toBeLessThan(3_500);
    await work.finish();
    expect([await steps(work.id), await sent(work.id)]).toEqual([['done'], 1]);
  });

  it('is confirmed without a transaction while its session exists', async () => {
    const session = await WatchSession.open(config.database.url, 10_000);
    stopping.push(() => session.close());
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]?.pid;
    const transactions = async () => {
      await session.query('SELECT pg_stat_force_next_flush()');
      const sql = 'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()';
      return (await session.query<{ count: number }>(sql)).rows[0]?.count ?? 0;
    };
    const before = await transactions();
    for (let count = 0; count < 500; count += 1) await session.confirm();
    expect((await transactions()) - before).toBeLessThan(250);
    expect((await session.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
    await expect(session.confirm()).rejects.toThrow();
    await expect(session.confirm()).rejects.toThrow();
  });

  it('is released when the worker shuts down in order', async () => {
    const [leaving, other] = [await startWorker(), await startWorker()];
    const id = await newInstance();
    await leaving.runner.continue(JOB, id, quick);
    await leaving.watch.stop();
    expect((await registered()).map((worker) => worker.id)).toEqual([other.id]);
  });
});
