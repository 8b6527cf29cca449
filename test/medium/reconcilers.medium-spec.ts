import { randomUUID } from 'node:crypto';
import type { DiscoveryService } from '@nestjs/core';
import { type ComputeDriver, type DriverContext, type SweepScope } from '../../libs/compute-drivers/compute-driver';
import { removeOrphans } from '../../libs/compute-drivers/sweep';
import { collectGarbage } from '../harness/collect-garbage';
import { eventually } from '../harness/eventually';
import { ClusterNodesRepository } from '../../src/modules/execution/clusters/model/cluster-nodes.repository';
import type { ClusterSnapshots } from '../../src/modules/execution/clusters/provisioning/cluster-snapshot';
import { ClusterReconciler } from '../../src/modules/execution/clusters/provisioning/cluster-reconciler';
import type { Drivers } from '../../src/modules/execution/clusters/provisioning/drivers';
import { Installation } from '../../src/platform/kernel/installation/installation';
import { createLogger, type Logger } from '../../src/platform/kernel/logging/logger';
import { AdvisoryLocks } from '../../src/platform/background/workflows/advisory-locks';
import { ReconcileLoop } from '../../src/platform/background/workflows/reconcile-loop';
import { Reconciler } from '../../src/platform/background/workflows/reconciler';
import type { Ask, Condition } from '../../src/platform/background/workflows/work-questions';
import type { Params } from '../../src/platform/kernel/persistence/sql';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';

const IS_LOST = '1 hour';
const EVERY_MS = 100;

class TestReconciler extends Reconciler {
  passes = 0;

  constructor(
    readonly name: string,
    private readonly work: (signal: AbortSignal) => Promise<void | 'more'>,
    readonly deadlineMs = 60_000,
    readonly intervalMs = EVERY_MS,
  ) {
    super();
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    this.passes += 1;
    return this.work(signal);
  }
}

/** Has passes only while a condition in SQL holds. */
class AskingReconciler extends TestReconciler {
  constructor(
    name: string,
    private readonly condition: Condition,
  ) {
    super(name, () => Promise.resolve());
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.condition);
  }
}

// Real: PostgreSQL. Left out: the provider, which does not respond here.
describe('reconcilers with a persistent fault', () => {
  const { config, dataSource } = preparedDatabase({ RECONCILE_INTERVAL_MS: '100' });
  let tenancy: Tenancy;

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'mine');
  });

  const signal = new AbortController().signal;
  const destroyed: string[] = [];
  const stubborn = randomUUID();
  const orphans = [stubborn, randomUUID(), randomUUID()];

  function reconciler(): ClusterReconciler {
    const away = () => Promise.reject(new Error('the provider does not answer'));
    const machines = orphans.map((nodeToken) => ({ nodeToken, createdAt: new Date(0) }));
    const driver = {
      sweep: (scope: SweepScope, call: DriverContext) =>
        removeOrphans(machines, scope, call, {
          remove: ([one]) =>
            one?.nodeToken === stubborn ? away() : Promise.resolve(destroyed.push(one?.nodeToken ?? '')),
        }),
    } as unknown as ComputeDriver;
    const facts = { read: () => Promise.resolve({}), withDriver: away } as unknown as ClusterSnapshots;
    const drivers = { serves: () => true, withoutCredentials: () => Promise.resolve([driver]) } as unknown as Drivers;
    const nodes = new ClusterNodesRepository(dataSource);
    return new ClusterReconciler(
      dataSource,
      nodes,
      makeLifecycle(dataSource),
      facts,
      drivers,
      config,
      new Installation(dataSource),
      createLogger('test', 'silent'),
    );
  }

  it('process everything else, and report their failures', async () => {
    const silent = await makeNode(dataSource.manager, tenancy, 0);
    const lost = await makeNode(dataSource.manager, await makeTenancy(dataSource.manager, 'theirs'), 0);
    await dataSource.query(
      `INSERT INTO answered_seconds SELECT date_trunc('second', now()) - s * interval '1 second' FROM generate_series(0, 600) s`,
    );
    await dataSource.query(
      `UPDATE cluster_nodes SET last_seen_at = now() - CASE node_id WHEN $1 THEN interval '1 minute' ELSE interval '${IS_LOST}' END
       WHERE node_id IN ($1, $2)`,
      [silent, lost],
    );
    await expect(reconciler().reconcile(signal)).rejects.toThrow(
      `Node ${silent}: the provider does not answer; Machine ${stubborn}, which no cluster owns: the provider does not answer`,
    );
    expect(destroyed).toEqual(orphans.slice(1));
    const states = await dataSource.query(
      `SELECT n.node_id, n.status, c.status AS cluster FROM cluster_nodes n JOIN clusters c USING (cluster_id) ORDER BY 1`,
    );
    expect(states).toEqual([
      { node_id: silent, status: 'RUNNING', cluster: 'RUNNING' },
      // Another failure takes its place.
      { node_id: lost, status: 'ERROR', cluster: 'RUNNING' },
    ]);
  });

  function loopOf(logger: Logger, ...reconcilers: Reconciler[]): ReconcileLoop {
    const providers = reconcilers.map((instance) => ({ instance }));
    const discovery = { getProviders: () => providers } as unknown as DiscoveryService;
    const loop = new ReconcileLoop(discovery, dataSource, config, logger);
    loop.discover();
    return loop;
  }

  it('log it once, until it changes or ends', async () => {
    const logger = createLogger('test', 'silent');
    const errors = jest.spyOn(logger, 'error');
    const infos = jest.spyOn(logger, 'info');
    let passes = 0;
    let problem: string | null = 'no answer';
    const reconcile = () => {
      passes += 1;
      return problem === null ? Promise.resolve() : Promise.reject(new Error(problem));
    };
    const loop = loopOf(logger, new TestReconciler('test', reconcile));
    const passed = async (count: number) => {
      const from = passes;
      await eventually(() => passes >= from + count, { what: 'some passes' });
    };
    loop.start();
    try {
      await passed(3);
      problem = 'no such disk';
      await passed(3);
      expect(errors).toHaveBeenCalledTimes(2);
      problem = null;
      await passed(3);
    } finally {
      await loop.stop();
    }
    expect([errors.mock.calls.length, infos.mock.calls.length]).toEqual([2, 1]);
  });

  const never = () => new Promise<void>(() => undefined);
  const obeying = (signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });

  it.each([
    ['obeys its signal', obeying],
    ['ignores its signal', never],
  ])('keep their pace while one waits for a provider and %s', async (_what, work) => {
    const logger = createLogger('test', 'silent');
    const errors = jest.spyOn(logger, 'error');
    const hung = new TestReconciler('hung', work, 300);
    const quick = new TestReconciler('quick', () => Promise.resolve());
    const loop = loopOf(logger, hung, quick);
    loop.start();
    try {
      await eventually(() => hung.passes >= 1, { what: 'a pass that hangs' });
      const before = quick.passes;
      await eventually(() => quick.passes >= before + 3, { what: 'passes of the other one' });
      // Its next pass still starts, and the abort is logged once.
      await eventually(() => hung.passes >= 3, { what: 'its next passes' });
      const [first, ...more] = errors.mock.calls.map(([fields]) => (fields as { err: Error }).err.message);
      expect(first).toBe('The pass did not end within 300 ms and was aborted');
      expect(more).not.toContain(first);
    } finally {
      const asked = performance.now();
      await loop.stop();
      expect(performance.now() - asked).toBeLessThan(20_000);
    }
  });

  it('leave no more than a few abandoned passes', async () => {
    const logger = createLogger('test', 'silent');
    const errors = jest.spyOn(logger, 'error');
    const hung = new TestReconciler('hung', never, 1);
    const loop = loopOf(logger, hung);
    loop.start();
    try {
      const told = () => errors.mock.calls.map(([fields]) => (fields as { err: Error }).err.message);
      await eventually(() => told().includes('3 aborted passes have not ended'), { what: 'the end' });
      expect(hung.passes).toBe(3);
    } finally {
      await loop.stop();
    }
  });

  it('continue soon if there is more to do, with one pass at a time over all workers', async () => {
    const logger = createLogger('test', 'silent');
    let under = 0;
    let most = 0;
    const work = async () => {
      under += 1;
      most = Math.max(most, under);
      await dataSource.query('SELECT pg_sleep(0.05)');
      under -= 1;
      return 'more' as const;
    };
    const HOUR_MS = 3_600_000;
    const both = [1, 2].map(() => new TestReconciler('shared', work, 60_000, HOUR_MS));
    const loops = both.map((one) => loopOf(logger, one));
    for (const loop of loops) loop.start();
    try {
      await eventually(() => both.some(({ passes }) => passes >= 3), { what: 'passes without an hour between' });
      expect(most).toBe(1);
    } finally {
      for (const loop of loops) await loop.stop();
    }
  });

  it('leave nothing of a pass in memory', async () => {
    const signals: WeakRef<AbortSignal>[] = [];
    const work = (given: AbortSignal) => Promise.resolve(void signals.push(new WeakRef(given)));
    const loop = loopOf(createLogger('test', 'silent'), new TestReconciler('forgetful', work));
    loop.start();
    try {
      await eventually(() => signals.length >= 5, { what: 'five passes' });
      const first = signals.slice(0, 4);
      const isForgotten = () => (collectGarbage(), first.every((signal) => signal.deref() === undefined));
      await eventually(isForgotten, { what: 'the end of what four passes were given' });
    } finally {
      await loop.stop();
    }
  });

  it('take the locks of one tick with one statement, and release them', async () => {
    const statements: string[] = [];
    const create = dataSource.createQueryRunner.bind(dataSource);
    const spy = jest.spyOn(dataSource, 'createQueryRunner').mockImplementation((mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner);
      runner.query = (sql: string, params?: unknown[]) => {
        statements.push(sql);
        return query(sql, params) as never;
      };
      return runner;
    });
    const names = Array.from({ length: 10 }, (_, index) => `together ${index}`);
    const all = names.map((name) => new TestReconciler(name, () => Promise.resolve(), 60_000, 500));
    const loop = loopOf(createLogger('test', 'silent'), ...all);
    loop.start();
    try {
      await eventually(() => all.every(({ passes }) => passes >= 3), { what: 'three passes of each' });
      expect(statements.filter((sql) => sql.includes('pg_try_advisory_lock')).length).toBeLessThanOrEqual(6);
      const isFree = async () => {
        const sql =
          'SELECT bool_and(pg_try_advisory_xact_lock(hashtext(name))) AS free FROM unnest($1::text[]) AS name';
        const [row] = await dataSource.query<{ free: boolean }[]>(sql, [names.map((name) => `reconcile:${name}`)]);
        return row?.free === true;
      };
      await eventually(isFree, { what: 'locks that nobody holds between passes' });
    } finally {
      await loop.stop();
      spy.mockRestore();
    }
  });

  it('ask for their work with one statement, and take no lock without any', async () => {
    const queries = jest.spyOn(dataSource, 'query');
    const locks = jest.spyOn(AdvisoryLocks.prototype, 'tryLock');
    const equals = (answer: number) => (params: Params) => `${params.add(7)}::int = ${params.add(answer)}::int`;
    const idle = [1, 2, 3].map((number) => new AskingReconciler(`idle ${number}`, equals(number)));
    const busy = new AskingReconciler('busy', equals(7));
    const loop = loopOf(createLogger('test', 'silent'), ...idle, busy);
    loop.start();
    try {
      await eventually(() => busy.passes >= 3, { what: 'passes of the one with work' });
      expect(idle.map(({ passes }) => passes)).toEqual([0, 0, 0]);
      expect(new Set(locks.mock.calls.flat())).toEqual(new Set(['reconcile:busy']));
      const asked = queries.mock.calls.map(([sql]) => sql).filter((sql) => sql.startsWith('SELECT ARRAY'));
      expect(Math.max(...asked.map((sql) => sql.split('::int = ').length - 1))).toBe(4);
    } finally {
      await loop.stop();
      queries.mockRestore();
      locks.mockRestore();
    }
  });

  it.each([
    ['cannot be answered', 'no_such_function()'],
    ['is not answered in time', 'pg_sleep(3) IS NULL'],
  ])('have passes if a question of one of them %s', async (_what, sql) => {
    const both = [new AskingReconciler('answered', () => 'false'), new AskingReconciler('unanswered', () => sql)];
    const loop = loopOf(createLogger('test', 'silent'), ...both);
    const started = performance.now();
    loop.start();
    try {
      await eventually(() => both.every(({ passes }) => passes >= 1), { what: 'a pass of each' });
      expect(performance.now() - started).toBeLessThan(3_000);
    } finally {
      await loop.stop();
    }
  });

  it('must have unique names', () => {
    const two = [1, 2].map(() => new TestReconciler('same', never));
    expect(() => loopOf(createLogger('test', 'silent'), ...two)).toThrow('Two reconcilers are named same');
  });
});
