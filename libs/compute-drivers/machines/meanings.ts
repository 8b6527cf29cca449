import type { FaultKind, FaultScope } from '../compute-driver';

/** The meaning of a provider's error. */
export interface Meaning {
  kind: FaultKind;
  scope?: FaultScope;
  /** How long the cause usually lasts, where the answer does not say; milliseconds. */
  retryAfterMs?: number;
}

/** Meanings by the provider's codes, which a row lists separated by blanks. */
export function meaningsByCode(rows: readonly (readonly [Meaning, string])[]): ReadonlyMap<string, Meaning> {
  return new Map(rows.flatMap(([meaning, codes]) => codes.split(' ').map((code) => [code, meaning] as const)));
}

/** The header `Retry-After`, in seconds or as a date; null where it says nothing. */
export function retryAfterMs(value: unknown): number | null {
  if (typeof value !== 'string' || value === '') return null;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}
