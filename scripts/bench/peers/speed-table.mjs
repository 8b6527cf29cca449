import { median } from '../comparison.mjs';

/**
 * @typedef {import('./turns.mjs').Side} Side
 * @typedef {import('./turns.mjs').Measured} Measured
 *
 * Where, when and with which versions a table was measured.
 * @typedef {object} Circumstances
 * @property {string} date
 * @property {number} rounds
 * @property {string} machine
 * @property {string} load before the run
 * @property {string[]} versions
 * @property {string} memory of each driver
 * @property {string} master of Spark
 */

/** Each piece of work, in the order of the rows. */
const ROWS = {
  python: 'Python job',
  jar: 'job in a jar',
  sql: 'SQL file',
  first: 'first result of a new session',
  own: 'the same, in a JVM of its own',
  again: 'another result in that session',
};

/** @type {Record<Side, string>} */
const COLUMNS = {
  plain: 'plain Spark',
  livy: 'Livy',
  connect: 'Spark Connect',
  cold: 'platform, cold',
  warm: 'platform, warm',
};

const ABSENT = '-';

/**
 * Returns a page with the medians of all sides and their ratios to plain Spark, in Markdown.
 * @param {Measured} measured
 * @param {Circumstances} circumstances
 * @returns {string}
 */
export function speedPage(measured, { date, rounds, machine, load, versions, memory, master }) {
  return `# Speed beside peers

<!-- The output of \`npm run bench -- --only=peers --markdown=docs/speed.md\`; it is not edited by hand. -->

Small work on ${machine}, on ${date}; the load was ${load} before.
Each cell has the median of ${rounds} rounds with the fastest and the slowest, then its ratio to plain Spark. The sides took turns in every round, and one
more round came first and does not count.

${table(measured)}

- **Plain Spark** is \`spark-submit\` by hand, or \`spark-sql\`, or a Python program with a session: the same Spark, master (\`${master}\`) and driver memory
  (${memory}) as on all other sides, and nothing around it.
- **Livy** runs batches, from the request to their success. It has no files of SQL, and its sessions need an interpreter for the Scala of Spark 3.5, which
  this version does not have.
- **Spark Connect** is a client's Python program. Its server runs already and is one JVM for all who use it; the row of a JVM of its own counts the
  start of a server for this session.
- **The platform** counts from the request for a run on a PLATFORM cluster to its end, or to the result of a notebook's cell. Each run is
  confined and has a JVM of its own, which ends with it. A run is warm if its answer says so (\`started_warm\`), else cold.
- **Kyuubi** is not measured: the jars of its server were not to be had from where those of the others come.
- ${versions.join(', ')}.
`;
}

/** @param {Measured} measured */
function table(measured) {
  const sides = [...measured.values()].flatMap((values) => [...values.keys()]);
  const columns = /** @type {Side[]} */ (Object.keys(COLUMNS)).filter((side) => sides.includes(side));
  const rows = Object.entries(ROWS).flatMap(([work, title]) => {
    const values = measured.get(work);
    return values ? [[title, ...columns.map((side) => cell(values, side))]] : [];
  });
  return aligned([['from start to end', ...columns.map((side) => COLUMNS[side])], ...rows]);
}

/** @param {Map<Side, number[]>} values @param {Side} side */
function cell(values, side) {
  const rounds = values.get(side);
  if (!rounds) return ABSENT;
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)].map(digits);
  const text = `${digits(median(rounds))} s (${least} to ${most})`;
  const plain = values.get('plain');
  return side === 'plain' || !plain ? text : `${text}, **${(median(rounds) / median(plain)).toFixed(2)}**`;
}

/** @param {number} seconds */
function digits(seconds) {
  return seconds.toFixed(seconds < 1 ? 3 : 2);
}

/** Returns a table with columns as wide as their widest cell. @param {string[][]} rows the first one is the head */
function aligned(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  /** @param {string[]} cells */
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const [head = '', ...body] = rows.map((row) => line(row.map((text, column) => text.padEnd(widths[column] ?? 0))));
  return [head, line(widths.map((width) => '-'.repeat(width))), ...body].join('\n');
}
