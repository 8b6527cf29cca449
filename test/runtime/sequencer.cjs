const { readFileSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

/** @typedef {{path: string, context: {config: {rootDir: string}}}} Test */

/** The file has the seconds that each test file took in a run with TEST_RECORD_TIMES=1, if {@link MIN_SECONDS} or more. */
const TIMES = join(__dirname, 'times.json');
const MIN_SECONDS = 5;

/**
 * The last file to end decides when a run ends, so the longest files start first. Files without a recorded time come in an
 * order that the seed of the run decides, so that a file that disturbs the next in its process is noticed in some run, and
 * `--seed` repeats the order of that run.
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
    const ranked = sorted.map(({ test, name }) => ({ test, seconds: this.times[name] ?? 0, rank: random() }));
    return ranked.sort((a, b) => b.seconds - a.seconds || a.rank - b.rank).map(({ test }) => test);
  }

  /** @param {Test[]} tests */
  allFailedTests(tests) {
    return tests;
  }

  /** @param {Test[]} _tests @param {{testResults: {testFilePath: string, perfStats: {runtime: number}}[]}} results */
  cacheResults(_tests, { testResults }) {
    if (process.env.TEST_RECORD_TIMES !== '1') return;
    const times = readTimes();
    for (const { testFilePath, perfStats } of testResults) {
      const name = nameOf(testFilePath);
      const seconds = Math.round(perfStats.runtime / 1000);
      if (seconds < MIN_SECONDS) delete times[name];
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

/** Draws numbers from 0 to 1 that follow from the seed, by Marsaglia's 32-bit xorshift. @param {number} seed */
function randomFrom(seed) {
  let state = seed || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
