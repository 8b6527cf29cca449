import { isJsonText } from './json-syntax';
import { parseTrusted } from './parse-json';
import { markOpaque, type OpaqueBounds } from './strict-json';

/** How large JSON may be of which only the upper levels are parsed. */
export interface OpaqueTextBounds extends OpaqueBounds {
  bytes: number;
}

/**
 * Parses only the upper levels of a stranger's JSON that is mostly passed on, and keeps its numbers exact; values nested deeper
 * are not created. `exactJson` writes the JSON as it was. Undefined if the text is not JSON or exceeds a bound.
 */
export function readOpaque(json: Uint8Array, { bytes, ...bounds }: OpaqueTextBounds): unknown {
  if (json.length > bytes || !isJsonText(json, bounds.levels)) return undefined;
  const marked = markOpaque(json, bounds);
  return marked === null ? undefined : parseMarked(marked);
}

/** Parses JSON that {@link markOpaque} has marked. */
export function parseMarked(marked: Uint8Array): unknown {
  return parseTrusted(Buffer.from(marked.buffer, marked.byteOffset, marked.length).toString('utf8'));
}
