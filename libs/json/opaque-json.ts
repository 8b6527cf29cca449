import { isJsonText } from './json-syntax';
import { parseTrusted } from './parse-json';
import { markOpaque, type OpaqueBounds } from './strict-json';

/** Limits of a JSON text whose upper levels only are parsed. */
export interface OpaqueTextBounds extends OpaqueBounds {
  bytes: number;
}

/**
 * Parses only the upper levels of untrusted JSON that is mostly passed on, and keeps its numbers exact. Deeper values are not
 * created; `exactJson` restores the original text. Returns undefined if the text is not JSON or exceeds a limit.
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
