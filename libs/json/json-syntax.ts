/**
 * Returns true if the bytes are a JSON text (RFC 8259) with at most `levels` levels of nesting. It builds no values, so it needs no
 * memory, and its time is linear in the length. That suits text that is only passed on; no package does it.
 */
export function isJsonText(json: Uint8Array, levels: number): boolean {
  /** The bytes that end the objects and arrays that are still open, the outermost first. */
  const ends = new Uint8Array(levels);
  let level = 0;
  let at = skipSpace(json, 0);
  while (at >= 0) {
    const begin = json[at];
    if (begin === 0x5b || begin === 0x7b) {
      if (level === levels) return false;
      // In ASCII the closing bracket is two behind the opening one.
      const end = begin + 2;
      ends[level] = end;
      level += 1;
      at = skipSpace(json, at + 1);
      if (json[at] !== end) {
        at = skipToValue(json, at, end);
        continue;
      }
    } else at = skipScalar(json, at);
    while (level > 0 && json[at] === ends[level - 1]) {
      level -= 1;
      at = skipSpace(json, at + 1);
    }
    if (level === 0) return at === json.length;
    if (json[at] !== 0x2c) return false;
    at = skipToValue(json, skipSpace(json, at + 1), ends[level - 1] ?? 0);
  }
  return false;
}

/** Returns where the next value begins, which in an object is after the key and colon; -1 if there is none. */
function skipToValue(json: Uint8Array, from: number, end: number): number {
  if (end === 0x5d) return from;
  const key = json[from] === 0x22 ? skipString(json, from) : -1;
  if (key < 0) return -1;
  const colon = skipSpace(json, key);
  return json[colon] === 0x3a ? skipSpace(json, colon + 1) : -1;
}

function skipSpace(json: Uint8Array, from: number): number {
  let at = from;
  while (json[at] === 0x20 || json[at] === 0x0a || json[at] === 0x0d || json[at] === 0x09) at += 1;
  return at;
}

/** Returns where the whitespace after a string, number or literal ends; or -1 if there is no such value. */
function skipScalar(json: Uint8Array, from: number): number {
  const end = scalarEnd(json, from);
  return end < 0 ? -1 : skipSpace(json, end);
}

function scalarEnd(json: Uint8Array, from: number): number {
  switch (json[from] ?? 0) {
    case 0x22: // "
      return skipString(json, from);
    case 0x74: // t
      return skipWord(json, from, 0x72, 0x75, 0x65);
    case 0x66: // f
      return skipWord(json, from, 0x61, 0x6c, 0x73, 0x65);
    case 0x6e: // n
      return skipWord(json, from, 0x75, 0x6c, 0x6c);
    default:
      return skipNumber(json, from);
  }
}

function skipWord(json: Uint8Array, from: number, ...rest: number[]): number {
  for (let index = 0; index < rest.length; index += 1) if (json[from + 1 + index] !== rest[index]) return -1;
  return from + 1 + rest.length;
}

function skipString(json: Uint8Array, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === 0x22) return at + 1;
    if (byte < 0x20) return -1;
    if (byte !== 0x5c) continue;
    at += 1;
    const escaped = json[at] ?? 0;
    if (escaped === 0x75) {
      for (let digit = 1; digit <= 4; digit += 1) if (!isHexDigit(json[at + digit] ?? 0)) return -1;
      at += 4;
    } else if (!isEscaped(escaped)) return -1;
  }
  return -1;
}

/** One of `" \ / b f n r t`. */
function isEscaped(byte: number): boolean {
  return (
    byte === 0x22 ||
    byte === 0x5c ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  );
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function skipNumber(json: Uint8Array, from: number): number {
  let at = json[from] === 0x2d ? from + 1 : from;
  if (json[at] === 0x30) at += 1;
  else if ((at = skipDigits(json, at)) < 0) return -1;
  if (json[at] === 0x2e && (at = skipDigits(json, at + 1)) < 0) return -1;
  if (json[at] === 0x65 || json[at] === 0x45) {
    at += 1;
    if (json[at] === 0x2b || json[at] === 0x2d) at += 1;
    at = skipDigits(json, at);
  }
  return at;
}

/** Returns where one or more digits end; -1 if there are none. */
function skipDigits(json: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(json[at] ?? 0)) at += 1;
  return at > from ? at : -1;
}

/** A thread runs the source text of {@link isJsonText} and all that it calls, so these refer to nothing else. */
export const JSON_SYNTAX_FUNCTIONS = [
  isJsonText,
  skipSpace,
  skipToValue,
  skipScalar,
  scalarEnd,
  skipWord,
  skipString,
  isEscaped,
  isHexDigit,
  isDigit,
  skipNumber,
  skipDigits,
];
