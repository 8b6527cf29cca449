/**
 * A way to do a piece of work: by plain Spark, a peer, or the platform without and with a driver that was warmed ahead.
 * @typedef {'plain' | 'livy' | 'connect' | 'cold' | 'warm'} Side
 *
 * Seconds by piece of work, of one turn. The platform says after the turn which of its sides it was.
 * @typedef {{side: Side, seconds: Record<string, number>}} Turn
 *
 * Seconds of all rounds that counted, by piece of work and side.
 * @typedef {Map<string, Map<Side, number[]>>} Measured
 */

/**
 * Lets all sides take their turns in each round, so that other work of the machine affects all alike. The first round is a
 * warm-up and does not count.
 * @param {object} options
 * @param {string} options.name
 * @param {number} options.rounds
 * @param {(() => Promise<Turn[]>)[]} options.sides in the order of their turns; the platform may return several
 * @param {(text: string) => void} options.print
 * @returns {Promise<Measured>}
 */
export async function takeTurns({ name, rounds, sides, print }) {
  /** @type {Measured} */
  const measured = new Map();
  for (let round = 0; round <= rounds; round += 1) {
    const turns = [];
    for (const take of sides) turns.push(...(await take()));
    print(`${name}: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${turns.map(textOf).join(', ')}`);
    if (round > 0) for (const turn of turns) note(measured, turn);
  }
  return measured;
}

/** @param {Measured} measured @param {Turn} turn */
function note(measured, { side, seconds }) {
  for (const [work, value] of Object.entries(seconds)) {
    const ofWork = measured.get(work) ?? new Map();
    measured.set(work, ofWork.set(side, [...(ofWork.get(side) ?? []), value]));
  }
}

/** @param {Turn} turn */
function textOf({ side, seconds }) {
  const values = [...new Set(Object.values(seconds))].map((value) => value.toFixed(3));
  return `${side} ${values.join(' and ')} s`;
}
