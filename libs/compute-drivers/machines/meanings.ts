import type { FaultKind, FaultScope } from '../compute-driver';

/** Kind and reach of a provider's error. */
export interface Meaning {
  kind: FaultKind;
  scope?: FaultScope;
  /** Pause if the response does not request one, milliseconds. */
  retryAfterMs?: number;
}

/** Maps the provider's codes to their meanings. Each row lists codes separated by blanks. */
export function meaningsByCode(rows: readonly (readonly [Meaning, string])[]): ReadonlyMap<string, Meaning> {
  return new Map(rows.flatMap(([meaning, codes]) => codes.split(' ').map((code) => [code, meaning] as const)));
}

/** Parses the header `Retry-After`, which has seconds or a date. Returns milliseconds, or null if it is absent or unreadable. */
export function retryAfterMs(value: unknown): number | null {
  if (typeof value !== 'string' || value === '') return null;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}
