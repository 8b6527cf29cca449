const { statSync } = require('node:fs');

/** @typedef {{path: string}} Test */

/** Files that take far longer than their size suggests, the longest first: the last to end decides when a run ends. */
const LONG = [
  ...['/access-mutations.', '/together/part-'],
  ...['/raw-scala.', '/jobs-by-user.', '/jobs-by-root.', '/jobs-in-container.'],
  ...['/jobs.e2e-spec', '/mounts.stores-spec'],
];

/** A fresh clone has no times of an earlier run, by which jest would order the files; this is the same order each time. */
module.exports = class LongestFirst {
  /** @param {Test[]} tests */
  sort(tests) {
    const place = (/** @type {Test} */ { path }) => {
      const at = LONG.findIndex((part) => path.includes(part));
      return at === -1 ? LONG.length : at;
    };
    return [...tests].sort((a, b) => place(a) - place(b) || statSync(b.path).size - statSync(a.path).size);
  }

  /** @param {Test[]} tests */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
};
