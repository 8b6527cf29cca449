import { seededRandom } from '../../test/harness/seeded-random.cjs';

/** The first fault comes when the load has work in progress. */
const FIRST_MS = 4_000;
const GAP_MS = { from: 1_500, to: 6_000 };

/** Longer than the leases of the platform under chaos, so that another process takes over meanwhile. */
const FROZEN_MS = { from: 4_000, to: 8_000 };
const CUT_MS = { from: 1_000, to: 5_000 };
const FULL_MS = { from: 1_000, to: 4_000 };
const AWAY_MS = { from: 0, to: 3_000 };
const CLOCK_MS = { from: 8_000, to: 15_000 };

/**
 * The kinds of faults and their durations; null for faults that are over at once.
 * @satisfies {Record<string, {from: number, to: number} | null>}
 */
export const FAULTS = {
  'kill-api': null,
  'kill-worker': null,
  'kill-agent': null,
  'kill-redis': AWAY_MS,
  'restart-redis': AWAY_MS,
  'flush-redis': null,
  'terminate-backend': null,
  'restart-postgres': AWAY_MS,
  'crash-postgres': AWAY_MS,
  'freeze-api': FROZEN_MS,
  'freeze-worker': FROZEN_MS,
  'cut-answers': CUT_MS,
  'fill-data-disk': FULL_MS,
  'fill-node-disk': FULL_MS,
  'shift-clock': CLOCK_MS,
};

/**
 * @typedef {keyof typeof FAULTS} FaultKind
 *
 * @typedef {object} Fault
 * @property {number} atMs since the first request
 * @property {FaultKind} kind
 * @property {number} target from 0 to below 1: selects one of the processes that exist when the fault comes
 * @property {number} forMs
 */

export const FAULT_KINDS = /** @type {FaultKind[]} */ (Object.keys(FAULTS));

/**
 * Returns the faults of a seed, which depend on nothing else. Every kind comes once before any is repeated.
 * @param {number} seed
 * @param {number} lengthMs
 * @param {readonly FaultKind[]} [kinds]
 * @returns {Fault[]} in their order
 */
export function makeSchedule(seed, lengthMs, kinds = FAULT_KINDS) {
  const random = seededRandom(seed);
  /** @type {Fault[]} */
  const schedule = [];
  /** @type {FaultKind[]} */
  let deck = [];
  for (let atMs = FIRST_MS; atMs < lengthMs; atMs += random.between(GAP_MS.from, GAP_MS.to)) {
    if (deck.length === 0) deck = random.shuffled(kinds);
    const kind = /** @type {FaultKind} */ (deck.pop());
    const length = FAULTS[kind];
    const forMs = length === null ? 0 : random.between(length.from, length.to);
    schedule.push({ atMs, kind, target: random.next(), forMs });
  }
  return schedule;
}

/** @param {Fault} fault @returns {string} a line for a terminal */
export function describeFault({ atMs, kind, target, forMs }) {
  const length = forMs > 0 ? ` for ${(forMs / 1000).toFixed(1)} s` : '';
  return `${(atMs / 1000).toFixed(1).padStart(6)} s  ${kind}${length} (target ${target.toFixed(3)})`;
}
