/**
 * A goal for the ratio of the product's median to the baseline's.
 * @typedef {{atMost: number} | {atLeast: number} | {below: number}} Goal
 *
 * @typedef {object} Comparison
 * @property {string} name
 * @property {string} title what is compared with what
 * @property {string} unit
 * @property {Goal} goal
 * @property {Summary} baseline
 * @property {Summary} product
 * @property {number} ratio of the medians, product to baseline
 * @property {boolean} holds
 *
 * A value that is compared with nothing.
 * @typedef {{name: string, title: string, unit: string, goal: Goal, value: number, holds: boolean}} Measure
 *
 * The cost that the product adds to a baseline that was measured in turns with it.
 * @typedef {object} Addition
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {{atMost: number}} goal
 * @property {number} baseline
 * @property {number} product
 * @property {number} added
 * @property {boolean} holds
 *
 * @typedef {Comparison | Addition | Measure} Result
 *
 * @typedef {object} Summary
 * @property {number} median
 * @property {number} min
 * @property {number} max
 * @property {number[]} rounds
 */

/**
 * Each returns its value of one round.
 * @typedef {{baseline: () => Promise<number>, product: () => Promise<number>}} Sides
 */

/**
 * Measures both sides in turn, the baseline first, so that other work of the machine affects both alike. The first round of
 * each is a warm-up and does not count.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.title
 * @param {string} options.unit
 * @param {Goal} options.goal
 * @param {number} options.rounds
 * @param {() => Promise<number>} options.baseline
 * @param {() => Promise<number>} options.product
 * @param {(text: string) => void} options.print
 * @returns {Promise<Comparison>}
 */
export async function compare({ name, title, unit, goal, rounds, baseline, product, print }) {
  print(`${name}: warming up`);
  await baseline();
  await product();
  /** @type {{baseline: number[], product: number[]}} */
  const measured = { baseline: [], product: [] };
  for (let round = 1; round <= rounds; round++) {
    const [theirs, ours] = [await baseline(), await product()];
    measured.baseline.push(theirs);
    measured.product.push(ours);
    print(`${name}: round ${round} of ${rounds}, baseline ${number(theirs)} ${unit}, product ${number(ours)} ${unit}`);
  }
  return comparisonOf({ name, title, unit, goal, measured });
}

/**
 * Compares values that were measured before.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.title
 * @param {string} options.unit
 * @param {Goal} options.goal
 * @param {{baseline: number[], product: number[]}} options.measured
 * @returns {Comparison}
 */
export function comparisonOf({ name, title, unit, goal, measured }) {
  const summary = { baseline: summarize(measured.baseline), product: summarize(measured.product) };
  const ratio = summary.product.median / summary.baseline.median;
  return { name, title, unit, goal, ...summary, ratio, holds: isReached(goal, ratio) };
}

/** @param {Omit<Measure, 'holds'>} figure @returns {Measure} */
export function measure(figure) {
  return { ...figure, holds: isReached(figure.goal, figure.value) };
}

/** @param {Omit<Addition, 'added' | 'holds'>} figures @returns {Addition} */
export function additionOf(figures) {
  const added = figures.product - figures.baseline;
  return { ...figures, added, holds: added <= figures.goal.atMost };
}

/**
 * @param {Result} result
 * @returns {string} some lines for a terminal
 */
export function describe(result) {
  if ('value' in result) return describeMeasure(result);
  return 'added' in result ? describeAddition(result) : describeComparison(result);
}

/** @param {Goal} goal @param {number} value */
function isReached(goal, value) {
  if ('below' in goal) return value < goal.below;
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** @param {Goal} goal @param {boolean} holds */
function outcome(goal, holds) {
  const wanted =
    'below' in goal ? `below ${goal.below}` : 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`;
  return `goal ${wanted}: ${holds ? 'holds' : 'MISSED'}`;
}

/** @param {Measure} measure */
function describeMeasure({ name, title, unit, goal, value, holds }) {
  return [`  ${name}: ${title}`, `    product  ${number(value).padStart(9)} ${unit}   ${outcome(goal, holds)}`].join(
    '\n',
  );
}

/** @param {Addition} addition */
function describeAddition({ name, title, unit, goal, baseline, product, added, holds }) {
  /** @param {string} what @param {number} value */
  const line = (what, value) => `    ${what.padEnd(9)}${number(value).padStart(9)} ${unit}`;
  return [
    `  ${name}: ${title}`,
    line('baseline', baseline),
    line('product', product),
    `${line('added', added)}   ${outcome(goal, holds)}`,
  ].join('\n');
}

/** @param {Comparison} comparison */
function describeComparison({ name, title, unit, goal, baseline, product, ratio, holds }) {
  /** @param {string} what @param {Summary} summary */
  const side = (what, { median, min, max, rounds }) =>
    `    ${what.padEnd(9)}${number(median).padStart(9)} ${unit}   min ${number(min)}, max ${number(max)}, ${rounds.length} rounds`;
  return [
    `  ${name}: ${title}`,
    side('baseline', baseline),
    side('product', product),
    `    ratio    ${ratio.toFixed(3).padStart(9)}   ${outcome(goal, holds)}`,
  ].join('\n');
}

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = NaN, high = NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

/** @param {number[]} rounds @returns {Summary} */
function summarize(rounds) {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds), rounds };
}

/** @param {number} value */
function number(value) {
  return value < 100 ? value.toFixed(3) : value.toFixed(0);
}
