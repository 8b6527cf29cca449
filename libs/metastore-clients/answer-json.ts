import { MetastoreError } from './metastore-client';

/** More than the largest answer has, whose fields take some twenty bytes each. */
const MOST_VALUES = 1_000_000;
const DEEPEST = 100;

const [QUOTE, BACKSLASH, COMMA] = ['"', '\\', ','].map((text) => text.charCodeAt(0));
const OPENING: ReadonlySet<number | undefined> = new Set(['[', '{'].map((text) => text.charCodeAt(0)));
const CLOSING: ReadonlySet<number | undefined> = new Set([']', '}'].map((text) => text.charCodeAt(0)));

/**
 * Refuses JSON that would take many times its size in memory, as megabytes of brackets do. Whether it is JSON is not
 * checked. Throws {@link MetastoreError}.
 */
export function assertModestJson(json: Buffer): void {
  let [values, depth, isText] = [1, 0, false];
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === COMMA) values += 1;
    else if (OPENING.has(byte)) [values, depth] = [values + 1, depth + 1];
    else if (CLOSING.has(byte)) depth -= 1;
    if (values > MOST_VALUES || depth > DEEPEST) {
      throw new MetastoreError('too-large', 'The metastore answers with too many or too deeply nested values.');
    }
  }
}
