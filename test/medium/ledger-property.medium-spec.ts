import type { DataSource } from 'typeorm';
import { type SeededRandom, seededRandom } from '../harness/seeded-random.cjs';
import { ClusterSubscriber } from '../../src/modules/execution/clusters';
import { NODE_TRANSITIONS, type NodeStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import type { UsageLine } from '../../src/modules/execution/billing/usage.repository';
import { rebuildUsage, verifyBilling } from '../../src/modules/execution/billing/billing-checks';
import { makeBilling } from './harness/billed';
import { setClock } from './harness/clock';
import { makeLifecycle } from './harness/cluster-lifecycle';
import { NodeLives } from './harness/node-lives';
import { makeTenancy, type Tenancy } from './harness/records';
import { preparedDatabase } from './harness/test-api';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const STEPS = 250;
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-30T20:00:00Z');
const PERIOD = { from: '2026-01-01', until: '2026-12-31' };
const LABELS: Record<string, string>[] = [{}, { team: 'a' }, { team: 'a', stage: 'prod' }];
/** Prices with more digits than floating-point sums could hold. */
const PRICES = [2.5, 0.1, 5.44];
const MACHINE_TYPES = [1486, 1487];

/** A node and the test's own record of it. */
interface Life {
  nodeId: number;
  status: NodeStatus;
  tenancy: Tenancy;
  machineTypeId: number;
  price: number;
  labels: Record<string, string>;
}

interface Stay {
  node_state_id: number;
  node_id: number;
  start_time: Date;
  end_time: Date | number;
}

/** A release before the ledger: no subscriber books its transitions. */
class Nobody extends ClusterSubscriber {
  readonly domain = 'billing';
  readonly on = {};
}

/**
 * Whatever happens to nodes, the ledger and its sums equal a calculation with integers from the histories.
 * Real: PostgreSQL, transitions, subscribers, reconciler. Left out: machines.
 */
describe('the ledger', () => {
  const { dataSource } = preparedDatabase();

  it.each(SEEDS)('equals the histories of random lives (seed %d)', async (seed) => {
    const random = seededRandom(seed);
    const billing = makeBilling(dataSource);
    const lives = new NodeLives(dataSource, makeLifecycle(dataSource));
    const unbooked = new NodeLives(dataSource, makeLifecycle(dataSource, [new Nobody()]));
    const tenancies = [0, 1].map((index) => makeTenancy(dataSource.manager, `seed-${seed}-${index}`));
    const world: Tenancy[] = await Promise.all(tenancies);
    const nodes: Life[] = [];
    const names = new Map<number, string>();
    let clock = START;

    const plan = async () => {
      const tenancy = random.pick(world);
      const life = {
        tenancy,
        machineTypeId: random.pick(MACHINE_TYPES),
        price: random.pick(PRICES),
        labels: random.pick(LABELS),
      };
      const billed = { machine_type_id: life.machineTypeId, machine_price_ycu: life.price, labels: life.labels };
      nodes.push({ ...life, nodeId: await lives.plan(tenancy, billed), status: 'INITIATING' });
    };

    const move = async () => {
      const life = random.pick(nodes);
      // Half of the steps go to RUNNING where that is possible.
      const next = NODE_TRANSITIONS[life.status];
      if (next.length === 0) return;
      const to = next.includes('RUNNING') && random.next() < 0.7 ? 'RUNNING' : random.pick(next);
      const how = random.next();
      if (how < 0.15) {
        const crash = () => Promise.reject(new Error('crashed'));
        await expect(lives.move(life.nodeId, to, crash)).rejects.toThrow('crashed');
        return;
      }
      await (how < 0.25 ? unbooked : lives).move(life.nodeId, to);
      life.status = to;
      if (how < 0.25) await billing.reconcile();
      if (to === 'RUNNING') await remember(life);
    };

    const remember = async ({ nodeId, tenancy }: Life) => {
      const [entry] = await dataSource.query<{ node_state_id: number; name: string }[]>(
        `SELECT s.node_state_id, t.name FROM node_states s, tenants t
         WHERE s.node_id = $1 AND s.end_time = 'infinity' AND t.tenant_id = $2`,
        [nodeId, tenancy.tenantId],
      );
      names.set(entry!.node_state_id, entry!.name);
    };

    const step = async () => {
      const draw = random.next();
      if (nodes.length < 3 || draw < 0.12) return plan();
      if (draw < 0.18) return billing.reconcile();
      if (draw < 0.22) return rename(random, random.pick(world), dataSource);
      clock += clockStep(random);
      await setClock(dataSource, new Date(clock));
      return move();
    };

    const check = async () => {
      const at = await billing.usage.now();
      const tenantIds = world.map(({ tenantId }) => tenantId);
      const lines = (await billing.usage.usage({ tenantIds }, { ...PERIOD, at }, 'columns')) as UsageLine[];
      const stays = await dataSource.query<Stay[]>(
        `SELECT node_state_id, node_id, start_time, end_time FROM node_states
         WHERE status = 'RUNNING' AND node_id = ANY($1) ORDER BY start_time, node_state_id`,
        [nodes.map(({ nodeId }) => nodeId)],
      );
      expect(lines.map(comparable).sort()).toEqual(expectedLines(stays, nodes, names, at).sort());
    };

    for (let count = 1; count <= STEPS; count += 1) {
      await step();
      if (count % 8 === 0) await check();
    }
    await check();
    expect(await verifyBilling(billing.ledger, billing.usage)).toMatchObject({
      differences: [],
      total: 0,
      wrongSums: 0,
    });
    await billing.reconcile();
    await check();
    const kept = await sums(dataSource);
    await rebuildUsage(dataSource, billing.ledger, billing.usage);
    expect(await sums(dataSource)).toBe(kept);
    await check();
  });
});

/** Moves time mostly forward, often past midnight, and sometimes back. */
function clockStep(random: SeededRandom): number {
  const draw = random.next();
  if (draw < 0.1) return -random.below(30 * 3_600_000);
  if (draw < 0.4) return random.below(60_000);
  return random.below(9 * 3_600_000);
}

async function rename(random: SeededRandom, { tenantId }: Tenancy, dataSource: DataSource): Promise<void> {
  const name = `renamed-${tenantId.slice(0, 8)}-${random.below(1_000_000)}`;
  await dataSource.query('UPDATE tenants SET name = $2 WHERE tenant_id = $1', [tenantId, name]);
}

async function sums(dataSource: DataSource): Promise<string> {
  const [dump] = await dataSource.query<{ text: string }[]>(
    `SELECT coalesce((SELECT string_agg(d::text, E'\\n' ORDER BY usage_date, tenant_id, cluster_id, machine_type_id, labels_key)
       FROM usage_days d), '')
     || coalesce((SELECT string_agg(g::text, E'\\n' ORDER BY cluster_id, tenant_id, machine_type_id, labels_key)
       FROM usage_groups g), '') AS text`,
  );
  return dump!.text;
}

function comparable(line: UsageLine): string {
  const { usage_date, cluster_id, machine_type_id, labels, tenant_name, node_count, running_seconds, ycu } = line;
  return [
    usage_date,
    cluster_id,
    machine_type_id,
    JSON.stringify(labels),
    tenant_name,
    node_count,
    running_seconds,
    ycu,
  ].join(' ');
}

interface Sum {
  ms: bigint;
  /** The price in hundredths. */
  ycuMs: bigint;
  name: string;
  spans: Map<number, [number, number][]>;
}

/** Calculates the same without SQL: with integers, and at every moment at which a state begins. */
function expectedLines(stays: Stay[], nodes: Life[], names: Map<number, string>, at: Date): string[] {
  const groups = new Map<string, Sum>();
  for (const stay of stays) {
    const life = nodes.find(({ nodeId }) => nodeId === stay.node_id)!;
    const began = stay.start_time.getTime();
    const isOpen = typeof stay.end_time === 'number';
    const ended = isOpen ? at.getTime() : (stay.end_time as Date).getTime();
    if (!isOpen && ended <= began) continue;
    const first = Math.floor(began / DAY_MS);
    // A node that still runs counts as existing until the end of the last requested day.
    const last = isOpen ? Math.floor(Date.parse('2026-12-31T00:00:00Z') / DAY_MS) : Math.floor((ended - 1) / DAY_MS);
    for (let day = first; day <= last; day += 1) {
      const [from, until] = [Math.max(began, day * DAY_MS), (day + 1) * DAY_MS];
      const ms = BigInt(Math.max(0, Math.min(ended, until) - from));
      const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
      const key = `${date} ${life.tenancy.clusterId} ${life.machineTypeId} ${JSON.stringify(life.labels)}`;
      const sum = groups.get(key) ?? { ms: 0n, ycuMs: 0n, name: '', spans: new Map<number, [number, number][]>() };
      groups.set(key, sum);
      sum.ms += ms;
      sum.ycuMs += ms * BigInt(Math.round(life.price * 100));
      // The name is that of the last counted state.
      if (ms > 0n) sum.name = names.get(stay.node_state_id)!;
      const spans = sum.spans.get(life.nodeId) ?? [];
      sum.spans.set(life.nodeId, [...spans, [from, isOpen ? until : Math.min(ended, until)]]);
    }
  }
  return [...groups]
    .filter(([, { ms }]) => ms > 0n)
    .map(([key, { ms, ycuMs, name, spans }]) => {
      const all = [...spans.values()];
      const running = (moment: number) => all.filter((each) => each.some(([a, b]) => a <= moment && moment < b)).length;
      const peak = Math.max(...all.flatMap((each) => each.map(([from]) => running(from))));
      const seconds = (2n * ms + 1000n) / 2000n;
      const millionths = (2n * ycuMs * 10_000n + 3_600_000n) / 7_200_000n;
      return `${key} ${name} ${peak} ${seconds} ${decimal(millionths)}`;
    });
}

function decimal(millionths: bigint): string {
  const text = String(millionths).padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, '');
}
