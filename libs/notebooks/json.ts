import { isMarked } from '../json/exact-json';
import { readOpaque } from '../json/opaque-json';

export type JsonObject = Record<string, unknown>;

/** What is nested deeper would overflow the stack of whoever writes it as JSON. */
export const MAX_DEPTH = 100;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a parsed JSON value has no more than so many levels; takes time that grows with its size only. */
export function isShallow(value: unknown, levels = MAX_DEPTH): boolean {
  const pending: { value: unknown; level: number }[] = [{ value, level: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.level >= levels) return false;
    for (const inner of Object.values(next.value)) pending.push({ value: inner, level: next.level + 1 });
  }
  return true;
}

/** How many lines a text may be given in, and how large it may be. */
const LINES = { bytes: 16 * 1024 * 1024, values: 100_000, levels: 1, parsedLevels: 1 };

/** Whether a value is a text, and not a mark that stands for another value. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && !isMarked(value);
}

/** A text of nbformat, which may be given as a list of lines; null for anything else. */
export function textOf(value: unknown): string | null {
  if (isText(value)) return value;
  const lines = typeof value === 'string' ? readOpaque(Buffer.from(value.slice(1)), LINES) : value;
  return Array.isArray(lines) && lines.every(isText) ? lines.join('') : null;
}

/** The object without some of its keys. */
export function without(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.has(key)));
}
