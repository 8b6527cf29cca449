const { readFileSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

/** @typedef {{path: string, context: {config: {rootDir: string}}}} Test */

/** Seconds that files take, as a run with TEST_RECORD_TIMES=1 measured them; those below {@link SHORT} are left out. */
const TIMES = join(__dirname, 'times.json');
const SHORT = 5;

/**
 * The longest files first, because the last to end decides when a run ends; those without a time in an order that the seed
 * of the run decides, so that what one file leaves to the next in its process shows in some run and is found again by `--seed`.
 */
module.exports = class Sequencer {
  constructor({ globalConfig }) {
    this.seed = globalConfig.seed;
    this.times = readTimes();
  }

  /** @param {Test[]} tests */
  sort(tests) {
    const random = randomFrom(this.seed);
    const sorted = tests.map((test) => ({ test, name: nameOf(test.path) })).sort((a, b) => (a.name < b.name ? -1 : 1));
    const placed = sorted.map(({ test, name }) => ({ test, seconds: this.times[name] ?? 0, place: random() }));
    return placed.sort((a, b) => b.seconds - a.seconds || a.place - b.place).map(({ test }) => test);
  }

  /** @param {Test[]} tests */
  allFailedTests(tests) {
    return tests;
  }

  /** @param {Test[]} tests @param {{testResults: {testFilePath: string, perfStats: {runtime: number}}[]}} results */
  cacheResults(_tests, { testResults }) {
    if (process.env.TEST_RECORD_TIMES !== '1') return;
    const times = readTimes();
    for (const { testFilePath, perfStats } of testResults) {
      const name = nameOf(testFilePath);
      const seconds = Math.round(perfStats.runtime / 1000);
      if (seconds < SHORT) delete times[name];
      else times[name] = seconds;
    }
    const entries = Object.entries(times).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  }
};

/** @returns {Record<string, number>} */
function readTimes() {
  return JSON.parse(readFileSync(TIMES, 'utf8'));
}

/** @param {string} path */
function nameOf(path) {
  return relative(join(__dirname, '..', '..'), path);
}

/** Numbers from 0 to 1 that a seed decides: Marsaglia's xorshift of 32 bits. @param {number} seed */
function randomFrom(seed) {
  let state = seed || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
