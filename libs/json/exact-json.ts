import { parseTrusted } from './parse-json';
import { isNumber } from './strict-json';

/**
 * JavaScript writes 9007199254740993 as 9007199254740992, and 1.0 as 1. In JSON that is only passed on, numbers that it would
 * change are parsed as marked strings (`markNumbers`), and so are values that are nested too deep to be of interest (`markOpaque`);
 * {@link exactJson} writes them as they were. The mark is half of a surrogate pair, U+DBFF, so no string that can be stored begins
 * with it. Code that parses exactly must not let a stranger's string begin with the mark.
 */

/** Begins a marked string in the output of `JSON.stringify`: a quote inside a string has a backslash before it, not after it. */
const MARK = String.raw`"\udbff`;
/** A value follows one of these characters, or is at the beginning. */
const BEFORE = new Set(['', '[', ',', ':']);

/** Like `JSON.stringify`, but restores the marked strings of an exactly parsed value to the JSON that they were. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value);
  let written = '';
  let copied = 0;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    // A hostile string may contain many escaped quotes followed by a mark; searching for its end from each would be quadratic.
    if (!BEFORE.has(text.charAt(at - 1))) continue;
    const begin = at + MARK.length;
    const end = endOfText(text, begin);
    const marked = text.charAt(end + 1) === ':' ? null : unmarked(text.slice(begin, end));
    if (marked === null) continue;
    written += text.slice(copied, at) + marked;
    copied = end + 1;
    at = end;
  }
  return copied === 0 ? text : written + text.slice(copied);
}

function unmarked(literal: string): string | null {
  if (isNumber(literal)) return literal;
  return literal.startsWith('[') || literal.startsWith('{') ? parseTrusted<string>(`"${literal}"`) : null;
}

/** The index of the closing quote of the string whose content begins at `begin`. */
function endOfText(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin); ; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= begin && json[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}

/** Returns true if a string stands for another value, whose JSON {@link exactJson} restores. */
export function isMarked(text: string): boolean {
  return /^\udbff[-0-9[{]/.test(text);
}
