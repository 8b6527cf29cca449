import { withoutByteOrderMark } from '../json/byte-order-mark';

const COMMENT_OR_BLANK = /^\s*(?:[#!]|$)/;

/** Keys that a Java properties text sets. */
export function propertyKeys(text: string): string[] {
  return settings(text).flatMap(({ key }) => key ?? []);
}

/** The last value that a Java properties text gives a key; null where it gives none. Leaves `\uXXXX` as it is. */
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

/** The text without the properties of which `isLeftOut` says so. */
export function withoutProperties(text: string, isLeftOut: (key: string) => boolean): string {
  return settings(text)
    .filter(({ key }) => key === null || !isLeftOut(key))
    .flatMap(({ lines }) => lines)
    .join('\n');
}

/** The lines of a text, those of one property together: a backslash at a line's end joins it with the next. */
function settings(text: string): { key: string | null; lines: string[] }[] {
  const found: { key: string | null; lines: string[] }[] = [];
  let goesOn = false;
  for (const line of withoutByteOrderMark(text).split(/\r\n|\r|\n/)) {
    const isComment: boolean = !goesOn && COMMENT_OR_BLANK.test(line);
    if (goesOn) found.at(-1)?.lines.push(line);
    else found.push({ key: isComment ? null : (line.trimStart().split(/[=:\s]/, 1)[0] ?? ''), lines: [line] });
    goesOn = !isComment && /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
  }
  return found;
}
