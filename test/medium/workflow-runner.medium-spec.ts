import { eventually } from '../harness/eventually';
import { createLogger } from '../../src/platform/kernel/logging/logger';
import {
  PermanentError,
  Step,
  type StepOutcome,
  defineWorkflow,
  type Workflow,
  type WorkflowContext,
  type WorkflowFailure,
} from '../../src/platform/background/workflows/workflow-definition';
import { workflowErrors } from '../../src/platform/background/workflows/workflow-errors';
import {
  requeueDueWorkflows,
  startWorkflow,
  wakeWorkflow,
} from '../../src/platform/background/workflows/workflow-intents';
import { WorkflowObserver } from '../../src/platform/background/workflows/workflow-observer';
import { WorkflowRunner } from '../../src/platform/background/workflows/workflow-runner';
import {
  WORKFLOW_TRANSITIONS,
  type WorkflowExecutionState,
} from '../../src/platform/background/workflows/workflow-state';
import { markSent } from '../../src/platform/background/workflows/workflow.repository';
import { mayFollow } from '../../src/platform/kernel/history/transition-table';
import { setClock } from './harness/clock';
import { makeTenancy, type Tenancy } from './harness/records';
import { configure, preparedDatabase } from './harness/test-api';
import { makeWorker } from './harness/this-worker';
import { autocommit } from '../harness/autocommit';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';

const DEADLINE_MS = 60_000;
const JOB = defineWorkflow({
  type: 'cosi_start',
  subject: 'cluster',
  job: { name: 'test.work', queue: 'jobs' },
  deadlineMs: DEADLINE_MS,
});
const BACKOFF_MS = 300;

type Context = WorkflowContext<'cluster'>;
type Work = (context: Context) => Promise<StepOutcome>;

interface Instance {
  state: string;
  step_index: number;
  attempt: number;
  lease_owner: string | null;
  ended: boolean;
}

/** Holds a step until the test releases it. */
class Gate {
  private release: () => void = () => undefined;
  private reach: () => void = () => undefined;
  readonly reached = new Promise<void>((resolve) => (this.reach = resolve));
  private readonly opened = new Promise<void>((resolve) => (this.release = resolve));

  open(): void {
    this.release();
  }

  async pass(): Promise<void> {
    this.reach();
    await this.opened;
  }
}

// Real: PostgreSQL. Left out: BullMQ, which only says when to call `continue`.
describe('WorkflowRunner', () => {
  const { config, dataSource } = preparedDatabase({ WORKFLOW_LEASE_MS: '60000' });
  let tenancy: Tenancy;
  let runner: WorkflowRunner;
  let other: WorkflowRunner;

  beforeAll(async () => {
    tenancy = await makeTenancy(dataSource.manager, 'workflows');
  });

  beforeEach(() => {
    [runner, other] = [newRunner(), newRunner()];
  });

  function newRunner(): WorkflowRunner {
    return new WorkflowRunner(
      dataSource,
      config,
      new WorkflowObserver(),
      makeWorker(1),
      createLogger('test', 'silent'),
    );
  }

  function definition(steps: Record<string, Work>, more: Partial<Workflow<'cluster'>> = {}): Workflow<'cluster'> {
    return {
      steps: Object.entries(steps).map(([name, run]) => ({ name, run })),
      attempts: 3,
      backoffMs: BACKOFF_MS,
      compensate: () => Promise.reject(new Error('nothing is to be cleaned up')),
      compensationMs: 60_000,
      giveUp: () => Promise.reject(new Error('nothing is to be given up')),
      ...more,
    };
  }

  const about = () => ({ kind: 'cluster' as const, tenantId: tenancy.tenantId, id: tenancy.clusterId });

  async function newInstance(deadlineMs = DEADLINE_MS): Promise<number> {
    const { workflow_job_instance_id: id } = await inTransaction(dataSource, (tx) =>
      startWorkflow(tx, { ...JOB, deadlineMs }, about(), null),
    );
    return id;
  }

  async function instance(id: number): Promise<Instance> {
    const [row] = await dataSource.query<Instance[]>(
      `SELECT state, step_index, attempt, lease_owner, ended_at IS NOT NULL AS ended FROM workflow_job_instances
       WHERE workflow_job_instance_id = $1`,
      [id],
    );
    if (!row) throw new Error(`no instance ${id}`);
    return row;
  }

  async function steps(id: number): Promise<string[]> {
    const found = await dataSource.query<{ name: string; outcome: string | null }[]>(
      'SELECT name, outcome FROM workflow_steps WHERE workflow_job_instance_id = $1 ORDER BY workflow_step_id',
      [id],
    );
    return found.map(({ name, outcome }) => `${name} ${outcome}`);
  }

  /** Ends the lease as if its time had passed. */
  async function expireLease(id: number): Promise<void> {
    await dataSource.query(
      `UPDATE workflow_job_instances SET lease_until = now() - interval '1 second' WHERE workflow_job_instance_id = $1`,
      [id],
    );
  }

  async function leaseOf(id: number): Promise<number> {
    const [row] = await dataSource.query<{ lease_until: Date }[]>(
      'SELECT lease_until FROM workflow_job_instances WHERE workflow_job_instance_id = $1',
      [id],
    );
    return row?.lease_until.getTime() ?? 0;
  }

  /** Delays in milliseconds of the jobs that the outbox holds for the instance. */
  async function sent(id: number): Promise<number[]> {
    const found = await dataSource.query<{ delay_ms: number }[]>(
      `SELECT delay_ms FROM outbox_messages WHERE (payload->>'workflow_job_instance_id')::bigint = $1
       ORDER BY outbox_message_id`,
      [id],
    );
    return found.map(({ delay_ms }) => delay_ms);
  }

  const done: Work = () => Promise.resolve(Step.done);

  it('runs each step once, in order, and ends DONE', async () => {
    const order: string[] = [];
    const note =
      (name: string): Work =>
      () => {
        order.push(name);
        return Promise.resolve(Step.done);
      };
    const id = await newInstance();
    await runner.continue(JOB, id, definition({ a: note('a'), b: note('b') }));
    await runner.continue(JOB, id, definition({ a: note('a'), b: note('b') }));
    expect(order).toEqual(['a', 'b']);
    expect(await instance(id)).toMatchObject({ state: 'DONE', ended: true, lease_owner: null });
    expect(await steps(id)).toEqual(['a done', 'b done']);
  });

  it('keeps the faults of waiting, completed and failed steps for each part of the subject', async () => {
    const id = await newInstance();
    let tries = 0;
    const wait = (): Promise<StepOutcome> => {
      tries += 1;
      const problem = { message: 'Node 1: full', parts: { 11: 'full' } };
      return Promise.resolve(tries === 1 ? Step.wait(0, problem) : Step.doneExceptFor('one is missing'));
    };
    const fail = () => Promise.reject(new PermanentError('Node 2: denied', { parts: { 12: 'denied' } }));
    const work = definition({ a: wait, b: fail }, { compensate: () => Promise.resolve() });
    for (const _ of [1, 2]) await runner.continue(JOB, id, work);
    expect(await steps(id)).toEqual(['a waiting', 'a done', 'b failed', 'compensate done']);
    const errorsOf = async (partId: number | null) =>
      (await workflowErrors(autocommit(dataSource.manager), [id], { limit: 10, pageNumber: 1 }, partId)).data.map(
        ({ error }) => error,
      );
    expect(await errorsOf(null)).toEqual(['b: Node 2: denied', 'a: one is missing', 'a: Node 1: full']);
    expect(await errorsOf(11)).toEqual(['b: Node 2: denied', 'a: one is missing', 'a: full']);
    expect(await errorsOf(12)).toEqual(['b: denied', 'a: one is missing', 'a: Node 1: full']);
  });

  it('lets one of many runners work on an instance at a time', async () => {
    const gate = new Gate();
    let inside = 0;
    const work = definition({
      a: async () => {
        inside += 1;
        await gate.pass();
        return Step.done;
      },
    });
    const id = await newInstance();
    const runners = Array.from({ length: 8 }, newRunner);
    let returned = 0;
    const all = runners.map(async (one) => {
      await one.continue(JOB, id, work);
      returned += 1;
    });
    await eventually(() => returned === runners.length - 1, { what: 'the return of those that found it held' });
    expect(inside).toBe(1);
    gate.open();
    await Promise.all(all);
    expect(inside).toBe(1);
    expect(await steps(id)).toEqual(['a done']);
  });

  it.each([
    ['another runner', () => other],
    ['the same runner', () => runner],
  ])('changes nothing more once its lease has passed and %s has taken over', async (_who, next) => {
    const gate = new Gate();
    const id = await newInstance();
    const late = runner.continue(JOB, id, definition({ a: async () => (await gate.pass(), Step.done), b: done }));
    await gate.reached;
    await expireLease(id);
    const second = new Gate();
    const taken = next().continue(JOB, id, definition({ a: done, b: async () => (await second.pass(), Step.done) }));
    await second.reached;
    const before = [await instance(id), await steps(id), await sent(id)];
    gate.open();
    await late;
    expect([await instance(id), await steps(id), await sent(id)]).toEqual(before);
    second.open();
    await taken;
    expect(await instance(id)).toMatchObject({ state: 'DONE' });
    expect(await steps(id)).toEqual(['a interrupted', 'a done', 'b done']);
  });

  it('notifies its step when the lease is lost', async () => {
    const short = configure(config.database.url, { WORKFLOW_LEASE_MS: '500' });
    const id = await newInstance();
    const hasty = new WorkflowRunner(
      dataSource,
      short,
      new WorkflowObserver(),
      makeWorker(1),
      createLogger('test', 'silent'),
    );
    const gate = new Gate();
    const late = hasty.continue(
      JOB,
      id,
      definition({
        a: async ({ signal }) => {
          await gate.pass();
          await eventually(() => signal.aborted, { what: 'the end of the lease' });
          signal.throwIfAborted();
          return Step.done;
        },
      }),
    );
    await gate.reached;
    await dataSource.query(
      `UPDATE workflow_job_instances SET lease_owner = 'another' WHERE workflow_job_instance_id = $1`,
      [id],
    );
    gate.open();
    await late;
    expect(await instance(id)).toMatchObject({ lease_owner: 'another', ended: false, step_index: 0 });
  });

  it('extends its lease while a step takes longer', async () => {
    // The lease is a minute. The test controls the clock here and in the database.
    const beats = jest.spyOn(globalThis, 'setInterval');
    const id = await newInstance(600_000);
    const gate = new Gate();
    const running = runner.continue(JOB, id, definition({ a: async () => (await gate.pass(), Step.done) }));
    await gate.reached;
    const [beat] = beats.mock.calls.flatMap(([call, ms]) => (ms === 20_000 ? [call] : []));
    const first = await leaseOf(id);
    try {
      await setClock(dataSource, '50 seconds');
      beat?.();
      await eventually(async () => (await leaseOf(id)) > first, { what: 'an extension' });
      await setClock(dataSource, '80 seconds');
      await inTransaction(dataSource, (tx) => requeueDueWorkflows(tx, 1_000));
      expect(await sent(id)).toEqual([0]);
      await other.continue(JOB, id, definition({ a: () => Promise.reject(new Error('held by two')) }));
      gate.open();
      await running;
      expect(await steps(id)).toEqual(['a done']);
    } finally {
      await setClock(dataSource, '0 seconds');
    }
  });

  it('does not lose a wake-up during the step that waits', async () => {
    const gate = new Gate();
    let looks = 0;
    const id = await newInstance();
    const running = runner.continue(
      JOB,
      id,
      definition({
        a: async () => {
          looks += 1;
          if (looks > 1) return Step.done;
          await gate.pass();
          return Step.wait(60_000);
        },
      }),
    );
    await gate.reached;
    await inTransaction(dataSource, (tx) => wakeWorkflow(tx, id));
    gate.open();
    await running;
    expect(looks).toBe(2);
    expect(await instance(id)).toMatchObject({ state: 'DONE' });
  });

  it('continues a sleeping instance at its deadline, whatever the step waits for', async () => {
    const id = await newInstance(20_000);
    await runner.continue(JOB, id, definition({ a: () => Promise.resolve(Step.wait(180_000)) }));
    const [, wait = 0] = await sent(id);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(20_001);
  });

  it('enqueues a sleeping instance at once when it is woken, unless it has ended', async () => {
    const id = await newInstance();
    await runner.continue(JOB, id, definition({ a: () => Promise.resolve(Step.wait(30_000)) }));
    expect(await instance(id)).toMatchObject({ state: 'EXECUTING', lease_owner: null, attempt: 0 });
    expect(await sent(id)).toEqual([0, 30_000]);
    await inTransaction(dataSource, (tx) => wakeWorkflow(tx, id));
    expect(await sent(id)).toEqual([0, 30_000, 0]);
    await runner.continue(JOB, id, definition({ a: done }));
    await inTransaction(dataSource, (tx) => wakeWorkflow(tx, id));
    expect(await sent(id)).toEqual([0, 30_000, 0]);
  });

  it('retries a failing step with growing delays, and compensates after the last attempt', async () => {
    const failures: WorkflowFailure[] = [];
    const failing = definition(
      { a: done, b: () => Promise.reject(new Error('no answer')) },
      { compensate: (_context, failure) => Promise.resolve(void failures.push(failure)) },
    );
    const id = await newInstance();
    await runner.continue(JOB, id, failing);
    await runner.continue(JOB, id, failing);
    expect(failures).toEqual([]);
    expect(await instance(id)).toMatchObject({ step_index: 1, attempt: 2, ended: false });
    await runner.continue(JOB, id, failing);
    expect(failures).toEqual([{ step: 'b', message: 'no answer' }]);
    expect(await instance(id)).toMatchObject({ state: 'ERROR', ended: true });
    expect(await sent(id)).toEqual([0, BACKOFF_MS, 2 * BACKOFF_MS]);
    expect(await steps(id)).toEqual(['a done', 'b failed', 'b failed', 'b failed', 'compensate done']);
  });

  it('resets the attempts of a step after a success', async () => {
    let calls = 0;
    const flaky: Work = () => {
      calls += 1;
      return calls % 3 === 0 ? Promise.resolve(Step.done) : Promise.reject(new Error('not yet'));
    };
    const id = await newInstance();
    for (let time = 0; time < 5; time += 1) await runner.continue(JOB, id, definition({ a: flaky, b: flaky }));
    expect(await instance(id)).toMatchObject({ state: 'DONE' });
    expect(calls).toBe(6);
  });

  it.each([
    ['a permanent error', () => new PermanentError('no such disk')],
    ['an error that says so', () => Object.assign(new Error('no such disk'), { retryable: false })],
  ])('does not try again after %s', async (_what, error) => {
    const compensate = jest.fn(() => Promise.resolve());
    const id = await newInstance();
    await runner.continue(JOB, id, definition({ a: () => Promise.reject(error()), b: done }, { compensate }));
    expect(compensate).toHaveBeenCalledTimes(1);
    expect(await steps(id)).toEqual(['a failed', 'compensate done']);
  });

  it('fails a step that starts after the deadline', async () => {
    const compensate = jest.fn((_context: Context, _failure: WorkflowFailure) => Promise.resolve());
    const ran = jest.fn(done);
    const id = await newInstance(-1);
    await runner.continue(JOB, id, definition({ a: ran }, { compensate }));
    expect(ran).not.toHaveBeenCalled();
    expect(compensate.mock.calls[0]?.[1]).toEqual({
      step: 'a',
      message: 'The deadline of the operation passed in step a',
    });
    expect(await instance(id)).toMatchObject({ state: 'ERROR' });
  });

  it('names what a step waited for, or its failure, when the deadline passed', async () => {
    const late = () => dataSource.query(`UPDATE workflow_job_instances SET deadline_at = now() - interval '1 second'`);
    for (const work of [
      () => Promise.resolve(Step.wait(1, 'the provider is busy')),
      () => Promise.reject(new Error('the provider is busy')),
    ]) {
      const compensate = jest.fn((_context: Context, _failure: WorkflowFailure) => Promise.resolve());
      const id = await newInstance();
      const workflow = definition({ a: work }, { compensate });
      await runner.continue(JOB, id, workflow);
      await late();
      await runner.continue(JOB, id, workflow);
      const message = 'The deadline of the operation passed in step a: the provider is busy';
      expect(compensate.mock.calls[0]?.[1]).toEqual({ step: 'a', message });
    }
  });

  it('repeats a compensation until it succeeds', async () => {
    let tries = 0;
    const compensate = () => {
      tries += 1;
      return tries < 3 ? Promise.reject(new Error('still no answer')) : Promise.resolve();
    };
    const failing = definition({ a: () => Promise.reject(new PermanentError('bad')), b: done }, { compensate });
    const id = await newInstance();
    for (let time = 0; time < 3; time += 1) await runner.continue(JOB, id, failing);
    expect(tries).toBe(3);
    expect(await instance(id)).toMatchObject({ state: 'ERROR', ended: true });
    expect(await steps(id)).toEqual(['a failed', 'compensate failed', 'compensate failed', 'compensate done']);
  });

  describe('a compensation that cannot be done', () => {
    const fails = { a: () => Promise.reject(new PermanentError('bad')) };
    const givenUp: [WorkflowFailure, string][] = [];
    const giveUp = (_context: Context, failure: WorkflowFailure, problem: string) =>
      Promise.resolve(void givenUp.push([failure, problem]));

    beforeEach(() => givenUp.splice(0));

    it('is retried with growing delays, and abandoned with the latest cause after its time limit', async () => {
      const logger = createLogger('test', 'silent');
      const logged = jest.spyOn(logger, 'error');
      runner = new WorkflowRunner(dataSource, config, new WorkflowObserver(), makeWorker(1), logger);
      let cause = 'no answer';
      const compensate = jest.fn(() => Promise.reject(new Error(cause)));
      const hopeless = definition(fails, { compensate, giveUp });
      const id = await newInstance();
      await runner.continue(JOB, id, hopeless);
      await runner.continue(JOB, id, hopeless);
      expect(logged).toHaveBeenCalledTimes(1);
      cause = 'no such disk';
      await runner.continue(JOB, id, hopeless);
      await runner.continue(JOB, id, hopeless);
      expect(logged).toHaveBeenCalledTimes(2);
      expect(await sent(id)).toEqual([0, 2_000, 4_000, 8_000, 16_000]);
      expect(givenUp).toEqual([]);
      await dataSource.query(
        `UPDATE workflow_job_instances SET deadline_at = now() - interval '1 second' WHERE workflow_job_instance_id = $1`,
        [id],
      );
      await runner.continue(JOB, id, hopeless);
      expect(compensate).toHaveBeenCalledTimes(4);
      expect(givenUp).toEqual([[{ step: 'a', message: 'bad' }, 'no such disk']]);
      expect(await instance(id)).toMatchObject({ state: 'ERROR', ended: true });
      expect((await steps(id)).at(-1)).toBe('compensate given-up');
    });

    it('is retried at the time that the fault requests, unless that is at once or too late', async () => {
      const waits = [2_500, 3_000, 100, 3_600_000];
      const compensate = () => Promise.reject(Object.assign(new Error('busy'), { retryAfterMs: waits.shift() }));
      const patient = definition(fails, { compensate, giveUp, compensationMs: 600_000 });
      const id = await newInstance();
      for (let time = 0; time < 4; time += 1) await runner.continue(JOB, id, patient);
      expect(await sent(id)).toEqual([0, 2_500, 3_000, 2_000, 60_000]);
    });

    it('is abandoned at once if no retry can succeed', async () => {
      const compensate = () => Promise.reject(new PermanentError('no driver'));
      const id = await newInstance();
      await runner.continue(JOB, id, definition(fails, { compensate, giveUp }));
      expect(givenUp).toEqual([[{ step: 'a', message: 'bad' }, 'no driver']]);
      expect(await steps(id)).toEqual(['a failed', 'compensate given-up']);
    });

    it('has its own time limit, however late the failure was', async () => {
      const compensate = jest.fn(() => Promise.resolve());
      const id = await newInstance(-1);
      await runner.continue(JOB, id, definition({ a: done }, { compensate, giveUp }));
      expect(compensate).toHaveBeenCalledTimes(1);
      expect(givenUp).toEqual([]);
    });
  });

  it('ends without a trace if another operation has replaced it', async () => {
    const later = jest.fn(done);
    const id = await newInstance();
    await runner.continue(JOB, id, definition({ a: () => Promise.resolve(Step.superseded), b: later }));
    expect(later).not.toHaveBeenCalled();
    expect(await instance(id)).toMatchObject({ state: 'TERMINATED', ended: true });
  });

  it('releases its lease when it is asked to stop, and counts no attempt', async () => {
    const gate = new Gate();
    const id = await newInstance();
    const running = runner.continue(
      JOB,
      id,
      definition({
        a: async ({ signal }) => {
          await gate.pass();
          signal.throwIfAborted();
          return Step.done;
        },
        b: done,
      }),
    );
    await gate.reached;
    runner.stop();
    gate.open();
    await running;
    expect(await instance(id)).toMatchObject({ step_index: 0, attempt: 0, lease_owner: null, ended: false });
    expect(await sent(id)).toEqual([0, 0]);
    await other.continue(JOB, id, definition({ a: done, b: done }));
    expect(await steps(id)).toEqual(['a interrupted', 'a done', 'b done']);
  });

  it('is enqueued again, once, if it is due and no worker holds it', async () => {
    const id = await newInstance();
    const resend = () => inTransaction(dataSource, (tx) => requeueDueWorkflows(tx, 60_000));
    await resend();
    expect(await sent(id)).toEqual([0]);
    await dataSource.query(
      `UPDATE workflow_job_instances SET due_at = now() - interval '1 second' WHERE workflow_job_instance_id = $1`,
      [id],
    );
    await Promise.all([resend(), resend(), resend()]);
    expect(await sent(id)).toEqual([0, 0]);
  });

  it('writes a history without gaps', async () => {
    const id = await newInstance();
    await runner.continue(JOB, id, definition({ a: done }));
    const found = await dataSource.query<{ state: string; seamless: boolean }[]>(
      `SELECT state, to_date = coalesce(lead(from_date) OVER (ORDER BY workflow_job_instance_state_id), 'infinity')
         AS seamless FROM workflow_job_instance_states WHERE workflow_job_instance_id = $1
       ORDER BY workflow_job_instance_state_id`,
      [id],
    );
    expect(found).toEqual(['INIT', 'RECEIVED', 'EXECUTING', 'DONE'].map((state) => ({ state, seamless: true })));
  });

  it('followed its transition table in all of these tests', async () => {
    const [first, second] = [await newInstance(), await newInstance()];
    await markSent(autocommit(dataSource.manager), [first]);
    await runner.continue(JOB, first, definition({ a: done }));
    const failing = () => Promise.reject(new PermanentError('no'));
    await runner.continue(JOB, second, definition({ a: failing }, { compensate: () => Promise.resolve() }));
    const moves = await dataSource.query<{ from: WorkflowExecutionState; to: WorkflowExecutionState }[]>(
      `SELECT DISTINCT state AS "from", next AS "to" FROM (
         SELECT state, lead(state) OVER (PARTITION BY workflow_job_instance_id ORDER BY workflow_job_instance_state_id)
           AS next FROM workflow_job_instance_states) histories
       WHERE next IS NOT NULL`,
    );
    expect(moves).toEqual(
      expect.arrayContaining([
        { from: 'INIT', to: 'SENT' },
        { from: 'EXECUTING', to: 'ERROR' },
      ]),
    );
    expect(moves.filter(({ from, to }) => !mayFollow(WORKFLOW_TRANSITIONS, from, to))).toEqual([]);
  });
});
