import { parseTrusted } from './parse-json';
import { isNumber } from './strict-json';

/**
 * JavaScript writes 9007199254740993 as 9007199254740992, and 1.0 as 1. Where a text is only passed on, numbers that it would
 * change are parsed as marked texts (`markNumbers`), and so is what is nested too deep to be looked at (`markOpaque`);
 * {@link exactJson} writes them as they were. The mark is half of a surrogate pair, U+DBFF, so it begins no text that anybody
 * could keep. Whoever parses exactly lets no text of a stranger begin with it.
 */

/** Begins a marked text in what `JSON.stringify` writes: a quote within a text has a backslash before it, not behind it. */
const MARK = String.raw`"\udbff`;
/** A value follows one of these characters, or begins the text. */
const BEFORE = new Set(['', '[', ',', ':']);

/** Like `JSON.stringify`, but writes the marked texts of a value that was parsed exactly as what they were. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value);
  let written = '';
  let copied = 0;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    const begin = at + MARK.length;
    const end = endOfText(text, begin);
    const isValue = BEFORE.has(text.charAt(at - 1)) && text.charAt(end + 1) !== ':';
    const marked = isValue ? unmarked(text.slice(begin, end)) : null;
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

/** Where the text ends that begins behind its quote. */
function endOfText(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin); ; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= begin && json[before] === '\\') before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}

/** Whether a text stands for another value, of which {@link exactJson} makes the JSON. */
export function isMarked(text: string): boolean {
  return /^\udbff[-0-9[{]/.test(text);
}
