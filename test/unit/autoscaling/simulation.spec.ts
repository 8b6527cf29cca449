import { decideScaling } from '../../../src/modules/execution/clusters/scaling/scaling-decision';
import { loads, type Load } from './loads';
import { oracleOf } from './oracle';
import { DECIDES_EVERY_MS, POLICY, Simulation, type Outcome, type Policy } from './simulation';

const SEEDS = [1, 2, 3];
const NAMES = loads(0).map(({ name }) => name);
/** Maximum node time of the policy, as a multiple of the oracle's bound. */
const LIMIT = 1.15;
/**
 * The tasks of an hour end one by one. A policy that does not know when cannot place them so that nodes become free
 * together, as the oracle can. This matters more with a short timeout.
 */
const LIMITS = new Map([['an hourly fan-out with a short timeout', 1.25]]);

const EAGER: Policy = { ...POLICY, decide: (facts) => decideScaling({ ...facts, recentRunMs: null }) };

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

describe.each(NAMES)('%s', (name) => {
  const drawn = SEEDS.map((seed) => loads(seed).find((load) => load.name === name) as Load);
  let outcomes: { load: Load; outcome: Outcome }[];

  beforeAll(() => {
    outcomes = drawn.map((load) => ({ load, outcome: new Simulation(load).run() }));
  });

  it('costs little more than an oracle with the same waiting times, and resizes hardly more often', () => {
    const bounds = outcomes.map(({ load, outcome }) => oracleOf(load, outcome));
    const nodeMs = total(outcomes.map(({ outcome }) => outcome.nodeMs));
    const ratio = nodeMs / total(bounds.map((bound) => bound.nodeMs));
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(LIMITS.get(name) ?? LIMIT);
    const resizes = total(outcomes.map(({ outcome }) => outcome.resizes));
    expect(resizes).toBeLessThanOrEqual(1.1 * total(bounds.map(({ changes }) => changes)));
  });

  it('lets runs wait hardly longer than a policy that requests a node for each waiting run', () => {
    for (const { load, outcome } of outcomes) {
      const eager = new Simulation(load, EAGER).run();
      expect(outcome.meanWaitMs - eager.meanWaitMs).toBeLessThan(15_000);
      expect(outcome.maxWaitMs - eager.maxWaitMs).toBeLessThan(load.startTimeMs + DECIDES_EVERY_MS);
    }
  });

  it('runs each job once, stays between minimum and maximum, and removes only idle nodes', () => {
    for (const { load, outcome } of outcomes) {
      expect(outcome.runs).toHaveLength(load.runs.length);
      for (const { facts, decision } of outcome.decisions) {
        const there = facts.nodes.filter(({ phase }) => phase === 'ready' || phase === 'starting').length;
        if (decision.kind === 'grow') {
          expect(facts.waitingRuns).toBeGreaterThan(0);
          expect(there + decision.by).toBeLessThanOrEqual(load.maxInstances);
        }
        if (decision.kind === 'shrink') {
          expect(there - decision.nodeIds.length).toBeGreaterThanOrEqual(load.minInstances);
          const leaving = facts.nodes.filter(({ nodeId }) => decision.nodeIds.includes(nodeId));
          expect(leaving.every(({ busySlots }) => busySlots === 0)).toBe(true);
        }
      }
    }
  });
});

it('keeps its nodes through pauses that are shorter than the timeout', () => {
  const load = loads(1).find(({ name }) => name === 'bursts just before the timeout') as Load;
  const lastArrival = load.runs.at(-1)?.arrivesAt ?? 0;
  const { decisions } = new Simulation(load).run();
  const early = decisions.filter(({ facts, decision }) => decision.kind === 'shrink' && facts.now < lastArrival);
  expect(early).toEqual([]);
});

it('costs more if runs go to the emptiest node, so that no node becomes idle', () => {
  const load = loads(1).find(({ name }) => name === 'a steady stream') as Load;
  const spread = new Simulation(load, { ...POLICY, placement: 'emptiest' }).run();
  expect(spread.nodeMs).toBeGreaterThan(1.1 * new Simulation(load).run().nodeMs);
});
