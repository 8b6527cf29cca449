/** @typedef {Readonly<Record<string, readonly string[]>>} Transitions states that may follow each state */
/** @typedef {{names: string[], follow: string[]}} Node states that are alike, and all states that may follow them */
/** @typedef {{target: Node, from: number[], to: number, column: number}} Lane rows of a vertical line, and its column */

/** Characters between two lanes. */
const SPACING = 3;

/**
 * Draws the transitions as lines of text. Each state that others lead to has one vertical line: the states before it join
 * the line, and an arrow leads from the line to the state. A line that only passes another leaves a gap. States that come from
 * the same states and lead to the same ones share a row.
 * @param {Transitions} table
 * @returns {string[]}
 */
export function pictureOf(table) {
  const nodes = grouped(table);
  const lanes = placed(nodes);
  const left = Math.max(...nodes.map(({ names }) => labelOf(names).length)) + 4;
  const lines = nodes.flatMap((node, index) => [
    arriving(labelOf(node.names), lanes, 2 * index, left),
    ...(node.follow.length > 0 ? [leaving(lanes, 2 * index + 1, left)] : []),
  ]);
  return lines.map((line) => line.trimEnd());
}

/**
 * @param {Transitions} table
 * @returns {Node[]}
 */
function grouped(table) {
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  for (const [name, follow] of Object.entries(table)) {
    const before = Object.keys(table).filter((from) => table[from]?.includes(name));
    const isolated = before.includes(name) ? name : '';
    const key = JSON.stringify([before.toSorted(), follow.toSorted(), isolated]);
    const node = nodes.get(key);
    if (node) node.names.push(name);
    else nodes.set(key, { names: [name], follow: [...follow] });
  }
  return [...nodes.values()];
}

/** @param {readonly string[]} names */
const labelOf = (names) => names.join(', ');

/**
 * Assigns a line to each state that others lead to; lines that share no row share a column, and short ones are on the left.
 * @param {Node[]} nodes
 * @returns {Lane[]}
 */
function placed(nodes) {
  const lanes = nodes.flatMap((target, index) => {
    const from = nodes.flatMap(({ follow }, row) =>
      follow.some((name) => target.names.includes(name)) ? [2 * row + 1] : [],
    );
    return from.length > 0 ? [{ target, from, to: 2 * index, column: 0 }] : [];
  });
  const height = (/** @type {Lane} */ lane) => endOf(lane) - beginOf(lane);
  /** @type {Lane[]} */
  const done = [];
  for (const lane of lanes.toSorted((a, b) => height(a) - height(b))) {
    const isTaken = (/** @type {number} */ column) =>
      done.some((other) => other.column === column && beginOf(other) <= endOf(lane) && beginOf(lane) <= endOf(other));
    while (isTaken(lane.column)) lane.column += 1;
    done.push(lane);
  }
  return done;
}

/** @param {Lane} lane */
const beginOf = ({ from, to }) => Math.min(...from, to);
/** @param {Lane} lane */
const endOf = ({ from, to }) => Math.max(...from, to);

/**
 * Returns the row of a state, with the arrow that leads to it.
 * @param {string} label @param {Lane[]} lanes @param {number} row @param {number} left
 */
function arriving(label, lanes, row, left) {
  const lane = lanes.find(({ to }) => to === row);
  const line = emptyRow(lanes, row, left);
  for (const [index, character] of [...label].entries()) line[index] = character;
  if (!lane) return line.join('');
  line[label.length + 1] = '◄';
  fill(line, label.length + 2, left + SPACING * lane.column);
  join(line, lane, row, left);
  return line.join('');
}

/**
 * Returns the row below a state, whose line joins those of the states that may follow.
 * @param {Lane[]} lanes @param {number} row @param {number} left
 */
function leaving(lanes, row, left) {
  const own = lanes.filter(({ from }) => from.includes(row));
  const line = emptyRow(lanes, row, left);
  line[2] = '└';
  fill(line, 3, left + SPACING * Math.max(...own.map(({ column }) => column)));
  for (const lane of own) join(line, lane, row, left);
  return line.join('');
}

/** @param {Lane[]} lanes @param {number} row @param {number} left */
function emptyRow(lanes, row, left) {
  /** @type {string[]} */
  const line = Array(left + SPACING * lanes.length).fill(' ');
  for (const lane of lanes) if (beginOf(lane) <= row && row <= endOf(lane)) line[left + SPACING * lane.column] = '│';
  return line;
}

/** Draws a horizontal line that passes behind vertical ones. @param {string[]} line @param {number} begin @param {number} end */
function fill(line, begin, end) {
  for (let index = begin; index <= end; index += 1) if (line[index] === ' ') line[index] = '─';
}

/** Connects the row with a vertical line. @param {string[]} line @param {Lane} lane @param {number} row @param {number} left */
function join(line, lane, row, left) {
  const at = left + SPACING * lane.column;
  const goesOn = line[at + 1] === '─';
  if (row === beginOf(lane)) line[at] = goesOn ? '┬' : '┐';
  else if (row === endOf(lane)) line[at] = goesOn ? '┴' : '┘';
  else line[at] = goesOn ? '┼' : '┤';
}
