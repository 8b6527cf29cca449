import type { WarmKey } from '../spark/warm-driver';
import { seededRandom } from '../../test/harness/seeded-random.cjs';
import { planPool, type PoolFacts, REMEMBERED_RUNS, remembered, withoutFailed } from './warm-demand';

interface Driver {
  key: WarmKey;
  isReady: boolean;
}

const key = (heap: string): WarmKey => ({ driverMemory: heap, classPath: null });
const FIRST = key('first');

/** A pool whose plans are carried out at once: drivers become ready when the next plan is made. */
class Pool {
  drivers: Driver[] = [];
  recent: WarmKey[] = [];
  starts = 0;
  ends = 0;

  constructor(readonly count: number) {}

  get heaps(): string {
    return this.drivers
      .map((driver) => driver.key.driverMemory)
      .sort()
      .join(' ');
  }

  /** Plans until nothing changes, and returns the number of plans with a change. */
  settle(change: Partial<PoolFacts<Driver>> = {}): number {
    for (let plans = 0; plans < 100; plans += 1) if (!this.plan(change)) return plans;
    throw new Error(`The pool does not come to rest: ${this.heaps}`);
  }

  /** Returns true if the plan changes something. */
  plan(change: Partial<PoolFacts<Driver>> = {}): boolean {
    const idle = { isMemoryShort: false, mayStart: true, mayExchange: true };
    const facts = { drivers: this.drivers, count: this.count, recent: this.recent, first: FIRST, ...idle, ...change };
    const { start, surplus, reclaimed, exchanged } = planPool(facts);
    const ended = new Set([...surplus, ...[reclaimed, exchanged].filter((driver) => driver !== null)]);
    this.ends += ended.size;
    this.drivers = this.drivers.filter((driver) => !ended.has(driver));
    const changes = ended.size > 0 || start !== null || this.drivers.some(({ isReady }) => !isReady);
    for (const driver of this.drivers) driver.isReady = true;
    if (start) {
      this.starts += 1;
      this.drivers.push({ key: start, isReady: false });
    }
    return changes;
  }

  /** Returns true if a driver waits for the run, which takes it. */
  run(heap: string): boolean {
    this.recent = remembered(this.recent, key(heap));
    const found = this.drivers.findIndex((driver) => driver.isReady && driver.key.driverMemory === heap);
    if (found !== -1) this.drivers.splice(found, 1);
    return found !== -1;
  }

  /** Runs of these heaps, one by one, with time for the pool in between. Returns how many of them were warm. */
  runAll(heaps: string): number {
    return heaps.split('').filter((heap) => {
      const isWarm = this.run(heap);
      this.settle();
      return isWarm;
    }).length;
  }
}

const poolOf = (count: number): Pool => {
  const pool = new Pool(count);
  pool.settle();
  return pool;
};

describe('planPool', () => {
  it('starts drivers of the first key until there has been a run', () => {
    expect(poolOf(2).heaps).toBe('first first');
  });

  it('follows the first run', () => {
    const pool = poolOf(2);
    expect(pool.runAll('a')).toBe(0);
    expect(pool.heaps).toBe('a a');
  });

  it('keeps a driver of the second key once it has occurred twice', () => {
    const pool = poolOf(2);
    pool.runAll('aaab');
    expect(pool.heaps).toBe('a a');
    pool.runAll('ab');
    expect(pool.heaps).toBe('a b');
  });

  it.each([
    [2, 'a b'],
    [3, 'a a b'],
    [4, 'a a a b'],
  ])('divides %d drivers by demand', (count, heaps) => {
    const pool = poolOf(count);
    pool.runAll('abaabaaa');
    expect(pool.heaps).toBe(heaps);
  });

  it.each([2, 3, 4])('ends none of %d drivers while two keys alternate', (count) => {
    const pool = poolOf(count);
    pool.runAll('abab');
    const ends = pool.ends;
    expect(pool.runAll('ab'.repeat(20))).toBe(40);
    expect(pool.ends).toBe(ends);
  });

  it.each(['ab', 'aab', 'abc', 'aabb'])('does not replace its only driver at each run of %s', (pattern) => {
    const pool = poolOf(1);
    pool.runAll(pattern.repeat(2));
    const ends = pool.ends;
    expect(pool.runAll(pattern.repeat(20))).toBeGreaterThan(0);
    expect(pool.ends).toBe(ends);
  });

  it('keeps its only driver for the more frequent key', () => {
    const pool = poolOf(1);
    pool.runAll('aabaab');
    expect(pool.heaps).toBe('a');
    expect(pool.runAll('aabaab')).toBe(4);
  });

  it.each([
    ['after a single run', 1, 'a', 2],
    ['after two', 1, 'aa', 3],
    ['after many', 1, 'a'.repeat(30), 5],
    ['if it has more than one', 2, 'a'.repeat(30), 2],
  ])('gives its driver to a key that replaces another: %s', (_when, count, before, runs) => {
    const pool = poolOf(count);
    pool.runAll(before);
    pool.runAll('b'.repeat(runs - 1));
    expect(pool.heaps).not.toContain('b');
    pool.runAll('b');
    expect(pool.heaps).toContain('b');
  });

  it('gives up the drivers of a key that no run has any more, even if no other can start', () => {
    const pool = poolOf(2);
    pool.runAll('aabb');
    for (let run = 0; run < REMEMBERED_RUNS; run += 1) pool.run('b');
    pool.settle({ mayStart: false });
    expect(pool.heaps).toBe('');
  });

  it('starts one at a time, and none while it may not', () => {
    const pool = new Pool(3);
    expect(pool.plan({ mayStart: false })).toBe(false);
    pool.plan();
    const waiting = pool.drivers.map(() => ({ key: FIRST, isReady: false }));
    expect(planPool({ ...facts(pool), drivers: waiting }).start).toBeNull();
  });

  it('ends no driver for another that may not start yet', () => {
    const pool = poolOf(2);
    pool.runAll('aa');
    pool.run('b');
    pool.run('b');
    expect(pool.plan({ mayStart: false })).toBe(false);
    expect(pool.plan({ mayExchange: false })).toBe(false);
    expect(pool.plan()).toBe(true);
  });

  it('gives the least needed driver back if memory is short, and starts none', () => {
    const pool = poolOf(3);
    pool.runAll('abaabaaa');
    const left = [];
    while (pool.drivers.length > 0) {
      expect(planPool({ ...facts(pool), isMemoryShort: true }).start).toBeNull();
      pool.plan({ isMemoryShort: true });
      left.push(pool.heaps);
    }
    expect(left).toEqual(['a b', 'a', '']);
  });

  it('ends the least needed ones if there are to be fewer', () => {
    const pool = poolOf(4);
    pool.runAll('abaabaaa');
    for (const [count, heaps] of [
      [3, 'a a b'],
      [1, 'a'],
      [0, ''],
    ] as const) {
      pool.plan({ count });
      expect(pool.heaps).toBe(heaps);
    }
  });
});

const facts = ({ drivers, count, recent }: Pool): PoolFacts<Driver> => ({
  ...{ drivers, count, recent, first: FIRST },
  ...{ isMemoryShort: false, mayStart: true, mayExchange: true },
});

describe('the keys of the last runs', () => {
  it('are bounded, the newest first', () => {
    let recent: WarmKey[] = [];
    for (let run = 0; run < 100; run += 1) recent = remembered(recent, key(String(run)));
    expect(recent).toHaveLength(REMEMBERED_RUNS);
    expect(recent[0]).toEqual(key('99'));
  });

  it('lose one with which no driver starts, if there are others', () => {
    const keys = [key('a'), key('b'), key('a')];
    expect(withoutFailed(keys, key('a'))).toEqual([key('b')]);
    expect(withoutFailed([key('a')], key('a'))).toEqual([key('a')]);
  });
});

describe('a pool at random', () => {
  const EXCHANGE_SECONDS = 60;
  const SEEDS = Array.from({ length: 12 }, (_, seed) => seed + 1);

  it.each(SEEDS)('stays within its bounds and comes to rest, with seed %d', (seed) => {
    const random = seededRandom(seed);
    const pool = new Pool(random.between(1, 6));
    const keys = random.between(1, 5);
    let exchangeAt = 0;
    let [exchanges, taken, reclaimed] = [0, 0, 0];
    const most = { drivers: 0, starting: 0, remembered: 0 };
    const seconds = 1_000;
    for (let second = 0; second < seconds; second += 1) {
      // Some runs have a new key, like those of a tenant who wants to keep the node busy.
      const heap = random.below(4) === 0 ? `new-${second}` : `key-${Math.min(random.below(keys), random.below(keys))}`;
      if (random.below(3) === 0 && pool.run(heap)) taken += 1;
      const isMemoryShort = random.below(100) === 0;
      const now = { mayStart: random.below(3) > 0, mayExchange: second >= exchangeAt, isMemoryShort };
      const before = pool.drivers.length;
      const { exchanged } = planPool({ ...facts(pool), ...now });
      if (exchanged) {
        exchanges += 1;
        exchangeAt = second + EXCHANGE_SECONDS;
        assertNotNeeded(pool, exchanged);
      }
      pool.plan(now);
      if (isMemoryShort) reclaimed += before - pool.drivers.length;
      most.drivers = Math.max(most.drivers, pool.drivers.length);
      most.starting = Math.max(most.starting, pool.drivers.filter(({ isReady }) => !isReady).length);
      most.remembered = Math.max(most.remembered, pool.recent.length);
    }
    expect(most).toEqual({ drivers: pool.count, starting: 1, remembered: REMEMBERED_RUNS });
    expect(exchanges).toBeLessThanOrEqual(1 + seconds / EXCHANGE_SECONDS);
    // A driver starts in the place of one that a run, another key or the machine has taken, and otherwise once.
    expect(pool.starts).toBeLessThanOrEqual(pool.count + taken + exchanges + reclaimed);
    expect(pool.settle()).toBeLessThan(4 * pool.count + 2);
    expect(pool.drivers).toHaveLength(pool.count);
  });

  it.each([1, 2, 6])('has few starts if each run has another heap: %d drivers', (count) => {
    const pool = poolOf(count);
    const starts = pool.starts;
    const runs = 40 * REMEMBERED_RUNS;
    for (let run = 0; run < runs; run += 1) {
      pool.run(`new-${run}`);
      pool.settle();
    }
    expect(pool.starts - starts).toBeLessThanOrEqual(count * (runs / REMEMBERED_RUNS + 2));
  });
});

/** Fails if a driver is given up although each recurring key could have one of its own, and it is the only one of such a key. */
function assertNotNeeded({ drivers, recent, count }: Pool, exchanged: Driver): void {
  const timesOf = ({ driverMemory: heap }: WarmKey): number =>
    recent.filter((other) => other.driverMemory === heap).length;
  const recurring = new Set(recent.filter((one) => timesOf(one) > 1).map((one) => one.driverMemory));
  const isOnly = drivers.filter((driver) => driver.key.driverMemory === exchanged.key.driverMemory).length === 1;
  if (recurring.size <= count) expect(isOnly && recurring.has(exchanged.key.driverMemory)).toBe(false);
}
