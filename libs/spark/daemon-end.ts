/** Maximum length of a returned line, characters. */
const MAX_LINE = 300;
/** Patterns of lines that say what went wrong, the most specific first. One log holds the lines of all daemons of a node. */
const ERROR_PATTERNS = [
  /^Caused by: (?:[\w.$]+\.)?(\S.*)$/,
  /^(?:Exception in thread "[^"]*" )(?:[\w.$]+\.)?(\S.*)$/,
  /^Error: .*$/,
  /^(?:\S+ \S+ )?(?:ERROR|FATAL) (\S.*)$/,
  /^\S*(?:Error|Exception): .*$/,
];
const STACK_FRAME = /^\s+at |^\s*\.\.\. \d+ more$/;

/** Returns the line at the end of a daemon's output that best explains why it ended; null if the output is empty. */
export function mostTellingLine(output: string): string | null {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !STACK_FRAME.test(line));
  for (const pattern of ERROR_PATTERNS) {
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
