/** The message of a failed statement, by its parts. */
export interface SqlProblem {
  /** The condition, such as UNRESOLVED_COLUMN.WITH_SUGGESTION; empty if Spark names none. */
  condition: string;
  sqlState: string;
  message: string;
  /** All that Spark wrote; empty if the message is everything. */
  whole: string;
  /** The place in the statement, both starting at 1; null if Spark names none. */
  place: { line: number; column: number } | null;
}

/** Names of classes, the condition, and the words of Spark's server, before the sentence. */
const PREFIXES = /^(?:(?:[a-z]\w*\.)+[\w$]+:\s+|Error running query:\s+|\[[A-Z][\w.]*\]\s+)+/;

const MAX_WHOLE = 20_000;

/** Reads the message of a failed statement, which is text for people. */
export function readProblem(text: string, sqlState: string): SqlProblem {
  const condition = /\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]/.exec(text)?.[1] ?? '';
  const message = messageOf(text);
  return {
    condition,
    sqlState: sqlState || (/SQLSTATE: (\w{5})/.exec(text)?.[1] ?? ''),
    message,
    whole: text === message ? '' : text.slice(0, MAX_WHOLE),
    place: placeIn(text),
  };
}

/** Leaves out names of classes and the condition before the sentence, and the plan and the quoted statement behind it. */
function messageOf(text: string): string {
  const [head = ''] = text.split(/\n\s*(?:'?[A-Z]\w+ |== SQL|\+- |\tat )/, 1);
  const sentence = head
    .replace(PREFIXES, '')
    .replace(/[;.]?\s*(?:SQLSTATE: \w{5})?[;.]?\s*(?:\(?line \d+,? pos(?:ition)? \d+\)?)?;?\s*$/, '');
  return sentence.trim() === '' ? text : `${sentence.trim()}.`.replace(/([.!?:])\.$/, '$1');
}

/** Positions of the analyser start at 0; those in the head of a quoted statement at 1. */
function placeIn(text: string): SqlProblem['place'] {
  const found = /\bline (\d+),? pos (\d+)/.exec(text);
  if (found) return { line: Number(found[1]), column: Number(found[2]) + 1 };
  const quoted = /\bline (\d+), position (\d+)/.exec(text);
  return quoted ? { line: Number(quoted[1]), column: Number(quoted[2]) } : null;
}

/** Returns the place in a text that a line and a column name; its end if it is shorter. */
export function offsetOf(text: string, { line, column }: { line: number; column: number }): number {
  let begin = 0;
  for (let left = line; left > 1; left -= 1) {
    const next = text.indexOf('\n', begin);
    if (next < 0) return text.length;
    begin = next + 1;
  }
  return Math.min(text.length, begin + column - 1);
}
