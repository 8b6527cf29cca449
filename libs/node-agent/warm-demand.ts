import { isSameKey, type WarmKey } from '../spark/warm-driver';

/** Number of runs whose keys a node remembers. */
export const REMEMBERED_RUNS = 20;
/** Weight of a run compared with that of the next one: three runs later a key counts half. */
const FADING = 0.8;
/** A key takes the driver of another if its demand is this many times as high. Keys that merely alternate stay below. */
const MUCH_MORE = 2;

/** A driver of the pool. */
interface Pooled {
  key: WarmKey;
  isReady: boolean;
}

/** The state of the pool and its limits at one moment. */
export interface PoolFacts<D extends Pooled> {
  drivers: readonly D[];
  /** Maximum number of drivers. */
  count: number;
  /** Keys of the last runs, the newest first. */
  recent: readonly WarmKey[];
  /** Key of the drivers that no run has preceded. */
  first: WarmKey;
  isMemoryShort: boolean;
  /** True if another driver may start now. */
  mayStart: boolean;
  /** True if a driver may be given up for another key now. */
  mayExchange: boolean;
}

/** The next changes of the pool. */
export interface PoolPlan<D> {
  /** Key of the driver to start; null for none. */
  start: WarmKey | null;
  /** Drivers beyond the maximum number. */
  surplus: D[];
  /** A driver whose memory others need. */
  reclaimed: D | null;
  /** A driver that no run needs any more, or that is needed less than one of another key. */
  exchanged: D | null;
}

/** The value of a driver: that of its rank, then that of its demand. */
interface Worth {
  rank: number;
  demand: number;
}

/** The first driver of a key that recurs. */
const RECURRING = 2;
/** The first driver of a key that one of the last runs had. It waits for a second one. */
const ONCE = 1;
/** A further driver of its key, or one of a key that none of the last runs had. */
const SPARE = 0;

/** Returns the keys of the last runs with that of the newest. */
export function remembered(recent: readonly WarmKey[], key: WarmKey): WarmKey[] {
  return [key, ...recent.slice(0, REMEMBERED_RUNS - 1)];
}

/**
 * Returns the keys of the last runs without one with which no driver started, unless it is the only one. The pause after a failure holds up
 * the drivers of all keys, so the key is not tried again before it recurs.
 */
export function withoutFailed(recent: readonly WarmKey[], key: WarmKey): WarmKey[] {
  const others = recent.filter((other) => !isSameKey(other, key));
  return others.length > 0 ? others : [...recent];
}

/**
 * Returns the changes by which the pool follows the keys of the last runs (ADR 0080). Each key that recurs gets a driver while there are
 * enough of them, and the others are divided by demand. A driver that waits is given up only for a key that is clearly more in demand, so
 * that keys which alternate leave each other's drivers alone.
 */
export function planPool<D extends Pooled>(facts: PoolFacts<D>): PoolPlan<D> {
  const { count, mayExchange, mayStart, isMemoryShort } = facts;
  const recent = facts.recent.length > 0 ? facts.recent : [facts.first];
  const byWorth = worthOfAll(recent, facts.drivers);
  const surplus = byWorth.splice(count).map(({ driver }) => driver);
  const plan: PoolPlan<D> = { start: null, surplus, reclaimed: null, exchanged: null };
  const least = byWorth.at(-1);
  if (isMemoryShort) return { ...plan, reclaimed: least?.driver ?? null };
  const next = mostNeeded(
    recent,
    byWorth.map(({ driver }) => driver),
  );
  // One starts at a time.
  const canStart = mayStart && byWorth.every(({ driver }) => driver.isReady);
  const isFull = byWorth.length >= count;
  if (least && mayExchange && isOutdone(least.worth, isFull && canStart ? next.worth : null))
    return { ...plan, exchanged: least.driver };
  return { ...plan, start: canStart && !isFull ? next.key : null };
}

/** Returns true if a driver is to be given up: no run needs it, or it is in the way of a more valuable one, which can start. */
function isOutdone(worth: Worth, next: Worth | null): boolean {
  if (worth.demand === 0) return true;
  if (!next) return false;
  if (next.rank === RECURRING && worth.rank < RECURRING) return true;
  return next.rank === worth.rank && next.demand >= MUCH_MORE * worth.demand;
}

/** Returns the drivers with their worth, the highest first. Of those with one key, those that are ready count as its first ones. */
function worthOfAll<D extends Pooled>(
  recent: readonly WarmKey[],
  drivers: readonly D[],
): { driver: D; worth: Worth }[] {
  const readyFirst = [...drivers].sort((one, other) => Number(other.isReady) - Number(one.isReady));
  return readyFirst
    .map((driver, index) => {
      const before = readyFirst.slice(0, index).filter(({ key }) => isSameKey(key, driver.key)).length;
      return { driver, worth: worthOf(recent, driver.key, before + 1) };
    })
    .sort((one, other) => compare(other.worth, one.worth));
}

/** Returns the key of which a further driver is worth most. A key that occurred once has no claim to it until it recurs. */
function mostNeeded(recent: readonly WarmKey[], drivers: readonly Pooled[]): { key: WarmKey; worth: Worth } {
  const keys = recent.filter((key, index) => recent.findIndex((other) => isSameKey(key, other)) === index);
  return keys
    .map((key) => {
      const nth = drivers.filter((driver) => isSameKey(driver.key, key)).length + 1;
      const { rank, demand } = worthOf(recent, key, nth);
      return { key, worth: { demand, rank: rank === ONCE ? SPARE : rank } };
    })
    .reduce((best, one) => (compare(one.worth, best.worth) > 0 ? one : best));
}

function worthOf(recent: readonly WarmKey[], key: WarmKey, nth: number): Worth {
  const weights = recent.map((other, age) => (isSameKey(other, key) ? FADING ** age : 0));
  const runs = weights.filter((weight) => weight > 0).length;
  const demand = weights.reduce((sum, weight) => sum + weight, 0) / nth;
  return { rank: nth > 1 || runs === 0 ? SPARE : runs === 1 ? ONCE : RECURRING, demand };
}

function compare(one: Worth, other: Worth): number {
  return one.rank - other.rank || one.demand - other.demand;
}
