/**
 * JavaScript writes 9007199254740993 as 9007199254740992, and 1.0 as 1. Where a text is only passed on, numbers that it would
 * change are parsed as marked texts (`markNumbers`), which {@link exactJson} writes as the numbers that they were. The mark
 * is half of a surrogate pair, U+DBFF, so it begins no text that anybody could keep.
 */

/**
 * A marked number in what `JSON.stringify` writes. Within its texts there is a backslash before each quote, and behind a key
 * there is a colon, so nothing else matches.
 */
const MARKED = /(^|[[,:])"\\udbff(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"(?=$|[\],}])/g;

/** Like `JSON.stringify`, but writes the numbers of a value that was parsed exactly as they were. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('"\\udbff') ? text.replace(MARKED, '$1$2') : text;
}
