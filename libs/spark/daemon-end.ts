/** Longest line that is told, characters. */
const MAX_LINE = 300;
/** Lines that say what went wrong, the most telling first. A log has those of all daemons of a node. */
const TELLING = [
  /^Caused by: (?:[\w.$]+\.)?(\S.*)$/,
  /^(?:Exception in thread "[^"]*" )(?:[\w.$]+\.)?(\S.*)$/,
  /^Error: .*$/,
  /^(?:\S+ \S+ )?(?:ERROR|FATAL) (\S.*)$/,
  /^\S*(?:Error|Exception): .*$/,
];
const OF_STACK = /^\s+at |^\s*\.\.\. \d+ more$/;

/** The line that says best why a daemon ended, of the end of its output; null if there is none. */
export function telltaleLine(output: string): string | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !OF_STACK.test(line));
  for (const pattern of TELLING) {
    const found = lines.findLast((line) => pattern.test(line));
    if (found !== undefined) return bounded(pattern.exec(found)?.[1] ?? found);
  }
  const last = lines.at(-1);
  return last === undefined ? null : bounded(last);
}

function bounded(line: string): string {
  const text = line.trim();
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}…`;
}
