import type { DataSource } from 'typeorm';
import {
  CostReportsRepository,
  type CostScope,
  type CostRow,
  type Kind,
} from '../../src/modules/execution/costs/cost-reports.repository';
import { RunCostsRepository } from '../../src/modules/execution/costs/run-costs.repository';
import { RunSharesRepository } from '../../src/modules/execution/costs/run-shares.repository';
import { inTransaction } from '../../src/platform/kernel/persistence/sql';
import { type SeededRandom, seededRandom } from '../harness/seeded-random.cjs';
import { makeBilling } from './harness/billed';
import { holdClock, setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';

const SEEDS = [1, 2, 3, 4, 5, 6];
const STEPS = 160;
const REQUESTED_MB = 1_000;
const NODE_MB = 4_096;
const START = Date.parse('2026-02-10T20:00:00Z');
const PERIOD = { from: '2026-02-01', until: '2026-12-31' };
const PARTS = ['day', 'workspace', 'cluster', 'user'] as const;

type Kinds = CostRow['kinds'];

interface TestNode {
  nodeId: number;
  isUp: boolean;
  /** Ends of its slots: each takes a run from then on. */
  freeFrom: number[];
  stays: { from: number; until: number | null; slots: number }[];
}

interface TestRun {
  id: number;
  node: TestNode;
  from: number;
  until: number | null;
  slot: number;
  /** MiB that it requested and did not use; null if it was not measured. */
  unusedMb: number | null;
}

/**
 * Whatever runs and nodes do, the shares of runs, added up by anything, and what is idle are the time of the nodes, and each share is
 * what integers say. Real: PostgreSQL, transitions, the ledger, its sums and those of runs. Left out: machines and agents.
 */
describe('the costs of runs', () => {
  const { dataSource } = preparedDatabase();

  it.each(SEEDS)('add up to the ledger to the millisecond (seed %d)', async (seed) => {
    await holdClock(dataSource);
    const random = seededRandom(seed);
    const world = new World(dataSource, random, await makeTenancy(dataSource.manager, `costs-${seed}`));
    for (let step = 0; step < STEPS; step += 1) {
      await world.step();
      if (step % 20 === 19) await world.check();
    }
    await world.sumUp();
    await world.check();
    expect(world.runs.length).toBeGreaterThan(20);
  });
});

class World {
  readonly runs: TestRun[] = [];
  private readonly nodes: TestNode[] = [];
  private readonly lives: NodeLives;
  private readonly billing: ReturnType<typeof makeBilling>;
  private readonly reports: CostReportsRepository;
  private clock = START;
  private slots = 3;

  constructor(
    private readonly dataSource: DataSource,
    private readonly random: SeededRandom,
    private readonly tenancy: Tenancy,
  ) {
    this.lives = new NodeLives(dataSource, makeLifecycle(dataSource));
    this.billing = makeBilling(dataSource);
    this.reports = new CostReportsRepository(dataSource);
  }

  async step(): Promise<void> {
    this.clock += this.random.below(this.random.next() < 0.2 ? 40_000_000 : 400_000);
    await setClock(this.dataSource, new Date(this.clock));
    const draw = this.random.next();
    const up = this.nodes.filter(({ isUp }) => isUp);
    if (draw < 0.05) await this.sumUp();
    else if (draw < 0.1) await this.billing.reconcile();
    else if (up.length === 0 || (draw < 0.18 && up.length < 3)) await this.start();
    else if (draw < 0.24) await this.stop(this.random.pick(up));
    else if (draw < 0.6) await this.submit(this.random.pick(up));
    else await this.end();
  }

  async sumUp(): Promise<void> {
    const shares = new RunSharesRepository();
    await inTransaction(this.dataSource, (tx) => shares.sumUp(tx, 1 + this.random.below(50)));
  }

  private async start(): Promise<void> {
    // A cluster may hold another number of runs the next time; those of a node stay.
    this.slots = 1 + this.random.below(7);
    await this.dataSource.query('UPDATE clusters SET max_parallel_jobs = $2 WHERE cluster_id = $1', [
      this.tenancy.clusterId,
      this.slots,
    ]);
    const nodeId = await this.lives.plan(this.tenancy, {
      machine_price_ycu: this.random.pick([2.5, 0.1, 5.44]),
      memory_mb: NODE_MB,
    });
    await this.lives.move(nodeId, 'RUNNING');
    const freeFrom = Array.from({ length: this.slots }, () => this.clock);
    this.nodes.push({ nodeId, isUp: true, freeFrom, stays: [{ from: this.clock, until: null, slots: this.slots }] });
  }

  private async stop(node: TestNode): Promise<void> {
    await this.lives.move(node.nodeId, 'DESTROYED');
    node.isUp = false;
    node.stays.at(-1)!.until = this.clock;
  }

  /** Takes a slot that is free, if there is one. */
  private async submit(node: TestNode): Promise<void> {
    const slot = node.freeFrom.findIndex((free) => free <= this.clock);
    if (slot < 0) return;
    const { tenantId, workspaceId, clusterId, jobConfId, userId } = this.tenancy;
    const { run_id: id } = await insertPlain<{ run_id: number }>(this.dataSource.manager, 'runs', {
      tenant_id: tenantId,
      workspace_id: workspaceId,
      cluster_id: clusterId,
      job_conf_id: jobConfId,
      created_by_user_id: this.random.next() < 0.3 ? null : userId,
      node_id: node.nodeId,
      status: 'RUNNING',
      job_conf_snapshot: { name: 'sum', job_type: 'SPARK_JOB', language: 'Python3', job_conf_id: jobConfId },
      assigned_at: new Date(this.clock),
    });
    node.freeFrom[slot] = Infinity;
    this.runs.push({ id: Number(id), node, from: this.clock, until: null, slot, unusedMb: null });
  }

  /** A run may outlive its node for a while. */
  private async end(): Promise<void> {
    const running = this.runs.filter(({ until }) => until === null);
    if (running.length === 0) return;
    const run = this.random.pick(running);
    run.until = this.clock;
    run.node.freeFrom[run.slot] = this.clock;
    const peak = run.id % 3 === 0 ? null : 1 + ((run.id * 389) % 1_200);
    run.unusedMb = peak === null ? null : Math.max(0, REQUESTED_MB - peak);
    await this.dataSource.query(
      `UPDATE runs SET status = 'DONE', ended_at = $2, requested_memory_mb = $3, peak_memory_mb = $4 WHERE run_id = $1`,
      [run.id, new Date(this.clock), peak === null ? null : REQUESTED_MB, peak],
    );
  }

  async check(): Promise<void> {
    const period = { ...PERIOD, at: await this.billing.service.now() };
    const { total, unused, ...by } = await this.sums(period);
    const expected = this.runs.map((run) => [run.id, this.shareOf(run)] as const);
    const shares = new Map(expected.filter(([, share]) => share > 0));
    // Each run costs what integers say, alone and in the list.
    expect(new Map(by.run)).toEqual(shares);
    const one = this.random.pick(this.runs.length > 0 ? this.runs : [null]);
    if (one) {
      const { node_ms: ms, intervals } = await new RunCostsRepository(this.dataSource).cost(one.id, []);
      expect(ms).toBe(this.shareOf(one));
      expect(intervals.reduce((sum, interval) => sum + interval.share_ms, 0)).toBe(ms);
    }
    const runs = sum([...shares.values()]);
    const nodes = sum(this.nodes.flatMap(({ stays }) => stays.map(({ from, until }) => (until ?? this.clock) - from)));
    expect(total).toEqual({ runs, nodes, idle: nodes - runs });
    expect(total.idle).toBeGreaterThanOrEqual(0);
    // So do the shares that were measured, and the memory that they did not use.
    const measured = this.runs.filter(({ unusedMb }) => unusedMb !== null);
    const mbMs = sum(measured.map((run) => (run.unusedMb ?? 0) * this.heldBy(run)));
    const gibHours = Number((BigInt(mbMs) * 1_000_000n + 1_843_200_000n) / 3_686_400_000n) / 1e6;
    expect(unused.total).toEqual([sum(measured.map((run) => this.shareOf(run))), gibHours]);
    for (const part of unused.parts) expect(part).toBeLessThanOrEqual(1);
    for (const part of PARTS) expect([part, sum(by[part].map(([, ms]) => ms))]).toEqual([part, runs]);
    // No day and no cluster has less idle time than none.
    for (const { kinds } of by.lines) expect(kinds.idle?.node_ms ?? 0).toBeGreaterThanOrEqual(0);
  }

  private async sums(period: Parameters<CostReportsRepository['lines']>[1]) {
    const { tenantId, userId } = this.tenancy;
    const all = { workspaceId: null, clusterIds: null, createdByIds: null };
    const scope: CostScope = { tenantId, userId, username: 'test', everyone: true, ...all };
    const page = { limit: 1_000, after: null };
    const lines = await Promise.all(PARTS.map((part) => this.reports.lines(scope, period, [], { part, ...page })));
    const pair = (row: { id: number; kinds: Partial<Record<Kind, { node_ms: number }>> }): [number, number] => [
      row.id,
      row.kinds.runs?.node_ms ?? 0,
    ];
    const [day = [], workspace = [], cluster = [], user = []] = lines;
    const runs = await this.reports.runs(scope, period, [], page);
    const run = runs.map(pair);
    const kinds = await this.reports.total(scope, period, []);
    const of = (kind: Kind) => kinds[kind]?.node_ms ?? 0;
    return {
      run,
      day: day.map(pair),
      workspace: workspace.map(pair),
      cluster: cluster.map(pair),
      user: user.map(pair),
      lines: [...day, ...cluster],
      total: { runs: of('runs'), nodes: of('nodes'), idle: of('idle') },
      unused: unusedOf(kinds, [...day, ...runs]),
    };
  }

  /** Returns the milliseconds for which a run held its slot while the node was RUNNING. */
  private heldBy({ node, from, until }: TestRun): number {
    return sum(
      node.stays.map((stay) => {
        const end = Math.min(until ?? this.clock, stay.until ?? this.clock);
        return Math.max(0, end - Math.max(from, stay.from));
      }),
    );
  }

  private shareOf({ node, from, until }: TestRun): number {
    return sum(
      node.stays.map((stay) => {
        const begin = Math.max(from, stay.from) - stay.from;
        const end = Math.min(until ?? this.clock, stay.until ?? this.clock) - stay.from;
        return begin < end ? Math.floor(end / stay.slots) - Math.floor(begin / stay.slots) : 0;
      }),
    );
  }
}

/** Returns the measured time and the unused GiB hours of all runs, and which part of each line's units unused memory is. */
function unusedOf(kinds: Kinds, lines: readonly { kinds: Kinds }[]) {
  const { measured_ms: ms = 0, unused_gib_hours: hours = 0 } = kinds.runs ?? {};
  return {
    total: [ms, Number(hours)],
    parts: lines.map(({ kinds: { runs } }) => (runs ? Number(runs.unused_ycu) / Math.max(1e-9, Number(runs.ycu)) : 0)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
