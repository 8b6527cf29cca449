import { DataSource } from 'typeorm';
import type { SeededRandom } from '../../harness/seeded-random.cjs';
import { Config } from '../../../src/config/config';
import { STOP_CLUSTER } from '../../../src/modules/execution/clusters/lifecycle/cluster-workflows';
import { LOGGER } from '../../../src/platform/kernel/logging/logger';
import {
  PermanentError,
  Step,
  type StepOutcome,
  type Workflow,
} from '../../../src/platform/background/workflows/workflow-definition';
import { startWorkflow, wakeWorkflow } from '../../../src/platform/background/workflows/workflow-intents';
import { WorkflowObserver } from '../../../src/platform/background/workflows/workflow-observer';
import { WorkflowRunner } from '../../../src/platform/background/workflows/workflow-runner';
import { makeWorker } from '../harness/this-worker';
import { makeGround } from './ground';
import { Crashed, type Deed } from './interleaving';
import { seedsOf } from './seeds';
import { randomFor, World } from './world';
import { inTransaction } from '../../../src/platform/kernel/persistence/sql';

const STEPS = ['first', 'second', 'third'];
/** After this many attempts every step succeeds, so that each workflow can end. */
const RANDOM_ATTEMPTS = 6;

interface RecordedStep {
  name: string;
  outcome: string | null;
}

// Real: PostgreSQL, the runner, intents, relay and reconciler. Left out: BullMQ, and what a step would do.
describe('workflows and their outbox, in every order of statements', () => {
  let world: World;
  let workers = 0;

  beforeAll(async () => {
    world = await World.make();
  });

  afterAll(() => world?.close());

  const dataSource = () => world.get(DataSource);

  function newRunner(): WorkflowRunner {
    workers += 1;
    const worker = makeWorker(workers);
    return new WorkflowRunner(dataSource(), world.get(Config), new WorkflowObserver(), worker, world.app.get(LOGGER));
  }

  /** Steps that read something and then succeed, wait, fail or are superseded, at random. */
  function whimsical(random: SeededRandom): Workflow<'cluster'> {
    let whims = 0;
    const act = async (): Promise<StepOutcome> => {
      await dataSource().query('SELECT 1');
      whims += 1;
      const draw = whims > RANDOM_ATTEMPTS ? 0 : random.below(12);
      if (draw === 11) throw new PermanentError('as it likes');
      if (draw === 10) return Step.superseded;
      if (draw >= 8) throw new Error('as it likes');
      return draw >= 6 ? Step.wait(1_000) : Step.done;
    };
    return {
      steps: STEPS.map((name) => ({ name, run: act })),
      ...{ attempts: 3, backoffMs: 100, compensationMs: 600_000 },
      compensate: async () => {
        whims += 1;
        if (whims <= RANDOM_ATTEMPTS && random.below(2) === 0) throw new Error('as it likes');
      },
      giveUp: () => Promise.resolve(),
    };
  }

  function deedsOf(seed: number, instanceId: number, work: Workflow<'cluster'>): Deed[] {
    const random = randomFor(seed, 1);
    const runners = [newRunner(), newRunner()];
    const go = () => random.pick(runners).continue(STOP_CLUSTER, instanceId, work);
    const kinds: Record<string, () => Promise<unknown>> = {
      'a delivery': go,
      'the same delivery': go,
      'one more delivery': go,
      'relay and deliver': () => world.relay().then(() => world.deliver(random)),
      relay: () => world.relay(),
      'a wake-up': () => inTransaction(dataSource(), (tx) => wakeWorkflow(tx, instanceId)),
      'time passes': () => world.passLease().then(() => world.reconcileWorkflows()),
      'more time passes': () => world.passLease().then(go),
      'a worker stops': async () => runners[0]?.stop(),
      'messages are lost': async () => world.forgetMessages(),
    };
    return random
      .shuffled(Object.entries(kinds))
      .slice(0, random.between(3, 6))
      .map(([name, act]) => ({ name, act, ...(random.below(5) === 0 ? { crashAt: random.between(1, 15) } : {}) }));
  }

  /** Returns the violations of this rule: each step is committed once, in order, by the holder of the lease. */
  async function brokenSteps(instanceId: number): Promise<string[]> {
    const done = await world.sql<RecordedStep>(
      `SELECT name, outcome FROM workflow_steps WHERE workflow_job_instance_id = $1 AND outcome = 'done'
         AND name <> 'compensate' ORDER BY ended_at, workflow_step_id`,
      [instanceId],
    );
    const [instance] = await world.sql<{ state: string; step_index: number; failed: boolean }>(
      `SELECT state, step_index, failure IS NOT NULL AS failed FROM workflow_job_instances WHERE workflow_job_instance_id = $1`,
      [instanceId],
    );
    const names = done.map(({ name }) => name);
    const inOrder = names.join() === STEPS.slice(0, names.length).join();
    const isWhole = instance?.state !== 'DONE' || names.length === STEPS.length;
    const isCounted = instance?.failed === true || instance?.step_index === names.length;
    if (inOrder && isWhole && isCounted) return [];
    return [`steps done: ${names.join(', ')}; instance: ${JSON.stringify(instance)}`];
  }

  async function expectHolds(seed: number): Promise<void> {
    const { clusterId } = await makeGround(world, randomFor(seed, 2));
    const subject = { kind: 'cluster' as const, tenantId: world.tenancy.tenantId, id: clusterId };
    const { workflow_job_instance_id: id } = await inTransaction(dataSource(), (tx) =>
      startWorkflow(tx, STOP_CLUSTER, subject, null),
    );
    const work = whimsical(randomFor(seed, 3));
    const after = newRunner();
    world.handleWith(STOP_CLUSTER.jobName, (payload) =>
      after.continue(STOP_CLUSTER, payload.workflow_job_instance_id, work),
    );
    const outcomes = await world.interleaving.run(seed, deedsOf(seed, id, work));
    const { trace } = world.interleaving;
    const wrong = outcomes.filter(({ error }) => error !== null && !(error instanceof Crashed));
    await world.comeToRest(clusterId, () => Promise.resolve());
    const broken = [...(await world.brokenAtRest(clusterId)), ...(await brokenSteps(id))];
    if (wrong.length === 0 && broken.length === 0) return;
    const errors = wrong.map(({ name, error }) => `${name}: ${(error as Error).stack}`);
    throw new Error([`Seed ${seed} does not hold`, ...errors, ...broken, 'What went on:', ...trace].join('\n'));
  }

  it.each(seedsOf(160, 2_000))('satisfy their invariants: seeds %i to %i', async (first, last) => {
    for (let seed = first; seed <= last; seed += 1) await expectHolds(seed);
  });
});
