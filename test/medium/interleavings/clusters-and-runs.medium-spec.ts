import type { RunReport } from '../../../libs/contracts/agent-protocol';
import type { SeededRandom } from '../../harness/seeded-random.cjs';
import { ClusterNodesService } from '../../../src/modules/execution/clusters/nodes/cluster-nodes.service';
import { ClusterResizesService } from '../../../src/modules/execution/clusters/definition/cluster-resizes.service';
import { ClusterOperationsService } from '../../../src/modules/execution/clusters/lifecycle/cluster-operations.service';
import { RunReportsService } from '../../../src/modules/execution/runs/jobs/run-reports.service';
import { RunScheduler } from '../../../src/modules/execution/runs/jobs/run-scheduler.service';
import { JobsService } from '../../../src/modules/execution/runs/jobs/jobs.service';
import type { WorkspaceScope } from '../../../src/platform/kernel/auth/principal';
import { DomainError } from '../../../src/platform/kernel/errors/domain-error';
import { Transactions } from '../../../src/platform/kernel/persistence/transactions';
import { type Ground, makeGround } from './ground';
import { Crashed, type Deed } from './interleaving';
import { seedsOf } from './seeds';
import { randomFor, OUTCOMES, STOPPED_OUTCOMES, World } from './world';

interface UnfinishedRun {
  run_id: string;
  node_id: string;
  report_seq: string;
  stop_requested: boolean;
}

const READY = { state: 'ready', master_url: null, error: null } as const;

// Real: PostgreSQL and the services of API and worker. Left out: HTTP, Redis, machines and their agents, whose reports
// the tests send.
describe('clusters and runs, in every order of statements', () => {
  let world: World;

  beforeAll(async () => {
    world = await World.make();
  });

  afterAll(() => world?.close());

  const scope = (): WorkspaceScope => {
    const { tenantId, userId, workspaceId } = world.tenancy;
    return {
      tenantId,
      userId,
      username: 'test',
      workspace: { workspaceId, name: 'test', description: null, active: true },
    };
  };

  const submit = ({ jobConfId }: Ground) => world.get(JobsService).submit(scope(), { job_conf_id: jobConfId });

  async function stop({ clusterId }: Ground, random: SeededRandom): Promise<void> {
    const found = await world.sql<{ run_id: string }>('SELECT run_id FROM runs WHERE cluster_id = $1 ORDER BY 1', [
      clusterId,
    ]);
    if (found.length > 0) await world.get(JobsService).stop(scope(), Number(random.pick(found).run_id));
  }

  function unfinished({ clusterId }: Ground): Promise<UnfinishedRun[]> {
    return world.sql<UnfinishedRun>(
      `SELECT run_id, node_id, report_seq, stop_requested FROM runs
       WHERE cluster_id = $1 AND node_id IS NOT NULL AND ended_at IS NULL ORDER BY run_id`,
      [clusterId],
    );
  }

  async function report(run: UnfinishedRun, random: SeededRandom, state: RunReport['state']): Promise<void> {
    const ended = state === 'ended';
    const runReport: RunReport = {
      ...{ run_id: run.run_id, seq: Number(run.report_seq) + 1, state, application_id: `local-${run.run_id}` },
      outcome: ended ? random.pick(run.stop_requested ? STOPPED_OUTCOMES : OUTCOMES) : null,
      ...{ reason: ended ? 'COMPLETED' : null, message: 'told by the test', exit_code: null, pid: null },
      at: new Date().toISOString(),
    };
    await ofNode(Number(run.node_id), (node) =>
      world.get(Transactions).run((tx) => world.get(RunReportsService).applyReport(tx, node, runReport)),
    );
  }

  async function ofNode(nodeId: number, use: (node: never) => Promise<unknown>): Promise<void> {
    const [node] = await world.sql<object>('SELECT node_id::int, cluster_id::int, tenant_id FROM cluster_nodes WHERE node_id = $1', [nodeId]); // oxfmt-ignore
    await use(node as never);
  }

  async function reportOne(ground: Ground, random: SeededRandom): Promise<void> {
    const runs = await unfinished(ground);
    if (runs.length > 0) await report(random.pick(runs), random, random.pick(['running', 'ended', 'ended']));
  }

  /** Running agents report that they are ready. */
  async function reportReady({ clusterId }: Ground): Promise<void> {
    const nodes = await world.sql<{ node_id: string }>(
      `SELECT node_id FROM cluster_nodes WHERE cluster_id = $1 AND provider_ref IS NOT NULL AND to_date = 'infinity'
         AND status IN ('INITIATING', 'RUNNING') AND daemons_state <> 'ready' ORDER BY node_id`,
      [clusterId],
    );
    const service = world.get(ClusterNodesService);
    for (const { node_id: id } of nodes)
      await world.get(Transactions).run((tx) => service.recordDaemons(tx, Number(id), READY));
  }

  /** Spark of a node fails permanently. */
  async function loseOne({ clusterId }: Ground, random: SeededRandom): Promise<void> {
    const nodes = await world.sql<{ node_id: string }>(
      `SELECT node_id FROM cluster_nodes WHERE cluster_id = $1 AND status = 'RUNNING' ORDER BY node_id`,
      [clusterId],
    );
    if (nodes.length === 0) return;
    const failed = { state: 'failed', master_url: null, error: 'its Spark failed' } as const;
    const service = world.get(ClusterNodesService);
    const nodeId = Number(random.pick(nodes).node_id);
    await world.get(Transactions).run((tx) => service.recordDaemons(tx, nodeId, failed));
  }

  /** Agents work undisturbed: they start, and end every run. */
  async function agents(ground: Ground, random: SeededRandom): Promise<void> {
    await reportReady(ground);
    for (const run of await unfinished(ground)) await report(run, random, 'ended');
  }

  const operate = ({ clusterId }: Ground, operation: 'start' | 'stop' | 'destroy') =>
    world.get(ClusterOperationsService)[operation](scope(), { id: clusterId });

  /** A user changes one of the bounds, or both. */
  function resize({ clusterId }: Ground, random: SeededRandom): Promise<unknown> {
    const [min, max] = [random.between(1, 3), random.between(1, 3)];
    const bounds = random.pick([
      { min_instances: min },
      { max_instances: max },
      { min_instances: min, max_instances: max },
    ]);
    return world.get(ClusterResizesService).resize(scope(), { ...bounds, selector: () => ({ id: clusterId }) });
  }

  /** Returns the deeds of a seed: a selection, each of which may be ended by a crash. */
  function deedsOf(seed: number, ground: Ground): Deed[] {
    const random = randomFor(seed, 1);
    const kinds: Record<string, () => Promise<unknown>> = {
      submit: () => submit(ground),
      'submit another': () => submit(ground),
      'submit twice': async () => (await submit(ground), submit(ground)),
      stop: () => stop(ground, random),
      report: () => reportOne(ground, random),
      'report another': () => reportOne(ground, random),
      settle: () => world.get(RunScheduler).schedule(ground.clusterId),
      reconcile: () => world.reconcileJobs(),
      'stop the cluster': () => operate(ground, 'stop'),
      'start the cluster': () => operate(ground, 'start'),
      'destroy the cluster': () => operate(ground, 'destroy'),
      'relay and deliver': async () => {
        await world.relay();
        for (let count = random.below(3); count > 0; count -= 1) await world.deliver(random);
      },
      deliver: () => world.deliver(random),
      'agents come up': () => reportReady(ground),
      'resize the cluster': () => resize(ground, random),
      'resize it again': () => resize(ground, random),
      scale: () => world.scale(ground.clusterId),
      'scale again': () => world.scale(ground.clusterId),
      'lose a node': () => loseOne(ground, random),
      'time passes': () => world.passLease().then(() => world.reconcileWorkflows()),
      'messages are lost': async () => world.forgetMessages(),
    };
    return random
      .shuffled(Object.entries(kinds))
      .slice(0, random.between(3, 5))
      .map(([name, act]) => ({ name, act, ...(random.below(6) === 0 ? { crashAt: random.between(1, 12) } : {}) }));
  }

  async function expectHolds(seed: number): Promise<void> {
    const random = randomFor(seed, 2);
    const ground = await makeGround(world, random);
    // Work is already in progress when the deeds start.
    for (let count = random.below(4); count > 0; count -= 1) await submit(ground).catch(ignoreRefusal);
    const outcomes = await world.interleaving.run(seed, deedsOf(seed, ground));
    const { trace } = world.interleaving;
    const wrong = outcomes.filter(({ error }) => error !== null && !isExpected(error));
    await world.comeToRest(ground.clusterId, () => agents(ground, random));
    const broken = await world.brokenAtRest(ground.clusterId);
    if (wrong.length === 0 && broken.length === 0) return;
    const errors = wrong.map(({ name, error }) => `${name}: ${(error as Error).stack}`);
    throw new Error([`Seed ${seed} does not hold`, ...errors, ...broken, 'What went on:', ...trace].join('\n'));
  }

  it.each(seedsOf(160, 2_000))('satisfy their invariants: seeds %i to %i', async (first, last) => {
    for (let seed = first; seed <= last; seed += 1) await expectHolds(seed);
  });
});

function isExpected(error: unknown): boolean {
  return error instanceof DomainError || error instanceof Crashed;
}

function ignoreRefusal(error: unknown): void {
  if (!isExpected(error)) throw error;
}
