import { withoutByteOrderMark } from '../json/byte-order-mark';

const COMMENT_OR_BLANK = /^\s*(?:[#!]|$)/;

/** Returns the keys that a Java properties text sets. */
export function propertyKeys(text: string): string[] {
  return settings(text).flatMap(({ key }) => key ?? []);
}

/**
 * Returns true if the key is one of the names, or begins with one of those that end with a dot. A key with an escape sequence may be any
 * other one, so it counts as one of them.
 */
export function isAmong(key: string, names: readonly string[]): boolean {
  return key.includes('\\') || names.some((name) => (name.endsWith('.') ? key.startsWith(name) : key === name));
}

/** Returns the last value of a key in a Java properties text; null if the key is not set. `\uXXXX` stays as it is. */
export function propertyValue(text: string, key: string): string | null {
  const lines = settings(text).findLast((setting) => setting.key === key)?.lines;
  if (!lines) return null;
  const [first = '', ...more] = lines.map((line, at) => {
    const own = line.trimStart();
    return at < lines.length - 1 ? own.slice(0, -1) : own;
  });
  const value = [first.slice(key.length).replace(/^\s*[=:]?\s*/, ''), ...more].join('');
  return value.replace(/\\(?!u)(.)/g, '$1');
}

/** Returns the text without the properties for which `isLeftOut` returns true. */
export function withoutProperties(text: string, isLeftOut: (key: string) => boolean): string {
  return settings(text)
    .filter(({ key }) => key === null || !isLeftOut(key))
    .flatMap(({ lines }) => lines)
    .join('\n');
}

/** Returns the lines of a text, grouped by property: a backslash at a line's end joins it with the next. */
function settings(text: string): { key: string | null; lines: string[] }[] {
  const found: { key: string | null; lines: string[] }[] = [];
  let continues = false;
  for (const line of withoutByteOrderMark(text).split(/\r\n|\r|\n/)) {
    const isComment: boolean = !continues && COMMENT_OR_BLANK.test(line);
    if (continues) found.at(-1)?.lines.push(line);
    else found.push({ key: isComment ? null : (line.trimStart().split(/[=:\s]/, 1)[0] ?? ''), lines: [line] });
    continues = !isComment && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
  }
  return found;
}
