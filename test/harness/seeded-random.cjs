/**
 * Returns random numbers that follow from a seed, so that a test can be repeated (mulberry32).
 * @typedef {ReturnType<typeof seededRandom>} SeededRandom
 */

/** @param {number} seed a whole number */
function seededRandom(seed) {
  let state = seed >>> 0;
  /** @returns {number} from 0 to below 1 */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** @param {number} limit @returns {number} a whole number from 0 to below the limit */
  const below = (limit) => Math.floor(next() * limit);
  return {
    next,
    below,
    /** @param {number} from @param {number} to @returns {number} a whole number, both ends included */
    between: (from, to) => from + below(to - from + 1),
    /** @template T @param {readonly T[]} list that is not empty @returns {T} */
    pick: (list) => /** @type {T} */ (list[below(list.length)]),
    /** @template T @param {readonly T[]} list @returns {T[]} */
    shuffled: (list) => {
      const rest = [...list];
      return list.map(() => /** @type {T} */ (rest.splice(below(rest.length), 1)[0]));
    },
  };
}

module.exports = { seededRandom };
