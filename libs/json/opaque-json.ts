import { isJsonText } from './json-syntax';
import { parseTrusted } from './parse-json';
import { markOpaque, type OpaqueBounds } from './strict-json';

/** How large a text may be that is parsed in its upper levels only. */
export interface OpaqueTextBounds extends OpaqueBounds {
  bytes: number;
}

/**
 * Parses the upper levels of a text of a stranger that is mostly passed on, with its numbers exact: no values are made of
 * what is nested deeper. `exactJson` writes it as it was. Undefined for what is no JSON, or exceeds a bound.
 */
export function readOpaque(json: Uint8Array, { bytes, ...bounds }: OpaqueTextBounds): unknown {
  if (json.length > bytes || !isJsonText(json, bounds.levels)) return undefined;
  const marked = markOpaque(json, bounds);
  return marked === null ? undefined : parseMarked(marked);
}

/** Parses what {@link markOpaque} has made of JSON. */
export function parseMarked(marked: Uint8Array): unknown {
  return parseTrusted(Buffer.from(marked.buffer, marked.byteOffset, marked.length).toString('utf8'));
}
