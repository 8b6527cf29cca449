import { isMarked } from '../json/exact-json';
import { readOpaque } from '../json/opaque-json';

export type JsonObject = Record<string, unknown>;

/** `JSON.stringify` would overflow the stack if values were nested much deeper. */
export const MAX_DEPTH = 100;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if a parsed JSON value has at most `levels` levels of nesting. Takes linear time. */
export function isShallow(value: unknown, levels = MAX_DEPTH): boolean {
  const pending: { value: unknown; level: number }[] = [{ value, level: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.level >= levels) return false;
    for (const inner of Object.values(next.value)) pending.push({ value: inner, level: next.level + 1 });
  }
  return true;
}

/** Limits of a text that is sent as a list of lines. */
const LINES = { bytes: 16 * 1024 * 1024, values: 100_000, levels: 1, parsedLevels: 1 };

/** Returns true for a string that is not a mark for another value. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && !isMarked(value);
}

/** Returns a text of nbformat, which may be a list of lines, or null for any other value. */
export function textOf(value: unknown): string | null {
  if (isText(value)) return value;
  const lines = typeof value === 'string' ? readOpaque(Buffer.from(value.slice(1)), LINES) : value;
  return Array.isArray(lines) && lines.every(isText) ? lines.join('') : null;
}

export function without(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.has(key)));
}
