import { invalid } from '../../../../platform/kernel/errors/domain-error';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d{1,10})\s*(s|m|h|d|seconds?|minutes?|hours?|days?)$/i;
const MAX_MS = 36_500 * 86_400_000;

/** Returns the end of a duration, rounded up to whole seconds as in tokens; null if it never ends. */
export function expiryOf(start: Date, durationMs: number): Date | null {
  return durationMs === Infinity ? null : new Date(Math.ceil((start.getTime() + durationMs) / 1000) * 1000);
}

/** Returns whole seconds since 1970, as in tokens. */
export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/**
 * Parses a duration such as `48h`, `1700s`, `30 days` or `infinity` and returns milliseconds or `Infinity`.
 * Throws 400 for anything else, for zero, and for more than a hundred years.
 */
export function parseDuration(text: string): number {
  const trimmed = text.trim();
  if (trimmed.toLowerCase() === 'infinity') return Infinity;
  const [, count = '', unit = ''] = DURATION.exec(trimmed) ?? [];
  const ms = Number(count) * (UNIT_MS[unit.charAt(0).toLowerCase()] ?? 0);
  if (ms < 1 || ms > MAX_MS) {
    throw invalid(
      'REQUEST.INVALID_DURATION',
      'A duration is an integer with s, m, h or d (24h), an integer and seconds, minutes, hours or days (2 days), or infinity.',
    );
  }
  return ms;
}
