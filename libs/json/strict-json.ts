/** Limits of a JSON text: the number of its values, and how deep they are nested. */
export interface JsonBounds {
  values: number;
  levels: number;
  /**
   * True if halves of surrogate pairs in values are replaced with U+FFFD instead of being refused. Programs truncate strings, and
   * that must not lose the rest of their report.
   */
  mendsTexts?: boolean;
}

/** The limit that a JSON text exceeds. */
export type BrokenBound = 'values' | 'levels';

/** More than any request needs: the largest lists have a thousand items each, the deepest record a handful of levels. */
export const JSON_BOUNDS: JsonBounds = { values: 10_000, levels: 100 };

/** The structure of a JSON text that is not parsed yet: the limit that it exceeds, or else the number of its keys. */
export type Structure = { broken: BrokenBound } | { keys: number };

/** Returns the index of the closing quote for the quote at `begin`, or the end of the JSON if there is none. */
function endOfText(json: Uint8Array, begin: number): number {
  let from = begin + 1;
  for (;;) {
    const end = json.indexOf(0x22, from);
    if (end < 0) return json.length;
    // A quote after an odd number of backslashes is escaped.
    let before = end - 1;
    while (before >= from && json[before] === 0x5c) before -= 1;
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}

/**
 * Checks the structure of a JSON text before it is parsed, in time that grows only with its length: a parser makes an
 * object of every few bytes. The text may not be JSON at all, which the parser will say.
 */
export function structureOf(json: Uint8Array, bounds: JsonBounds): Structure {
  let values = 0;
  let level = 0;
  let keys = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at] ?? 0) {
      case 0x22: // "
        at = endOfText(json, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        level += 1;
        values += 1;
        // The outermost is level 0, as in validation.
        if (level - 1 > bounds.levels) return { broken: 'levels' };
        if (values > bounds.values) return { broken: 'values' };
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        if (values > bounds.values) return { broken: 'values' };
        break;
      case 0x3a: // :
        keys += 1;
        break;
      default:
    }
  }
  return { keys };
}

/** `rounded`: numbers are parsed as JavaScript does; `exact`: those that this would change are marked, see `exact-json.ts`. */
export type Numbers = 'rounded' | 'exact';

/** Marks all numbers that JavaScript would write differently. Malformed numbers stay, so that the parser reports them. */
export function markNumbers(json: Uint8Array): Buffer {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x22) {
      if (isForgedMark(bytes, at + 1)) {
        // The forged mark becomes another half of a surrogate pair, so that the string is refused.
        parts.push(bytes.subarray(copied, at + 1), Buffer.from('\\ud800'));
        copied = at + 7;
      }
      at = endOfText(bytes, at);
    }
    if (byte !== 0x2d && (byte < 0x30 || byte > 0x39)) continue;
    const begin = at;
    while (isOfNumber(bytes[at + 1] ?? 0)) at += 1;
    // Most have a single digit.
    if (at === begin) continue;
    const number = bytes.toString('latin1', begin, at + 1);
    if (String(Number(number)) === number || !isNumber(number)) continue;
    parts.push(bytes.subarray(copied, begin), Buffer.from(`"\\udbff${number}"`));
    copied = at + 1;
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(copied)]);
}

/** A digit, or one of `+ - . E e`. */
function isOfNumber(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45 || byte === 0x65
  );
}

/** Returns true for a JSON number. */
export function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text);
}

/** Returns true for well-formed Unicode and for a marked number. */
function isUsable(text: string, numbers: Numbers): boolean {
  return text.isWellFormed() || (numbers === 'exact' && text.startsWith('\udbff') && isNumber(text.slice(1)));
}

/** Says where a value is unusable: a key that would be lost, or a string that is not well-formed Unicode. */
export interface Unusable {
  why: 'key' | 'text';
  of: string;
}

/** The result of checking a value: the reason that it is unusable, or else the number of keys in its objects. */
export type Contents = { unusable: Unusable } | { keys: number };

/** The result of parsing a JSON text. `fault` is the parser's complaint. */
export type ParsedJson = { value: object } | { broken: BrokenBound } | { fault: string } | { unusable: Unusable };

/**
 * Finds values that no operation can store: halves of a surrogate pair, which JSON can express and UTF-8 cannot, so a database
 * would change or refuse them, and the key `__proto__`, with which an assignment would replace a prototype. `constructor` and
 * `prototype` are keys like any other: nothing here merges objects, so only `__proto__` leads to a prototype.
 * @param mendsTexts true if halves in values are replaced, in place, instead of being reported
 */
export function contentsOf(root: object, numbers: Numbers = 'rounded', mendsTexts = false): Contents {
  let found = 0;
  const pending: { values: object; of: string }[] = [{ values: root, of: 'The request' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { values, of } = next;
    const isList = Array.isArray(values);
    const keys = Object.keys(values);
    if (!isList) found += keys.length;
    for (const key of keys) {
      if (!isList && key === '__proto__') return { unusable: { why: 'key', of: key } };
      if (!key.isWellFormed()) return { unusable: { why: 'text', of: 'A key' } };
      const value: unknown = (values as Record<string, unknown>)[key];
      const name = isList ? of : key;
      if (typeof value === 'string' && !isUsable(value, numbers)) {
        if (!mendsTexts) return { unusable: { why: 'text', of: name } };
        (values as Record<string, unknown>)[key] = value.toWellFormed();
      }
      if (typeof value === 'object' && value !== null) pending.push({ values: value, of: name });
    }
  }
  return { keys: found };
}

/**
 * Parses a JSON text in UTF-8 whose outermost value is an object or a list. An object with a duplicate key is refused: this
 * parser would keep the last value, and another one that read it before might have kept the first.
 */
export function parseStrictJson(bytes: Buffer, bounds: JsonBounds, numbers: Numbers = 'rounded'): ParsedJson {
  const structure = structureOf(bytes, bounds);
  if ('broken' in structure) return structure;
  try {
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const text = numbers === 'exact' ? markNumbers(bytes) : bytes;
    const value: unknown = JSON.parse(text.toString('utf8', hasMark ? 3 : 0));
    if (typeof value !== 'object' || value === null) return { fault: 'it is neither an object nor a list' };
    const contents = contentsOf(value, numbers, bounds.mendsTexts);
    if ('unusable' in contents) return contents;
    return contents.keys === structure.keys ? { value } : { fault: 'an object has the same key twice' };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Limits of the part of a JSON text that is parsed into values. */
export interface OpaqueBounds extends JsonBounds {
  /** Number of levels of objects and lists that are parsed, including the outermost. Deeper values stay strings. */
  parsedLevels: number;
}

/**
 * Replaces values nested deeper than the parsed levels, and numbers that JavaScript would write differently, with marked
 * strings; see `exact-json.ts`. Null if the rest has more values than `bounds.values`.
 * @param json must be valid JSON, as checked by {@link isJsonText}
 */
export function markOpaque(json: Uint8Array, { values, parsedLevels }: OpaqueBounds): Buffer | null {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const parts: Uint8Array[] = [];
  let copied = 0;
  let level = 0;
  let found = 0;
  for (let at = 0; at < bytes.length && found <= values; at += 1) {
    const byte = bytes[at] ?? 0;
    const opens = byte === 0x5b || byte === 0x7b;
    if (opens || byte === 0x2c) found += 1;
    if (opens && level < parsedLevels) {
      level += 1;
    } else if (byte === 0x5d || byte === 0x7d) {
      level -= 1;
    } else if (byte !== 0x2c) {
      const { begin, end, text, last } = tokenAt(bytes, at, opens);
      at = last;
      if (text === null) continue;
      parts.push(bytes.subarray(copied, begin), Buffer.from(text));
      copied = end;
    }
  }
  if (found > values) return null;
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(copied)]);
}

/** The token from byte `at` to byte `last`, and the text that replaces its bytes from `begin` to `end`; null if they stay. */
function tokenAt(
  bytes: Buffer,
  at: number,
  isContainer: boolean,
): { begin: number; end: number; text: string | null; last: number } {
  if (isContainer) {
    const last = endOfContainer(bytes, at);
    const text = JSON.stringify(`\udbff${bytes.toString('utf8', at, last + 1)}`);
    return { begin: at, end: last + 1, text, last };
  }
  if (bytes[at] === 0x22) {
    const text = isForgedMark(bytes, at + 1) ? '\\ufffd' : null;
    return { begin: at + 1, end: at + 7, text, last: endOfText(bytes, at) };
  }
  let last = at;
  if (isOfNumber(bytes[at] ?? 0)) while (isOfNumber(bytes[last + 1] ?? 0)) last += 1;
  // Most numbers have a single digit, and the `e` in `true` and `false` stands alone, too: neither needs a mark.
  const number = last > at ? bytes.toString('latin1', at, last + 1) : '';
  const text = String(Number(number)) === number || number === '' ? null : `"\\udbff${number}"`;
  return { begin: at, end: last + 1, text, last };
}

/** Returns true if an untrusted string begins with the mark, which is half of a surrogate pair. */
function isForgedMark(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== 0x5c) return false;
  return /^\\u[dD][bB][fF]{2}(?!\\u[dD][c-fC-F])/.test(bytes.toString('latin1', at, at + 12));
}

/** Returns the index of the bracket that closes the object or list at `begin`. */
function endOfContainer(json: Uint8Array, begin: number): number {
  let level = 0;
  for (let at = begin; at < json.length; at += 1) {
    switch (json[at] ?? 0) {
      case 0x22:
        at = endOfText(json, at);
        break;
      case 0x5b:
      case 0x7b:
        level += 1;
        break;
      case 0x5d:
      case 0x7d:
        level -= 1;
        if (level === 0) return at;
        break;
      default:
    }
  }
  return json.length;
}

/** A thread runs the source text of these functions, so they refer to nothing but each other. */
export const STRICT_JSON_FUNCTIONS = [
  endOfText,
  structureOf,
  markNumbers,
  isOfNumber,
  isNumber,
  isUsable,
  contentsOf,
  parseStrictJson,
  markOpaque,
  tokenAt,
  isForgedMark,
  endOfContainer,
];
