/** How many values, and how many levels of them, a JSON text may have. */
export interface JsonBounds {
  values: number;
  levels: number;
}

/** Which of the bounds a JSON text breaks. */
export type BrokenBound = keyof JsonBounds;

/** More than any request needs: the largest lists have a thousand items each, the deepest record a handful of levels. */
export const JSON_BOUNDS: JsonBounds = { values: 20_000, levels: 100 };

/**
 * Looks at the structure of a JSON text before anything is made of it, in time that grows with its length alone: a parser
 * makes an object of every few bytes. The text may be no JSON at all, which the parser will say. Refers to nothing outside
 * of itself, for {@link parseJson}'s reason.
 */
export function brokenBound(json: Uint8Array, bounds: JsonBounds): BrokenBound | null {
  const quote = 0x22;
  const backslash = 0x5c;
  let values = 0;
  let level = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case quote: {
        // To the quote that ends the text: one behind an even number of backslashes.
        let isEscaped = true;
        while (isEscaped) {
          const end = json.indexOf(quote, at + 1);
          if (end < 0) return null;
          let before = end - 1;
          while (before > at && json[before] === backslash) before -= 1;
          isEscaped = (end - before) % 2 === 0;
          at = end;
        }
        break;
      }
      case 0x5b: // [
      case 0x7b: // {
        level += 1;
        values += 1;
        // The outermost is level 0, as in the validation of what is made of it.
        if (level - 1 > bounds.levels) return 'levels';
        if (values > bounds.values) return 'values';
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        if (values > bounds.values) return 'values';
        break;
      default:
    }
  }
  return null;
}

/** What became of a JSON text. `fault` says what the parser did not like. */
export type ParsedJson = { value: object } | { broken: BrokenBound } | { fault: string };

/**
 * Parses a JSON text in UTF-8 whose outermost value is an object or a list. Refers to nothing but {@link brokenBound}: a
 * thread is given the text of both.
 */
export function parseJson(bytes: Buffer, bounds: JsonBounds): ParsedJson {
  const broken = brokenBound(bytes, bounds);
  if (broken !== null) return { broken };
  try {
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const value: unknown = JSON.parse(bytes.toString('utf8', hasMark ? 3 : 0));
    if (typeof value === 'object' && value !== null) return { value };
    return { fault: 'it is neither an object nor a list' };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
